"""A run whose output cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.batching import batch_config
from tests.support.helpers import TIMEOUT, final_error, only, options
from tests.support.runs import fill

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_behind_stdout_ends_the_run(
    config: dict[str, Any], tmp_path: Path
) -> None:
    given = options(tmp_path, config=config)
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 - our own module
            [sys.executable, "-m", "tap_leadintent", *given],
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


def test_a_full_disk_behind_batches_ends_the_run(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, leads=1000)
    folder = tmp_path / "batches"
    config["batch_config"] = batch_config(folder, size=1000)
    given = options(tmp_path, config=config, catalog=only("leads"))
    limited = ["sh", "-c", 'ulimit -f 16 && exec "$@"', "sh"]
    done = subprocess.run(  # noqa: S603 - our own module
        [*limited, sys.executable, "-m", "tap_leadintent", *given],
        capture_output=True,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    told = "batches cannot be written ([Errno 27] File too large); see batch_config"
    assert final_error(done.stderr) == f"1 of 1 streams failed: leads: {told}"
    assert '"BATCH"' not in done.stdout
    assert not [*folder.glob("*")]
