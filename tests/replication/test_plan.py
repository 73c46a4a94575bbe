"""What a run reads, from a state, settings and the time alone."""

from copy import deepcopy
from typing import Any

import pytest

from tap_leadintent.replication.intervals import Interval, union
from tap_leadintent.replication.plan import (
    Plan,
    Scope,
    make_plan,
    seconds_to_read_again,
)

DAY = 86400
NOW = 100 * DAY
LEADS = ("date_found", "latest_signal")

Covered = tuple[str, "Interval"]


def plan(*covered: Covered, now: int = NOW, **asked: Any) -> Plan:
    settings = {"ranges": LEADS, "start": 0, **asked}
    coverage = {name: union(i for n, i in covered if n == name) for name, _ in covered}
    before = deepcopy(coverage)
    planned = make_plan(Scope(**settings), coverage, now)
    assert coverage == before, "to plan changes nothing"
    return planned


def both(*covered: Interval) -> list[Covered]:
    return [(name, interval) for name in LEADS for interval in covered]


def reads(planned: Plan) -> list[tuple[str, list[Interval]]]:
    return [(step.range_name, [*step.intervals]) for step in planned.steps]


HOURS = 3600
BEFORE = NOW - HOURS
"""When the last run of an hourly schedule began."""


@pytest.mark.parametrize(
    ("covered", "start", "expected"),
    [
        pytest.param([], 0, [(0, NOW)], id="first"),
        pytest.param([(0, BEFORE)], 0, [(BEFORE - 2 * 115_200, NOW)], id="later"),
        pytest.param([(0, NOW)], 0, None, id="nothing new"),
        pytest.param(
            [(90 * DAY, BEFORE)],
            0,
            [(0, 90 * DAY), (BEFORE - 2 * 115_200, NOW)],
            id="earlier start",
        ),
        pytest.param([(0, 40)], 60, [(60, NOW)], id="later start"),
        pytest.param([(0, NOW)], -DAY, [(-DAY, 0)], id="before 1970"),
        pytest.param([(0, 90)], NOW + 1, None, id="a start yet to come"),
    ],
)
def test_a_run_reads_missing_intervals_and_late_ones(
    covered: list[Interval], start: int, expected: list[Interval] | None
) -> None:
    planned = plan(*both(*covered), start=start, lookback=30 * DAY)
    asked = dict(reads(planned))
    assert asked.get("date_found") == expected
    assert asked.get("latest_signal") == expected
    # Of a later range, all that is newer than what has been read is read again.
    assert {step.range_name: step.read_again_to for step in planned.steps} == {
        name: NOW if name == "latest_signal" else None for name in asked
    }


@pytest.mark.parametrize(
    ("newest", "now", "lookback", "seconds"),
    [
        pytest.param(0, 3600, 0, 0, id="nothing is late"),
        pytest.param(3600, 7200, 30 * DAY, 2 * 7200, id="every second hour"),
        pytest.param(7200, 10800, 30 * DAY, 2 * 3600, id="hourly"),
        pytest.param(0, 400, 30 * DAY, 0, id="twice within 7.5 minutes"),
        pytest.param(0, 64 * DAY, 30 * DAY, 2 * 450 * 2**13, id="after a pause"),
        pytest.param(0, 10**9, 3600, 7200, id="no further than twice the lookback"),
        pytest.param(0, 10**9, DAY + 1, 2 * 450 * 2**8, id="at least twice"),
    ],
)
def test_an_instant_is_read_again_when_its_age_has_doubled(
    newest: int, now: int, lookback: int, seconds: int
) -> None:
    assert seconds_to_read_again(newest, now, lookback) == seconds


def test_what_is_settled_is_not_read_again_and_a_hole_is_known() -> None:
    scope = Scope(ranges=LEADS, start=0, lookback=30 * DAY)
    covered = {name: [(0, 40), (60, 90)] for name in LEADS}
    holes = {"date_found": [(40, 60)]}
    planned = make_plan(scope, covered, NOW, holes=holes, settled=["date_found"])
    found, signal = planned.steps
    assert (found.intervals, found.holes) == ([(40, 60), (90, NOW)], [(40, 60)])
    assert (signal.intervals, signal.holes) == ([(0, NOW)], [])


@pytest.mark.parametrize("end", [None, NOW - 1800])
def test_a_later_start_takes_what_is_not_read_again_out_of_the_coverage(
    end: int | None,
) -> None:
    start = BEFORE - 600
    planned = plan(*both((0, BEFORE)), start=start, end=end, lookback=3600)
    kept = [(0, BEFORE - 7200), (start, BEFORE)]
    assert planned.coverage["date_found"] == kept
    assert planned.coverage["latest_signal"] == ([(0, BEFORE)] if end else kept)


@pytest.mark.parametrize("end", [80, NOW + 5])
def test_a_run_with_an_end_date_is_a_part_of_a_load(end: int) -> None:
    assert reads(plan(end=end)) == [("date_found", [(0, min(end, NOW))])]
    half = plan(("date_found", (0, 80)))
    assert reads(half) == [("date_found", [(80, NOW)]), ("latest_signal", [(0, NOW)])]


def test_a_short_interval_of_a_range_with_coverage_is_quiet() -> None:
    for planned, is_quiet in [
        (plan(*both((0, 90 * DAY))), True),
        (plan(*both((0, 60 * DAY))), False),
        (plan(*both((0, 40 * DAY), (80 * DAY, 90 * DAY))), False),
        (plan(start=99 * DAY), False),
    ]:
        assert [step.is_quiet for step in planned.steps] == [is_quiet] * 2
