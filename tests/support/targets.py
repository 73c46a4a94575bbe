"""The loaders of `meltano.yml` as programs of their own, without Meltano."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.helpers import TIMEOUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_FORKING = Path(__file__).with_name("forking.py")

_PROJECT = yaml.safe_load(
    (Path(__file__).parents[2] / "meltano.yml").read_text(encoding="utf-8")
)
_LOADERS: dict[str, dict[str, Any]] = {
    loader["name"]: loader for loader in _PROJECT["plugins"]["loaders"]
}


def settings_of(loader: str) -> dict[str, Any]:
    """Give what `meltano.yml` sets, but for what Meltano works out."""
    declared = {
        setting["name"]: setting["value"]
        for setting in _LOADERS[loader]["settings"]
        if "value" in setting and not str(setting["value"]).startswith("$")
    }
    return {**declared, **_LOADERS[loader].get("config", {})}


def run_target(
    folder: Path, loader: str, settings: Mapping[str, Any], messages: str
) -> Any:
    """Let a loader load Singer messages, and assert that it succeeds.

    Args:
        folder: For its configuration.
        loader: Its name.
        settings: What is set beside what `meltano.yml` sets.
        messages: What a tap wrote.

    Returns:
        The last state that it passed on.
    """
    config = {**settings_of(loader), **settings}
    path = folder / f"{loader}.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    code, output, errors = _loader(loader).run(["--config", str(path)], messages)
    assert code == 0, errors[-3000:]
    states = output.splitlines()
    return json.loads(states[-1]) if states else None


class _Loader:
    """A loader that is started once, as its imports take most of a run's time."""

    def __init__(self, name: str) -> None:
        uv = shutil.which("uv")
        assert uv, "uv runs loaders in environments of their own"
        package = _LOADERS[name]["pip_url"]
        self._stack = ExitStack()
        self._process = self._stack.enter_context(
            subprocess.Popen(  # noqa: S603 - our own arguments
                [uv, "tool", "run", "--from", package, "python", _FORKING, name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                encoding="utf-8",
                start_new_session=True,
            )
        )
        # Its input ends, so it does too.
        atexit.register(self._stack.close)

    def run(self, arguments: Sequence[str], written: str) -> tuple[int, str, str]:
        """Run it; give exit code, output and errors."""
        process = self._process
        assert process.stdin
        assert process.stdout
        with TemporaryDirectory() as name:
            folder = Path(name)
            told = json.dumps(arguments)
            (folder / "arguments.json").write_text(told, encoding="utf-8")
            (folder / "input.txt").write_text(written, encoding="utf-8")
            hangs = Timer(TIMEOUT, os.killpg, [process.pid, signal.SIGKILL])
            hangs.start()
            try:
                process.stdin.write(f"{name}\n")
                process.stdin.flush()
                code = process.stdout.readline()
            finally:
                hangs.cancel()
            assert code, "the loader cannot be run, or it hangs"
            output, errors = (
                (folder / file).read_text(encoding="utf-8")
                for file in ("output.txt", "errors.txt")
            )
        return int(code), output, errors


@cache
def _loader(name: str) -> _Loader:
    return _Loader(name)
