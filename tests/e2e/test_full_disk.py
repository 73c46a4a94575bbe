"""A run whose output cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.helpers import TIMEOUT, each_reading_entry, final_error, options


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@each_reading_entry
def test_a_full_disk_behind_stdout_ends_the_run(
    config: dict[str, Any], tmp_path: Path, arguments: list[str]
) -> None:
    given = options(tmp_path, config=config)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "tap_leadintent", *given, *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            encoding="utf-8",
            timeout=TIMEOUT,
        )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    told = "standard output cannot be written: No space left on device"
    assert final_error(done.stderr) == told
