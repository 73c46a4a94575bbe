"""What the log says at the end of a run."""

import logging
import re

import pytest

from tests.support.model import DAY, HOUR, Api, Lead, Version
from tests.support.model_runs import CONFIG, run
from tests.support.store import Store


def test_a_run_ends_with_a_line_for_each_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It says what the records were read for, of all ranges."""
    found = [HOUR * n + HOUR / 2 for n in range(24 * 9)]
    leads = [Lead(f"lead-{at:.0f}", at, [Version(at, at)]) for at in found]
    api, store = Api(now=8 * DAY, leads=leads), Store()
    config = {**CONFIG, "window_days": 0.5, "recheck_days": 2, "lookback_minutes": 60}

    def ends() -> list[str]:
        caplog.clear()
        run(api, store, config)
        return [line for line in caplog.messages if " requests" in line]

    caplog.set_level(logging.INFO)
    line, total = ends()
    assert re.fullmatch(
        r"leads: 192 records, \d+ requests, \d+\.\d s; complete up to "
        r"2026-03-09T00:00:00Z",
        line,
    )
    assert re.fullmatch(r"1 stream, 192 records, \d+ requests, \d+\.\d s", total)
    api.now = 8 * DAY + 4 * HOUR
    line, _ = ends()
    read = re.search(r"(\d+) records \(update: (\d+), recheck: (\d+)\)", line)
    assert read, line
    both, new, again = map(int, read.groups())
    assert (both, new) == (new + again, 5)
    assert line.endswith("; complete up to 2026-03-09T04:00:00Z")
