"""Runs the loaders of `meltano.yml` without Meltano."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.helpers import TIMEOUT
from tests.support.pages import ROOT

_PROJECT = yaml.safe_load((ROOT / "meltano.yml").read_text(encoding="utf-8"))
_LOADERS: dict[str, dict[str, Any]] = {
    loader["name"]: loader for loader in _PROJECT["plugins"]["loaders"]
}


def settings_of(loader: str) -> dict[str, Any]:
    """Return the settings of a loader in `meltano.yml` that have fixed values."""
    return {
        setting["name"]: setting["value"]
        for setting in _LOADERS[loader]["settings"]
        if "value" in setting and not str(setting["value"]).startswith("$")
    }


def run_target(
    folder: Path, loader: str, settings: Mapping[str, Any], messages: str
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
    path.write_text(json.dumps({**settings_of(loader), **settings}), encoding="utf-8")
    package = _LOADERS[loader]["pip_url"]
    done = subprocess.run(  # noqa: S603 - of our own project
        ["uv", "tool", "run", "--from", package, loader, "--config", path],  # noqa: S607
        input=messages,
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    states = done.stdout.splitlines()
    return json.loads(states[-1]) if states else None
