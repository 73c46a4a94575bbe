"""What a start of the tap imports."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.support.helpers import TIMEOUT

NEEDED_LATER = {
    "starlette",
    "tap_leadintent.demo",
    "tap_leadintent.sandbox",
    "uvicorn",
}


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_a_start_imports_nothing_that_only_some_runs_need(option: str) -> None:
    done = subprocess.run(  # noqa: S603 - our own module
        [sys.executable, "-X", "importtime", "-m", "tap_leadintent", option],
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "tap_leadintent.tap" in imported
    assert not NEEDED_LATER & imported
