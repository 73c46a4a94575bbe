"""The time of the server, and clocks that differ."""

import logging

import pytest

from tap_leadintent.api.clock import ServerClock

NOW = 1_770_000_000
HOUR = 3600


def clock() -> ServerClock:
    return ServerClock(logging.getLogger("clock"))


def test_the_latest_time_of_all_responses_counts_if_it_is_behind_ours() -> None:
    one = clock()
    shown = []
    for ahead, seconds in [
        (None, 3),
        (-9, 0),
        (-5, 2.5),
        (-8, 0),
        (-3, 0),
        (7, 0),
    ]:
        one.note(
            None if ahead is None else NOW + ahead,
            NOW,
            seconds,
        )
        shown.append(one.complete_to(NOW - 1) - NOW)
    assert shown == [-1, -9, -7, -7, -3, -1]


def test_a_clock_that_stands_still_counts_from_the_first_request() -> None:
    one = clock()
    for passed in (4, 2, 90):
        one.note(NOW - HOUR, NOW + passed, 0)
    assert one.complete_to(NOW) == NOW - HOUR


@pytest.mark.parametrize(
    ("ahead", "time"),
    [
        (-3 * HOUR, "01T23:40:00Z"),
        (72, "02T02:41:12Z"),
        (-60, ""),
        (70, ""),
    ],
)
def test_clocks_that_differ_give_one_warning(
    caplog: pytest.LogCaptureFixture,
    ahead: int,
    time: str,
) -> None:
    """The ten seconds that a response takes are no difference."""
    one = clock()
    for date in (NOW + ahead, NOW + ahead):
        one.note(date, NOW, 10.0)
    ours = "2026-02-02T02:40:00Z"
    text = f"Correct the clock that is wrong: the server's says 2026-02-{time}, "
    text += f"this machine's says {ours}, "
    assert len(caplog.messages) == (1 if time else 0)
    for line in caplog.messages:
        assert line.startswith(text)
