"""What changes when the clock of the sandbox moves."""

from typing import Any

import time_machine

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.times import (
    DAY,
    SECOND,
    current_time,
    format_time,
    parse_time,
)
from tests.support.asking import NOW, read

MONTH = 30 * DAY // SECOND


def by_id(records: list[Any]) -> dict[str, Any]:
    return {record["id"]: record for record in records}


def test_a_clock_that_is_not_set_goes_on_from_now(sandbox: Sandbox) -> None:
    with time_machine.travel(parse_time(NOW) // SECOND, tick=False) as clock:
        sandbox.configure(clock=None)
        known = by_id(sandbox.records("leads"))
        for ahead in (0, DAY):
            clock.shift(20 * DAY / SECOND)
            assert sandbox.now() == format_time(current_time() + ahead)
            assert len(by_id(sandbox.records("leads")).keys() - known.keys()) >= 20
            sandbox.advance(DAY / SECOND)


def test_some_leads_get_another_signal(sandbox: Sandbox) -> None:
    before = by_id(sandbox.records("leads"))
    now = sandbox.advance(MONTH)
    after = by_id(sandbox.records("leads"))
    moved = [name for name in before if before[name] != after[name]]
    assert moved
    window = {"start_time": "2026-05-31T23:00:00Z", "end_time": now}
    latest = by_id(read(sandbox, "leads", latest_signal=window))
    for name in moved:
        old, new = before[name].pop("signal"), after[name].pop("signal")
        assert old["observed_at"] < new["observed_at"] <= now
        assert latest[name]["signal"] == new
        assert before[name]["full_name"] == after[name]["full_name"]
