"""What a run reads, from a state, settings and the time alone."""

from copy import deepcopy
from typing import Any

import pytest

from tap_leadintent.replication.intervals import Interval, union
from tap_leadintent.replication.plan import (
    BEGINNING,
    Plan,
    Scope,
    Step,
    make_plan,
)
from tap_leadintent.times import EARLIEST

DAY = 86400
NOW = 100 * DAY
LEADS = ("date_found", "latest_signal")

Covered = tuple[str, "Interval"]


def plan(*covered: Covered, now: int = NOW, **asked: Any) -> Plan:
    settings = {"ranges": LEADS, "start": 0, **asked}
    coverage = {name: union(i for n, i in covered if n == name) for name, _ in covered}
    before = deepcopy(coverage)
    planned = make_plan(Scope(**settings), coverage, None, now)
    assert coverage == before, "to plan changes nothing"
    return planned


def both(*covered: Interval) -> list[Covered]:
    return [(name, interval) for name in LEADS for interval in covered]


def range_reads(planned: Plan) -> list[Step]:
    return [step for step in planned.steps if step.name]


def reads(planned: Plan) -> list[tuple[str, list[Interval]]]:
    return [(step.name, step.intervals) for step in range_reads(planned)]


@pytest.mark.parametrize(
    ("covered", "start", "lookback", "expected"),
    [
        pytest.param([], 0, 10, [(0, NOW)], id="first"),
        pytest.param([(0, 90)], 0, 10, [(80, NOW)], id="later"),
        pytest.param([(0, NOW)], 0, 10, [(NOW - 10, NOW)], id="nothing new"),
        pytest.param([(0, NOW)], 0, 0, None, id="nothing new, no lookback"),
        pytest.param([(50, 90)], 0, 10, [(0, 50), (80, NOW)], id="earlier start"),
        pytest.param([(0, 40), (60, 90)], 0, 5, [(40, 60), (85, NOW)], id="hole"),
        pytest.param([(0, 40)], 60, 5, [(60, NOW)], id="later start"),
        pytest.param([(0, 90)], -DAY, 0, [(-DAY, 0), (90, NOW)], id="before 1970"),
        pytest.param([(0, 90)], NOW + 1, 5, None, id="a start yet to come"),
        pytest.param(
            [(EARLIEST, EARLIEST + 5)], EARLIEST, DAY, [(EARLIEST, NOW)], id="year 1"
        ),
    ],
)
def test_a_run_reads_missing_intervals_and_the_lookback(
    covered: list[Interval], start: int, lookback: int, expected: list[Interval] | None
) -> None:
    planned = plan(*both(*covered), start=start, lookback=lookback)
    asked = dict(reads(planned))
    assert asked.get("date_found") == expected
    # Of a later range, all that is newer than what is missing is read again.
    assert asked.get("latest_signal") == (expected and [(expected[0][0], NOW)])
    assert {step.name: step.drops_later for step in range_reads(planned)} == {
        name: name == "latest_signal" for name in asked
    }


@pytest.mark.parametrize(
    ("start", "end", "missing"),
    [
        pytest.param(40, None, [(0, 35)], id="where the newest ends"),
        pytest.param(38, None, [(0, 35), (38, 40)], id="inside the lookback"),
        pytest.param(60, None, [(0, 35)], id="behind a hole"),
        pytest.param(60, 80, [(0, 35)], id="of a bounded run"),
        pytest.param(35, None, [(0, 40)], id="where the lookback begins"),
        pytest.param(38, 39, [(0, 40)], id="of a part that moves nothing on"),
        pytest.param(NOW + 1, None, [(0, 40)], id="of a start yet to come"),
    ],
)
def test_a_lookback_that_a_later_start_cuts_loses_its_coverage(
    start: int, end: int | None, missing: list[Interval]
) -> None:
    planned = plan(*both((0, 40)), start=start, end=end, lookback=5)
    assert planned.coverage["date_found"] == missing
    assert planned.coverage["latest_signal"] == ([(0, 40)] if end else missing)


@pytest.mark.parametrize("end", [80, NOW + 5])
def test_a_run_with_an_end_date_is_a_part_of_a_load(end: int) -> None:
    assert reads(plan(end=end)) == [("date_found", [(0, min(end, NOW))])]
    half = plan(("date_found", (0, 80)))
    assert reads(half) == [("date_found", [(80, NOW)]), ("latest_signal", [(0, NOW)])]


@pytest.mark.parametrize("end", [None, 80])
def test_the_future_is_not_covered(end: int | None) -> None:
    planned = plan(*both((0, 50), (NOW - 5, NOW + 9), (NOW + 20, NOW + 30)), end=end)
    for name in LEADS:
        assert planned.coverage[name] == [(0, 50), (NOW - 5, NOW)]


def test_a_short_interval_of_a_range_with_coverage_is_quiet() -> None:
    for planned, is_quiet in [
        (plan(*both((0, 90 * DAY))), True),
        (plan(*both((0, 60 * DAY))), False),
        (plan(*both((0, 40 * DAY), (80 * DAY, 90 * DAY))), False),
        (plan(start=99 * DAY), False),
    ]:
        assert [step.is_quiet for step in range_reads(planned)] == [is_quiet] * 2


# Without a start date


def test_without_a_start_one_chain_reads_everything_and_covers_all_ranges() -> None:
    (step,) = plan(start=None).steps
    assert step[:3] == ("", [(BEGINNING, NOW)], LEADS)
    assert reads(plan(*both((BEGINNING, 90)), start=None)) == [
        ("date_found", [(90, NOW)]),
        ("latest_signal", [(90, NOW)]),
    ]


def test_with_an_end_date_alone_all_is_read_from_1970_on() -> None:
    assert reads(plan(start=None, end=50)) == [("date_found", [(BEGINNING, 50)])]


@pytest.mark.parametrize(
    "covered", [[("date_found", (BEGINNING, 90))], both((60, 90))], ids=["part", "late"]
)
def test_a_start_date_taken_back_reads_all_records_once(covered: list[Covered]) -> None:
    planned = plan(*covered, start=None)
    (step,) = planned.steps
    assert step[:3] == ("", [(BEGINNING, NOW)], LEADS)
    assert planned.coverage["date_found"] == [covered[0][1]], "until it has been read"
