"""What counts as covered when a run begins, from a state, settings and the time."""

from copy import deepcopy
from typing import Any

import pytest

from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.replication.plan import (
    Scope,
    newest_common,
    next_readings,
    seconds_to_read_again,
    without_due,
)

HOUR = 3600
DAY = 86400
NOW = 100 * DAY
BEFORE = NOW - HOUR
"""When the last run of an hourly schedule began."""

LEADS = ("date_found", "latest_signal")


def kept(
    covered: Coverage,
    planned: int | None,
    now: int = NOW,
    **asked: Any,
) -> Any:
    """Return what counts as covered of each range, and assert that nothing changed."""
    scope = Scope(
        **{
            "ranges": LEADS,
            "start": 0,
            "lookback": 30 * DAY,
            **asked,
        }
    )
    before = deepcopy(covered)
    coverage = without_due(scope, covered, planned, now)
    assert covered == before, "to plan changes nothing"
    return coverage


def both(*covered: Interval) -> Coverage:
    return {name: [*covered] for name in LEADS}


@pytest.mark.parametrize(
    ("planned", "now", "lookback", "seconds"),
    [
        pytest.param(0, 3600, 0, 0, id="nothing is late"),
        pytest.param(
            3600,
            7200,
            30 * DAY,
            2 * 7200,
            id="every second hour",
        ),
        pytest.param(
            7200,
            10800,
            30 * DAY,
            2 * 3600,
            id="hourly",
        ),
        pytest.param(
            0,
            400,
            30 * DAY,
            0,
            id="twice within 7.5 minutes",
        ),
        pytest.param(
            0,
            64 * DAY,
            30 * DAY,
            2 * 450 * 2**13,
            id="after a pause",
        ),
        pytest.param(
            0,
            10**9,
            3600,
            7200,
            id="no further than twice the lookback",
        ),
        pytest.param(
            0,
            10**9,
            DAY + 1,
            2 * 450 * 2**8,
            id="at least twice",
        ),
    ],
)
def test_an_instant_is_read_again_when_its_age_has_doubled(
    planned: int,
    now: int,
    lookback: int,
    seconds: int,
) -> None:
    assert seconds_to_read_again(planned, now, lookback) == seconds


def test_the_next_readings_are_those_that_a_run_makes() -> None:
    for when, again in next_readings(BEFORE, 30 * DAY):
        assert seconds_to_read_again(BEFORE, when, 30 * DAY) >= again
        assert seconds_to_read_again(BEFORE, when - 1, 30 * DAY) < again


def test_what_is_due_is_taken_out_of_all_ranges_from_one_instant() -> None:
    covered = {
        "date_found": [(0, BEFORE)],
        "latest_signal": [(0, 50 * DAY)],
    }
    due = BEFORE - 2 * 115_200
    assert kept(covered, BEFORE) == {
        "date_found": [(0, due)],
        "latest_signal": [(0, 50 * DAY)],
    }


def test_a_gap_in_the_coverage_changes_nothing_about_what_is_due() -> None:
    covered = both(
        (0, 40 * DAY),
        (60 * DAY, BEFORE),
    )
    due = BEFORE - 2 * 115_200
    assert kept(covered, BEFORE) == both(
        (0, 40 * DAY),
        (60 * DAY, due),
    )


def test_what_is_covered_after_the_last_run_is_due_too() -> None:
    """Joined states are as old as the older one; the other one covers more."""
    covered = both((0, NOW - 600))
    due = BEFORE - 2 * 115_200
    assert kept(covered, BEFORE) == both((0, due))


def test_a_run_after_a_part_of_one_owes_what_the_part_did_not_read() -> None:
    """The last run took time out of the coverage, and read nothing of it."""
    covered = both((0, NOW - 3 * DAY))
    assert kept(covered, NOW - 60) == covered


def test_a_state_without_an_instant_owes_nothing() -> None:
    assert kept(both((0, BEFORE)), None) == both((0, BEFORE))


@pytest.mark.parametrize("end", [None, 50 * DAY])
def test_the_settings_change_nothing_about_what_is_due(end: int | None) -> None:
    """What is not read now, because it lies outside, is missing in later runs."""
    due = BEFORE - 2 * 115_200
    start = BEFORE - 600
    covered = both((0, BEFORE))
    assert kept(covered, BEFORE, start=start, end=end) == both((0, due))


def test_what_lies_in_the_future_is_not_covered() -> None:
    assert kept(both((0, NOW + DAY)), None) == both((0, NOW))


@pytest.mark.parametrize("lookback", [0, 30 * DAY])
def test_after_a_clock_has_gone_back_nothing_is_due(lookback: int) -> None:
    covered = both((0, NOW + HOUR))
    assert kept(covered, NOW + HOUR, lookback=lookback) == both((0, NOW))


def test_a_clock_that_has_gone_back_far_owes_what_came_late_before() -> None:
    """The newest covered instant counts as the last run."""
    covered = both((0, NOW - DAY))
    again = seconds_to_read_again(NOW - DAY, NOW, 30 * DAY)
    assert kept(covered, NOW + HOUR) == both((0, NOW - DAY - again))


def test_the_newest_common_instant_is_that_of_the_range_that_is_behind() -> None:
    coverage = {
        "a": [(0, 9), (20, 30)],
        "b": [(0, 25)],
        "c": [],
    }
    assert newest_common(coverage) == 25
    assert newest_common({"a": []}) is None


@pytest.mark.parametrize(
    ("end", "ranges", "until"),
    [
        (None, LEADS, NOW),
        (80, LEADS[:1], 80),
        (NOW + 5, LEADS[:1], NOW),
    ],
)
def test_a_run_with_an_end_date_is_a_part_of_a_load(
    end: int | None,
    ranges: tuple[str, ...],
    until: int,
) -> None:
    scope = Scope(
        ranges=LEADS,
        start=0,
        end=end,
    )
    assert scope.ranges_to_read == ranges
    assert scope.until(NOW) == until
