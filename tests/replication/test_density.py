"""What windows tell of how dense a time range is."""

from __future__ import annotations

import pytest

from tap_leadintent.replication.density import Density, Stretch
from tests.support.histories import DAY, PAGE


def learned(*days: tuple[int, int]) -> Density:
    """Learn of days how many records they held."""
    density = Density(PAGE)
    for day, records in days:
        requests = records // PAGE + 1
        density.learn(
            day * DAY, (day + 1) * DAY, records=records, requests=min(2, requests)
        )
    return density


def pages_a_day(density: Density, day: int) -> float | None:
    estimate = density.mean(day * DAY)
    return None if estimate is None else round(estimate * DAY, 3)


def test_nothing_is_said_before_something_was_found() -> None:
    assert pages_a_day(learned(), 5) is None
    assert pages_a_day(learned((0, 0), (1, 0)), 5) is None
    assert pages_a_day(learned((9, 500)), 5) is None


def test_an_estimate_is_the_mean_of_what_was_read_before() -> None:
    assert pages_a_day(learned((0, 200), (1, 400)), 2) == 3.0
    assert pages_a_day(learned((1, 400), (0, 200), (7, 9000)), 2) == 3.0


def test_a_mean_goes_back_over_nights_and_weekends_but_no_further() -> None:
    week = [(day, 0 if day % 7 > 4 else 400) for day in range(28)]
    assert pages_a_day(learned(*week), 28) == pytest.approx(400 / 100 * 5 / 7, rel=0.2)
    quiet = [(day, 10) for day in range(100)]
    busy = [(100 + day, 300) for day in range(10)]
    assert pages_a_day(learned(*quiet, *busy), 110) == 3.0


def test_a_far_denser_day_counts_alone() -> None:
    quiet = [(day, 10) for day in range(100)]
    assert pages_a_day(learned(*quiet, (100, 200)), 101) == 2.0


def test_where_a_window_was_given_up_the_latest_pages_count_alone_if_denser() -> None:
    density = learned((0, 100), (1, 100), (2, 200))
    assert density.mean(3 * DAY) == pytest.approx(4 / 3 / DAY)
    assert density.mean(3 * DAY, is_dense=True) == pytest.approx(2 / DAY)
    density = learned((0, 200), (1, 100))
    assert density.mean(2 * DAY, is_dense=True) == pytest.approx(1.5 / DAY)


def test_pages_are_as_large_as_they_were_seen_to_be() -> None:
    density = Density(PAGE)
    for _ in range(20):
        density.learn(0, DAY, records=275, requests=6)
    assert density.page_records == pytest.approx(50, rel=0.02)


def test_windows_of_few_requests_do_not_tell_how_large_pages_are() -> None:
    density = Density(PAGE)
    density.learn(0, DAY, records=3, requests=2)
    assert density.page_records == PAGE


def test_the_peak_is_the_densest_window_that_holds_more_than_a_few_records() -> None:
    density = learned((0, 100), (1, 300))
    density.learn(5 * DAY, 5 * DAY + 1, records=3, requests=1)
    assert density.peak * DAY == pytest.approx(3.0)


def test_what_was_given_up_is_a_bound_until_it_is_behind() -> None:
    density = Density(PAGE)
    density.learn_bound(0, 8 * DAY, 32)
    density.learn_bound(2 * DAY, 3 * DAY, 8)
    assert density.given_up_at(2 * DAY) == Stretch(2 * DAY, 3 * DAY, 8)
    assert density.given_up_at(5 * DAY) == Stretch(0, 8 * DAY, 32)
    density.forget(4 * DAY)
    assert density.given_up_at(2 * DAY) == Stretch(0, 8 * DAY, 32)
    density.learn_bound(0, 9 * DAY, 33)
    assert density.given_up_at(5 * DAY) == Stretch(0, 9 * DAY, 33)
    assert density.given_up_at(9 * DAY) is None


def test_no_page_holds_more_than_was_asked_for() -> None:
    density = Density(PAGE)
    density.learn(0, DAY, records=3 * PAGE, requests=3)
    assert density.page_records == PAGE


def test_old_windows_are_forgotten_but_not_those_of_the_mean() -> None:
    density = learned(*((day, 100) for day in range(1000)))
    density.forget(1000 * DAY)
    assert pages_a_day(density, 1000) == 1.0
    assert pages_a_day(density, 100) is None


def test_the_same_hours_of_the_weeks_before_tell_more_once_they_have_proved_to() -> (
    None
):
    """Two days of seven, which no mean foresees."""
    weeks = [(day, 700 if day % 7 in (0, 1) else 0) for day in range(70)]
    density = learned(*weeks[:7])
    assert not density.is_weekly
    density = learned(*weeks)
    assert density.is_weekly
    monday = 70 * DAY
    assert density.pages(monday, monday + DAY, mean=1) == pytest.approx(7)
    assert density.pages(monday + 2 * DAY, monday + 7 * DAY, mean=1) == 0
    later = monday + 30 * DAY
    end = density.end(monday, 10.5, mean=1, latest=later)
    assert end == pytest.approx(monday + 1.5 * DAY, abs=60)
    assert density.end(monday, 10.5, mean=1, latest=monday + DAY) == monday + DAY
    sunday = monday - DAY
    end = density.end(sunday, 3.5, mean=1, latest=later)
    assert end == pytest.approx(sunday + 1.5 * DAY, abs=60)


def test_the_mean_counts_where_the_weeks_before_were_not_read() -> None:
    density = learned(*((day, 700 if day % 7 in (0, 1) else 0) for day in range(70)))
    later = 200 * DAY
    assert density.is_weekly
    assert density.pages(later, later + DAY, mean=3 / DAY) == 3


def test_an_even_history_has_no_rhythm() -> None:
    density = learned(*((day, 100 + day % 3) for day in range(70)))
    assert not density.is_weekly
    assert density.end(70 * DAY, 3, mean=1 / DAY, latest=100 * DAY) == 73 * DAY
    assert density.end(70 * DAY, 3, mean=1 / DAY, latest=72 * DAY) == 72 * DAY


def test_a_gap_lies_between_two_stretches_that_held_nothing() -> None:
    density = learned((0, 0), (50, 0), (100, 3))
    assert density.is_between_empty(DAY)
    assert not density.is_between_empty(51 * DAY)
    assert not density.is_between_empty(101 * DAY)
