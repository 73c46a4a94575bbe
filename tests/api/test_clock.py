"""Up to which time an answer is complete, by the server's clock and by ours."""

from __future__ import annotations

import logging

import pytest

from tap_leadintent.api.clock import ServerClock

NOW = 1_770_000_000
HOUR = 3600


def clock() -> ServerClock:
    return ServerClock(logging.getLogger("clock"))


@pytest.mark.parametrize(
    ("date", "seconds", "as_of"),
    [
        pytest.param(NOW, 0.0, NOW, id="alike"),
        pytest.param(NOW + 1, 3.2, NOW - 2, id="ready before it came"),
        pytest.param(NOW + HOUR, 0.5, NOW, id="ahead"),
        pytest.param(NOW - HOUR, 30.0, NOW - HOUR - 30, id="behind, and slow"),
        pytest.param(None, 30.0, NOW, id="no Date"),
    ],
)
def test_the_earlier_of_two_clocks_counts(
    date: int | None, seconds: float, as_of: int
) -> None:
    assert clock().as_of(date, NOW + 0.7, seconds) == as_of


@pytest.mark.parametrize(
    ("ahead", "told"),
    [
        (-3 * HOUR, "it is 2026-02-01T23:40:00Z, 3:00:00 behind ours. What is read "),
        (3 * HOUR, "it is 2026-02-02T05:40:00Z, 3:00:00 ahead of ours. What is read "),
        (-61, "it is 2026-02-02T02:38:59Z, 0:01:01 behind ours. What is read "),
        (-60, None),
        (60, None),
    ],
)
def test_clocks_that_differ_are_worth_one_line(
    caplog: pytest.LogCaptureFixture, ahead: int, told: str | None
) -> None:
    one = clock()
    for date in (NOW, NOW + ahead, NOW + ahead, NOW - ahead):
        one.as_of(date, NOW, 0.0)
    assert [f"By the server's clock {told}" in line for line in caplog.messages] == (
        [True] if told else []
    )


def test_the_time_that_an_answer_takes_is_no_difference(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock().as_of(NOW + 90, NOW, 100.0)
    assert caplog.messages == []
