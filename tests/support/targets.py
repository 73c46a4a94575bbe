"""The loaders of `meltano.yml` as programs of their own, without Meltano."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.support.forked import Forks

if TYPE_CHECKING:
    from collections.abc import Mapping

_LOAD = """
from importlib.metadata import entry_points
(entry,) = entry_points(group="console_scripts", name={!r})
script = entry.load()"""

_PROJECT = yaml.safe_load(
    (Path(__file__).parents[2] / "meltano.yml").read_text(encoding="utf-8")
)
_LOADERS: dict[str, dict[str, Any]] = {
    loader["name"]: loader for loader in _PROJECT["plugins"]["loaders"]
}


def settings_of(loader: str) -> dict[str, Any]:
    """Give what `meltano.yml` sets, but for what Meltano works out."""
    return {
        setting["name"]: setting["value"]
        for setting in _LOADERS[loader]["settings"]
        if "value" in setting and not str(setting["value"]).startswith("$")
    }


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
    path, written, states_path, errors_path = (
        folder / f"{loader}.{kind}" for kind in ("json", "in", "out", "err")
    )
    path.write_text(json.dumps(config), encoding="utf-8")
    written.write_text(messages, encoding="utf-8")
    with (
        written.open("rb") as stdin,
        states_path.open("wb") as stdout,
        errors_path.open("wb") as stderr,
    ):
        process = _forks(loader).start(
            f"{_LOAD.format(loader)}\nraise SystemExit(script())",
            [loader, "--config", str(path)],
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
        )
    code = process.wait()
    assert code == 0, errors_path.read_text(encoding="utf-8")[-3000:]
    states = states_path.read_text(encoding="utf-8").splitlines()
    return json.loads(states[-1]) if states else None


@cache
def _forks(loader: str) -> Forks:
    """Start a loader once, as its imports take most of a run's time."""
    uv = shutil.which("uv")
    assert uv, "uv runs loaders in environments of their own"
    package = _LOADERS[loader]["pip_url"]
    return Forks([uv, "tool", "run", "--from", package, "python"], _LOAD.format(loader))
