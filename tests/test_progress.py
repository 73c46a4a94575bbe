"""How far a stream has come, on a clock of the test's own."""

import pytest

from tap_leadintent.progress import Progress, counted
from tests.support.helpers import Clock

DAY = 86_400


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("tap_leadintent.progress.time", clock)
    return clock


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "0 retries"), (1, "1 retry"), (1234, "1,234 retries")],
)
def test_numbers_of_things(number: int, told: str) -> None:
    assert counted(number, "retry", "retries") == told


def test_a_line_comes_every_15_seconds_and_no_sooner(clock: Clock) -> None:
    lines: list[str] = []
    progress = Progress(lines.append)
    for page in range(1, 46):
        clock.now += 1
        progress.page(100 * page)
    assert lines == [
        f"{records} records so far" for records in ("1,500", "3,000", "4,500")
    ]


@pytest.mark.parametrize(
    ("reached", "share"),
    [
        (10, "0 % of date_found, up to 1970-01-11T00:00:00Z"),
        (20, "25 % of date_found, up to 1970-01-21T00:00:00Z"),
        (129, "97 % of date_found, up to 1970-05-10T00:00:00Z"),
        (130, "100 % of date_found, up to 1970-05-11T00:00:00Z"),
    ],
)
def test_a_range_has_a_share_in_which_holes_do_not_count(
    clock: Clock, reached: int, share: str
) -> None:
    lines: list[str] = []
    progress = Progress(lines.append)
    progress.begin_range("latest_signal", [(0, DAY)])
    progress.begin_range("date_found", [(10 * DAY, 20 * DAY), (100 * DAY, 130 * DAY)])
    progress.reach(reached * DAY)
    clock.now += 60
    progress.page(600)
    assert lines == [f"600 records so far; {share}"]
