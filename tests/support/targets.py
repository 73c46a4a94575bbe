"""Runs the loaders of `meltano.yml` without Meltano."""

import atexit
import json
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from tests.support.helpers import Json
from tests.support.pages import ROOT

_FORKING = Path(__file__).with_name("forking_loader.py")
_PROJECT = yaml.safe_load((ROOT / "meltano.yml").read_text(encoding="utf-8"))
_LOADERS: dict[str, Json] = {}
for _loader in _PROJECT["plugins"]["loaders"]:
    _LOADERS[_loader["name"]] = _loader


def settings_of(loader: str) -> Json:
    """Return the settings of a loader in `meltano.yml` that have fixed values."""
    fixed = {}
    for setting in _LOADERS[loader]["settings"]:
        if "value" in setting and not str(setting["value"]).startswith("$"):
            fixed[setting["name"]] = setting["value"]
    return fixed


def run_target(
    folder: Path,
    loader: str,
    settings: Mapping[str, Any],
    messages: str,
) -> Any:
    """Load Singer messages with a loader, and assert that it succeeds.

    Args:
        folder: The folder for its configuration.
        loader: Its name.
        settings: Settings beside those of `meltano.yml`.
        messages: The output of the tap.

    Returns:
        The last state that the loader printed.
    """
    path = folder / f"{loader}.json"
    config = {
        **settings_of(loader),
        **settings,
    }
    path.write_text(json.dumps(config), encoding="utf-8")
    given = folder / f"{loader}.input"
    output = folder / f"{loader}.output"
    log = folder / f"{loader}.log"
    given.write_text(messages, encoding="utf-8")
    process = _started(loader)
    assert process.stdin
    assert process.stdout
    run = [
        ["--config", str(path)],
        [str(given), str(output), str(log)],
    ]
    process.stdin.write(f"{json.dumps(run)}\n")
    process.stdin.flush()
    code = process.stdout.readline()
    assert code == "0\n", log.read_text(encoding="utf-8")[-3000:]
    states = output.read_text(encoding="utf-8").splitlines()
    return json.loads(states[-1]) if states else None


def python_of(loader: str) -> list[str]:
    """Return the command that runs Python with the packages of a loader."""
    first, *others = _LOADERS[loader]["pip_url"].split()
    added: list[str] = []
    for package in others:
        added += ["--with", package]
    return [
        "uv",
        "tool",
        "run",
        "--from",
        first,
        *added,
        "python",
    ]


@cache
def _started(loader: str) -> subprocess.Popen[str]:
    """Return a process that runs a loader as often as it is asked to.

    The loader is imported only once, because that takes longer than most loads.
    """
    process = subprocess.Popen(  # noqa: S603 - of our own project
        [*python_of(loader), _FORKING, loader],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    atexit.register(process.communicate)
    return process
