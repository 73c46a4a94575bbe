"""The tap in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

from tests.support.helpers import TIMEOUT, Run, assert_keeps_secret, options

if TYPE_CHECKING:
    from pathlib import Path


def run_tap(
    folder: Path,
    config: dict[str, Any],
    *arguments: str,
    catalog: dict[str, Any] | None = None,
    state: dict[str, Any] | None = None,
    module: str = "tap_leadintent",
) -> Run:
    """Run the tap as a user does, and assert that it keeps the key to itself."""
    given = options(folder, config=config, catalog=catalog, state=state)
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-m", module, *given, *arguments],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert_keeps_secret(config.get("api_key"), done.stdout, done.stderr)
    return Run(done.returncode, done.stdout, done.stderr)
