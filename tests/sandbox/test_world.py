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
from tests.support.asking import NOW
from tests.support.helpers import Json, ids_of


def by_id(records: list[Any]) -> Json:
    return {record["id"]: record for record in records}


def test_a_clock_that_is_not_set_goes_on_from_now(sandbox: Sandbox) -> None:
    with time_machine.travel(parse_time(NOW) // SECOND, tick=False) as clock:
        sandbox.configure(clock=None)
        known = ids_of(sandbox.records("leads"))
        for ahead in (0, DAY):
            clock.shift(20 * DAY / SECOND)
            now = current_time() + ahead
            assert sandbox.now() == format_time(now)
            new = ids_of(sandbox.records("leads")) - known
            assert len(new) >= 20
            sandbox.advance(DAY / SECOND)


def test_a_month_later_leads_keep_their_names_and_no_signal_lies_in_the_future(
    sandbox: Sandbox,
) -> None:
    before = by_id(sandbox.records("leads"))
    now = parse_time(sandbox.advance(30 * DAY // SECOND))
    after = by_id(sandbox.records("leads"))
    for name, lead in before.items():
        assert after[name]["full_name"] == lead["full_name"]
    for times in sandbox.times("leads").values():
        assert parse_time(times["observed_at"]) <= now
