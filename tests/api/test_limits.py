"""Waits: what a server asks for, how tries are spread, what all share."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from email.utils import formatdate
from itertools import pairwise
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.limits import (
    LONGEST_BACKOFF,
    RateLimiter,
    Tally,
    backoff,
    retry_after,
)
from tap_leadintent.errors import StoppedError
from tests.support.helpers import EPOCH, Clock, Waiter


def turn(limiter: RateLimiter, *, within: float = float("inf")) -> float:
    """Send a request that takes no time; give the seconds that it waited."""
    stopped: Any = Waiter(seconds=within)
    tally = Tally()
    with limiter.turn(stopped, tally):
        return tally.seconds_waited


NOON = "Sun, 06 Nov 1994 12:00:00 GMT"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        (" 7 ", 7),
        ("0.25", 0.25),
        ("0", None),
        ("nan", None),
        ("inf", None),
        ("7 s", None),
        ("", None),
        ("Sun, 06 Nov 1994 12:00:30 GMT", 30),
        ("Sunday, 06-Nov-94 12:00:30 GMT", 30),
        ("Sun Nov  6 12:00:30 1994", 30),
        ("Sun, 06 Nov 1994 14:00:30 +0200", 30),
        ("Sun, 06 Nov 1994 11:59:59 GMT", None),
        ("Sun, 99 Nov 1994 12:00:30 GMT", None),
    ],
)
def test_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": text, "Date": NOON}) == seconds


@given(st.text() | st.from_regex(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"))
def test_no_header_breaks_a_run(text: str) -> None:
    seconds = retry_after({"Retry-After": text, "Date": text})
    assert seconds is None or 0 < seconds < float("inf")


@given(st.integers(1, 10_000))
def test_backoff_is_jittered_over_its_whole_range_and_bounded(attempt: int) -> None:
    with mock.patch("tap_leadintent.api.limits.random.uniform") as uniform:
        backoff(attempt)
    longest = min(LONGEST_BACKOFF, 2**attempt)
    assert uniform.call_args == mock.call(0, longest)


def test_a_rest_holds_everyone(clock: Clock) -> None:
    limiter = RateLimiter()
    limiter.rest(30)
    clock.now += 1
    limiter.rest(2)  # It does not shorten the longer one.
    assert turn(limiter) == pytest.approx(29)
    assert turn(limiter) == 0


@pytest.mark.parametrize(("limit", "gap"), [(1, 60), (60, 1), (7, 8.572), (600, 0.1)])
def test_a_ceiling_spreads_requests_evenly(
    clock: Clock, limit: int, gap: float
) -> None:
    limiter = RateLimiter(requests_per_minute=limit)
    times = []
    for _ in range(6):
        turn(limiter)
        times.append(clock.now)
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= gap - 0.001
    assert max(gaps) < gap + 0.05


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("wait", ["wait", "rest", "ceiling"])
def test_what_nobody_wants_any_more_ends_its_wait(wait: str) -> None:
    limiter = RateLimiter(requests_per_minute=1)
    turn(limiter)
    if wait == "rest":
        limiter.rest(600)
    stopped: Any = Waiter(seconds=10)
    waits = {"wait": lambda: limiter.wait(600, stopped, Tally())}
    with pytest.raises(StoppedError):
        waits.get(wait, lambda: turn(limiter, within=10))()


def places(limiter: RateLimiter) -> int:
    """Count how many requests may be under way together."""
    number, now = 0, Clock.current.now
    # They end with the error, as answers would raise the number.
    with suppress(StoppedError), ExitStack() as under_way:
        while True:
            stopped: Any = Waiter(seconds=1)
            under_way.enter_context(limiter.turn(stopped, Tally()))
            number += 1
    Clock.current.now = now
    return number


def answer(limiter: RateLimiter, number: int) -> None:
    for _ in range(number):
        turn(limiter)


@pytest.mark.parametrize("date", [{}, {"Date": "the other day"}], ids=str)
def test_a_date_is_counted_from_here_where_the_server_tells_no_time(
    clock: Clock, date: dict[str, str]
) -> None:
    clock.now = 0
    then = formatdate(EPOCH + 90, usegmt=True)
    assert retry_after({"Retry-After": then, **date}) == 90


def test_a_request_that_fails_raises_nothing_and_leaves_its_place(clock: Clock) -> None:
    limiter = RateLimiter(at_once=2)
    limiter.rest(5)
    clock.now += 5
    waiter: Any = Waiter()
    for _ in range(100):
        with pytest.raises(LookupError), limiter.turn(waiter, Tally()):
            raise LookupError
    assert places(limiter) == 1


@pytest.mark.usefixtures("clock")
def test_a_request_that_hangs_and_is_not_wanted_any_more_takes_no_place() -> None:
    limiter, stopped = RateLimiter(at_once=1), Waiter()
    of_failed_stream: Any = stopped
    with limiter.turn(of_failed_stream, Tally()):
        assert places(limiter) == 0
        stopped.set()
        assert places(limiter) == 1


def test_a_rest_halves_the_requests_in_flight(clock: Clock) -> None:
    limiter = RateLimiter(at_once=8)
    assert places(limiter) == 8
    for expected in (4, 2, 1, 1):
        limiter.rest(5)
        clock.now += 5
        assert places(limiter) == expected


def test_refusals_of_requests_sent_before_a_rest_are_one_rest(clock: Clock) -> None:
    limiter = RateLimiter(at_once=8)
    for _ in range(5):
        limiter.rest(5)
        clock.now += 1
    clock.now += 5
    assert places(limiter) == 4


def test_answers_raise_the_requests_in_flight_slowly_and_only_so_far(
    clock: Clock,
) -> None:
    limiter = RateLimiter(at_once=8)
    limiter.rest(5)
    clock.now += 5
    answer(limiter, 10)
    assert places(limiter) == 4
    answer(limiter, 30)
    assert places(limiter) in {5, 6}
    answer(limiter, 1000)
    assert places(limiter) == 8


def test_after_a_failed_stream_one_request_is_sent_until_one_succeeds(
    clock: Clock,
) -> None:
    del clock
    limiter = RateLimiter(at_once=8)
    limiter.failure = 503
    assert places(limiter) == 1
    turn(limiter)
    assert places(limiter) == 8
