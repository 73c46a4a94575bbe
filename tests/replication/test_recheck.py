"""Rechecks by `recheck_days`: what a run reads again, and when its mark moves."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.intervals import Coverage, Interval, union
from tap_leadintent.replication.plan import Plan, Scope, make_plan

DAY = 86400
NAME = "date_found"
PERIOD = 100


def plan(mark: int | None, now: int, covered: int = 0, **asked: Any) -> Plan:
    settings = {"ranges": [NAME], "start": 0, "recheck": PERIOD, **asked}
    coverage = {NAME: [(0, covered or now)]}
    return make_plan(Scope(**settings), coverage, mark, now)


def again(planned: Plan) -> list[Interval]:
    reads = [step for step in planned.steps if step.name]
    return [each for step in reads if step.is_recheck for each in step.intervals]


@pytest.mark.parametrize(
    ("mark", "now", "expected"),
    [
        pytest.param(1010, 1050, [(101, 525)], id="inside a period"),
        pytest.param(1050, 1120, [(0, 224), (525, 1120)], id="over where one ends"),
        pytest.param(1050, 1149, [(0, 1149)], id="nearly a period"),
        pytest.param(1090, 1210, [(0, 1210)], id="over where two end"),
        pytest.param(1050, 1999, [(0, 1999)], id="after a pause"),
        pytest.param(1999, 1050, [], id="a mark in the future"),
        pytest.param(None, 1050, [], id="new"),
    ],
)
def test_a_run_rechecks_up_to_the_period_before_now(
    mark: int | None, now: int, expected: list[Interval]
) -> None:
    planned = plan(mark, now)
    assert again(planned) == expected
    # The mark moves when all of it has been read, and not before.
    assert planned.rechecked_before == (now if mark is None else min(mark, now))
    assert planned.rechecked_after == now


def test_it_begins_at_the_start_date_and_ends_with_the_present() -> None:
    planned = plan(1050, 1120, covered=1100, start=1000, lookback=10)
    assert [step.intervals for step in planned.steps] == [
        [(1090, 1120)],
        [(1000, 1024), (1025, 1120)],
    ]
    assert again(plan(1050, 1120, start=2000)) == []
    assert again(plan(1050, 1120, start=1110)) == [(1110, 1120)]


@pytest.mark.parametrize(
    ("asked", "mark"), [({"end": 1000}, 1050), ({"recheck": None}, None)]
)
def test_without_a_recheck_the_mark_stays_or_is_forgotten(
    asked: dict[str, Any], mark: int | None
) -> None:
    planned = plan(1050, 1120, **asked)
    assert again(planned) == []
    assert (planned.rechecked_before, planned.rechecked_after) == (mark, mark)


@pytest.mark.parametrize(("days", "is_quiet"), [(1, True), (30, False)])
def test_the_share_of_a_day_is_quiet_and_that_of_a_long_pause_is_not(
    days: int, *, is_quiet: bool
) -> None:
    now = (400 + days) * DAY
    planned = plan(400 * DAY, now, start=100 * DAY, recheck=30 * DAY)
    step = planned.steps[-1]
    assert (step.is_recheck, step.is_quiet) == (True, is_quiet)


@st.composite
def lives(draw: st.DrawFn) -> list[tuple[int, int, int, int | None]]:
    """Draw runs: seconds before each, start, period, and after what it is killed."""
    starts_and_days = st.tuples(st.integers(970, 1000), st.integers(1, 9))
    first, later = draw(starts_and_days), draw(starts_and_days)
    hours = st.lists(st.integers(1, 40), min_size=10, max_size=40)
    killed = st.sampled_from([None, None, None, 0, 1, 2])
    pauses, change = draw(hours), draw(st.integers(0, 40))
    settings = (first if number < change else later for number in range(40))
    return [
        (pause * 3599, start * DAY, period * DAY, draw(killed))
        for pause, (start, period) in zip(pauses, settings, strict=False)
    ]


@given(lives())
def test_each_instant_is_read_again_within_the_period_and_the_longest_gap(
    life: list[tuple[int, int, int, int | None]],
) -> None:
    coverage: Coverage = {}
    mark, before, longest = None, life[0][1:3], 0
    now = last_complete = 1010 * DAY
    read = {each: max(each, now) for each in range(970 * DAY, 1130 * DAY, 7 * 3600)}
    waits = dict.fromkeys(read, life[0][2])
    for pause, start, period, killed_after in life:
        now += pause
        if (start, period) != before:
            waits = {each: waits[each] + period for each in waits}
            before = start, period
        asked = Scope(ranges=[NAME], start=start, lookback=3600, recheck=period)
        planned = make_plan(asked, coverage, mark, now)
        coverage, mark = planned.coverage, planned.rechecked_before
        parts = [part for step in planned.steps for part in step.intervals]
        if killed_after is None:
            longest, last_complete = max(longest, now - last_complete), now
            most = longest + DAY
            assert all(now - read[x] <= waits[x] + most for x in read if start <= x)
            mark = planned.rechecked_after
        coverage[NAME] = union([*coverage[NAME], *parts[:killed_after]])
        for each in read:
            if each < start or any(a <= each < b for a, b in parts[:killed_after]):
                read[each], waits[each] = now, period
