"""Waits: what the server asks for, the backoff of retries, and the rate limit."""

from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from threading import TIMEOUT_MAX
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.health import RunHealth
from tap_leadintent.api.limits import (
    LONGEST_BACKOFF,
    RateLimiter,
    backoff,
    seconds_to_wait,
)
from tap_leadintent.errors import StoppedError, StreamError
from tap_leadintent.progress import StreamStats
from tests.support.helpers import Clock, Waiter


def send(limiter: RateLimiter) -> float:
    """Send a request that takes no time and succeeds; give how long it waited."""
    stats = StreamStats()
    with limiter.turn(Waiter(), stats):  # type: ignore[arg-type]
        limiter.note_page()
    return stats.waited_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (" 0.25 ", 0.25),
        ("7200", 7200),
        ("0", None),
        ("nan", None),
        ("inf", None),
        ("7 s", None),
        ("", None),
        ("Sun, 06 Nov 1994 12:00:30 GMT", 30),
        ("Sun, 06 Nov 1994 11:59:59 GMT", None),
        ("Sun, 06 Nov 99999999999 12:00:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 -0100", None),
    ],
)
@pytest.mark.parametrize("name", ["Retry-After", "RateLimit-Reset"])
def test_how_long_a_server_wants_no_request(
    name: str, text: str, seconds: float | None
) -> None:
    headers = {name: text, "Date": "Sun, 06 Nov 1994 12:00:00 GMT"}
    assert seconds_to_wait(headers) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"RateLimit-Reset": "30", "RateLimit-Remaining": "0"}, 30),
        ({"RateLimit-Reset": "30", "RateLimit-Remaining": "7"}, None),
        ({"RateLimit-Reset": "30", "Retry-After": "20"}, 20),
    ],
)
def test_a_rate_limit_counts_where_nothing_else_does(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert seconds_to_wait(headers) == seconds


def test_without_a_date_header_our_clock_counts(clock: Clock) -> None:
    then = clock.time() + 90
    for text in (format_datetime(datetime.fromtimestamp(then, UTC)), str(then)):
        assert seconds_to_wait({"Retry-After": text}) == 90


@given(st.text() | st.from_regex(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"))
def test_any_retry_after_gives_none_or_valid_seconds(text: str) -> None:
    seconds = seconds_to_wait({"Retry-After": text, "Date": text})
    assert seconds is None or 0 < seconds < float("inf")


@given(st.integers(1, 10_000))
def test_backoff_is_jittered_over_its_whole_range_and_bounded(attempt: int) -> None:
    with mock.patch("tap_leadintent.api.limits.random.uniform") as uniform:
        backoff(attempt)
    longest = min(LONGEST_BACKOFF, 2**attempt)
    assert uniform.call_args == mock.call(0, longest)


def test_a_cool_down_delays_all_requests(clock: Clock) -> None:
    limiter = RateLimiter(at_once=1)
    limiter.pause_all(30)
    clock.now += 1
    limiter.pause_all(2)  # It does not shorten the longer one.
    assert send(limiter) == pytest.approx(29)
    assert send(limiter) == 0


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("wait", ["pause", "cool-down", "ceiling"])
def test_a_stopped_request_ends_its_wait(wait: str) -> None:
    limiter = RateLimiter(1, requests_per_minute=1 if wait == "ceiling" else None)
    send(limiter)
    if wait == "cool-down":
        limiter.pause_all(600)
    stopped: Any = Waiter(seconds=10)
    pause = 600 if wait == "pause" else 0
    with pytest.raises(StoppedError), limiter.turn(stopped, StreamStats(), pause):
        """Never entered."""


def places(limiter: RateLimiter) -> int:
    """Count how many requests may be under way together."""
    number, now = 0, Clock.current.now
    with suppress(StoppedError), ExitStack() as under_way:
        while True:
            stopped: Any = Waiter(seconds=1)
            under_way.enter_context(limiter.turn(stopped, StreamStats()))
            number += 1
    # Whoever finds no place sleeps until a request ends.
    assert Clock.current.now - now >= TIMEOUT_MAX
    Clock.current.now = now
    return number


def test_a_failed_request_makes_room_for_the_next(clock: Clock) -> None:
    del clock
    limiter, waiter = RateLimiter(at_once=1), Waiter()
    with pytest.raises(LookupError), limiter.turn(waiter, StreamStats()):  # type: ignore[arg-type]
        raise LookupError
    assert places(limiter) == 1


@pytest.mark.usefixtures("clock")
def test_a_stopped_request_that_hangs_is_not_counted() -> None:
    limiter, stopped = RateLimiter(at_once=1), Waiter()
    of_failed_stream: Any = stopped
    with limiter.turn(of_failed_stream, StreamStats()):
        assert places(limiter) == 0
        stopped.set()
        assert places(limiter) == 1


def test_a_cool_down_halves_the_requests_in_flight(clock: Clock) -> None:
    limiter = RateLimiter(at_once=8)
    assert places(limiter) == 8
    for expected in (4, 2, 1, 1):
        limiter.pause_all(5)
        clock.now += 5
        assert places(limiter) == expected


def test_refusals_of_requests_sent_before_a_cool_down_are_one(clock: Clock) -> None:
    limiter = RateLimiter(at_once=8)
    for _ in range(5):
        limiter.pause_all(5)
        clock.now += 1
    clock.now += 5
    assert places(limiter) == 4


def test_pages_raise_the_requests_in_flight_slowly_up_to_the_limit(
    clock: Clock,
) -> None:
    limiter = RateLimiter(at_once=8)
    limiter.pause_all(5)
    clock.now += 5
    for number, expected in ((10, {4}), (30, {5, 6}), (1000, {8})):
        for _ in range(number):
            limiter.note_page()
        assert places(limiter) in expected


def test_after_a_failed_stream_one_request_is_sent_until_one_succeeds(
    clock: Clock,
) -> None:
    del clock
    health = RunHealth()
    limiter = RateLimiter(8, health=health)
    health.note_failure(StreamError("failed", may_end_run=True))
    assert places(limiter) == 1
    health.note_page()
    assert places(limiter) == 8
