"""The tap in a process of its own."""

from __future__ import annotations

from threading import Timer
from typing import TYPE_CHECKING, Any

from tests.support.forked import start_tap
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
    errors = folder / "errors.txt"
    with errors.open("wb") as stderr:
        process = start_tap(*given, *arguments, module=module, stderr=stderr)
    assert process.stdout
    hangs = Timer(TIMEOUT, process.kill)
    hangs.start()
    with process.stdout as output:
        told = output.read().decode()
    code = process.wait()
    hangs.cancel()
    logged = errors.read_text(encoding="utf-8")
    assert_keeps_secret(config.get("api_key"), told, logged)
    return Run(code, told, logged)
