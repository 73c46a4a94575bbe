"""How far a stream has come, on a clock of the test's own."""

from __future__ import annotations

import pytest

from tap_leadintent.progress import Progress, counted

DAY = 86_400


class Clock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def progress(clock: Clock, lines: list[str]) -> Progress:
    return Progress(lines.append, clock)


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "0 retries"), (1, "1 retry"), (2, "2 retries"), (1234, "1,234 retries")],
)
def test_numbers_of_things(number: int, told: str) -> None:
    assert counted(number, "retry", "retries") == told


def test_an_s_makes_the_plural() -> None:
    assert [counted(1, "record"), counted(2, "record")] == ["1 record", "2 records"]


def test_a_line_comes_every_15_seconds_and_no_sooner(
    progress: Progress, clock: Clock, lines: list[str]
) -> None:
    for page in range(1, 61):
        clock.now += 1
        progress.page(100 * page)
    assert lines == [
        "1,500 records so far, 100 a second",
        "3,000 records so far, 100 a second",
        "4,500 records so far, 100 a second",
        "6,000 records so far, 100 a second",
    ]


def test_a_page_costs_one_look_at_the_clock(progress: Progress, clock: Clock) -> None:
    looks = clock.looks
    for page in range(50):
        progress.page(page)
    assert clock.looks == looks + 50


def test_a_range_has_a_share_and_an_end(
    progress: Progress, clock: Clock, lines: list[str]
) -> None:
    progress.begin_range("date_found", [(0, 100 * DAY)])
    clock.now += 60
    progress.reach(25 * DAY)
    progress.page(1)
    (line,) = lines
    assert line == (
        "1 record so far, 0 a second; 25 % of date_found, up to 1970-01-26T00:00:00Z; "
        "about 3 minutes left"
    )


def test_the_pace_is_that_of_the_last_minute(
    progress: Progress, clock: Clock, lines: list[str]
) -> None:
    """A start long before the first record passes in no time."""
    progress.begin_range("date_found", [(0, 1000 * DAY)])
    progress.reach(880 * DAY)
    for minute in range(12):
        clock.now += 15
        progress.reach((881 + minute) * DAY)
        progress.page(minute * 1500)
    # A day in 15 seconds, and 108 days are left.
    assert lines[-1].endswith("89 % of date_found, up to 1972-06-11T00:00:00Z; "
                              "about 27 minutes left")  # fmt: skip
    assert "16,500 records so far, 100 a second" in lines[-1]


def test_holes_do_not_count(progress: Progress) -> None:
    progress.begin_range("date_found", [(0, 10), (1000, 1030)])
    assert progress.share == "0 % of date_found"
    progress.reach(10)
    assert progress.share == "25 % of date_found"
    progress.reach(1029)
    assert progress.share == "97 % of date_found"
    progress.reach(1030)
    assert progress.share == "100 % of date_found"


def test_nothing_is_said_of_what_is_left_where_nothing_moves(
    progress: Progress, clock: Clock, lines: list[str]
) -> None:
    progress.begin_range("observed_at", [(DAY, 2 * DAY)])
    clock.now += 15
    progress.page(300)
    (line,) = lines
    assert line == (
        "300 records so far, 20 a second; 0 % of observed_at, up to "
        "1970-01-02T00:00:00Z"
    )


def test_the_end_may_come_nearer(progress: Progress) -> None:
    """The server's clock may be behind ours."""
    progress.begin_range("observed_at", [(0, 50), (60, 100), (200, 300)])
    progress.end_by(110)
    progress.reach(60)
    assert progress.share == "55 % of observed_at"
    progress.end_by(60)
    assert progress.share == "100 % of observed_at"


def test_nothing_to_read_has_no_share(progress: Progress) -> None:
    progress.begin_range("observed_at", [])
    assert progress.share == ""


def test_another_range_begins_anew(
    progress: Progress, clock: Clock, lines: list[str]
) -> None:
    progress.begin_range("date_found", [(0, 100)])
    progress.reach(100)
    progress.page(1000)
    progress.begin_range("latest_signal", [(0, 200)])
    clock.now += 20
    progress.reach(100)
    progress.page(2000)
    (line,) = lines
    assert line == (
        "2,000 records so far, 50 a second; 50 % of latest_signal, up to "
        "1970-01-01T00:01:40Z; about 1 minute left"
    )
