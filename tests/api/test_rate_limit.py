"""Waits: what a server asks for, how tries are spread, what all share."""

from __future__ import annotations

import signal
from contextlib import ExitStack, suppress
from email.utils import formatdate
from itertools import pairwise
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.rate_limit import LONGEST_BACKOFF, Pace, backoff, retry_after
from tap_leadintent.interruption import Interruption
from tests.support.helpers import EPOCH

if TYPE_CHECKING:
    from tests.support.helpers import Clock


def turn(pace: Pace) -> float:
    """Send a request that takes no time; give the seconds that it waited."""
    with pace.turn(pace.check) as waited:
        return waited


NOON = "Sun, 06 Nov 1994 12:00:00 GMT"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("7", 7),
        (" 7 ", 7),
        ("0.25", 0.25),
        ("86400", 86400),
        ("1e9", 1e9),
        ("0", None),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("soon", None),
        ("7 s", None),
        ("", None),
        ("Sun, 06 Nov 1994 12:00:30 GMT", 30),
        ("Sunday, 06-Nov-94 12:00:30 GMT", 30),
        ("Sun Nov  6 12:00:30 1994", 30),
        ("Sun, 06 Nov 1994 14:00:30 +0200", 30),
        ("Sun, 06 Nov 1994 12:00:00 GMT", None),
        ("Sun, 06 Nov 1994 11:59:59 GMT", None),
        ("Sun, 99 Nov 1994 12:00:30 GMT", None),
    ],
)
def test_retry_after(text: str, seconds: float | None) -> None:
    assert retry_after({"Retry-After": text, "Date": NOON}) == seconds


def test_no_retry_after() -> None:
    assert retry_after({}) is None


@pytest.mark.parametrize("date", [{}, {"Date": "the other day"}], ids=str)
def test_a_date_is_counted_from_here_where_the_server_tells_no_time(
    clock: Clock, date: dict[str, str]
) -> None:
    clock.now = 0
    then = formatdate(EPOCH + 90, usegmt=True)
    assert retry_after({"Retry-After": then, **date}) == 90


@given(st.text() | st.from_regex(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}"))
def test_no_header_breaks_a_run(text: str) -> None:
    seconds = retry_after({"Retry-After": text, "Date": text})
    assert seconds is None or 0 < seconds < float("inf")


@given(st.integers(1, 10_000))
def test_backoff_is_jittered_over_its_whole_range_and_bounded(attempt: int) -> None:
    with mock.patch("tap_leadintent.api.rate_limit.random.uniform") as uniform:
        backoff(attempt)
    longest = min(LONGEST_BACKOFF, 2**attempt)
    assert uniform.call_args == mock.call(0, longest)


def test_backoff_differs() -> None:
    assert len({backoff(4) for _ in range(20)}) > 1


def test_a_rest_holds_everyone(clock: Clock) -> None:
    pace = Pace(Interruption())
    pace.rest(30)
    assert turn(pace) == pytest.approx(30)
    assert turn(pace) == 0
    assert clock.now == pytest.approx(1030)


def test_a_shorter_rest_does_not_shorten_a_longer_one(clock: Clock) -> None:
    pace = Pace(Interruption())
    pace.rest(30)
    clock.now += 1
    pace.rest(2)
    assert turn(pace) == pytest.approx(29)


@pytest.mark.parametrize(("limit", "gap"), [(1, 60), (60, 1), (7, 8.572), (600, 0.1)])
def test_a_ceiling_spreads_requests_evenly(
    clock: Clock, limit: int, gap: float
) -> None:
    pace = Pace(Interruption(), requests_per_minute=limit)
    times = []
    for _ in range(6):
        turn(pace)
        times.append(clock.now)
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= gap - 0.001
    assert max(gaps) < gap + 0.05


def test_a_rest_in_the_midst_of_a_wait_leaves_the_ceiling_as_it_is(
    clock: Clock,
) -> None:
    pace = Pace(Interruption(), at_once=2, requests_per_minute=1)
    turn(pace)
    real = clock.sleep

    def sleep(seconds: float) -> None:
        clock.sleep = real  # type: ignore[method-assign]
        pace.rest(150)
        real(seconds)

    clock.sleep = sleep  # type: ignore[method-assign]
    times = []
    for _ in range(2):
        turn(pace)
        times.append(clock.now)
    assert times[0] >= 1150
    assert times[1] >= times[0] + 60


@pytest.mark.parametrize("wait", ["wait", "rest", "ceiling"])
def test_a_signal_ends_a_wait(clock: Clock, wait: str) -> None:
    interruption = Interruption()
    pace = Pace(interruption, requests_per_minute=1)
    turn(pace)
    real = clock.sleep

    def sleep(seconds: float) -> None:
        real(seconds)
        interruption.signal(signal.SIGTERM)

    clock.sleep = sleep  # type: ignore[method-assign]
    if wait == "rest":
        pace.rest(600)
    with pytest.raises(SystemExit) as caught:
        pace.wait(600, pace.check) if wait == "wait" else turn(pace)
    assert caught.value.code == 128 + signal.SIGTERM
    assert clock.now < 1001


class BlockedError(Exception):
    """Raised where a request would have to wait."""


def places(pace: Pace) -> int:
    """Count how many requests may be under way together."""
    looked = number = 0

    def give_up_soon() -> None:
        nonlocal looked
        looked += 1
        if looked > 1:
            raise BlockedError

    # They end with the error, as answers would raise the number.
    with suppress(BlockedError), ExitStack() as under_way:
        while True:
            looked = 0
            under_way.enter_context(pace.turn(give_up_soon))
            number += 1
    return number


def answers(pace: Pace, number: int) -> None:
    for _ in range(number):
        turn(pace)


def test_so_many_requests_may_be_in_flight(clock: Clock) -> None:
    del clock
    assert places(Pace(Interruption(), at_once=8)) == 8


def test_a_rest_halves_the_requests_in_flight(clock: Clock) -> None:
    pace = Pace(Interruption(), at_once=8)
    for expected in (4, 2, 1, 1):
        pace.rest(5)
        clock.now += 5
        assert places(pace) == expected


def test_refusals_of_requests_sent_before_a_rest_are_one_rest(clock: Clock) -> None:
    pace = Pace(Interruption(), at_once=8)
    for _ in range(5):
        pace.rest(5)
        clock.now += 1
    clock.now += 5
    assert places(pace) == 4


def test_answers_raise_the_requests_in_flight_slowly_and_only_so_far(
    clock: Clock,
) -> None:
    pace = Pace(Interruption(), at_once=8)
    pace.rest(5)
    clock.now += 5
    answers(pace, 10)
    assert places(pace) == 4
    answers(pace, 30)
    assert places(pace) in {5, 6}
    answers(pace, 1000)
    assert places(pace) == 8


def test_after_a_failed_stream_one_request_is_sent_until_one_succeeds(
    clock: Clock,
) -> None:
    del clock
    pace = Pace(Interruption(), at_once=8)
    pace.failure = 503
    assert places(pace) == 1
    turn(pace)
    assert places(pace) == 8


def test_a_request_that_fails_raises_nothing_and_leaves_its_place(clock: Clock) -> None:
    pace = Pace(Interruption(), at_once=2)
    pace.rest(5)
    clock.now += 5
    for _ in range(100):
        with pytest.raises(BlockedError), pace.turn(pace.check):
            raise BlockedError
    assert places(pace) == 1


def test_a_wait_ends_when_nobody_needs_it_any_more(clock: Clock) -> None:
    pace = Pace(Interruption())
    pace.rest(600)

    def check() -> None:
        if clock.now > 1003:
            raise BlockedError

    with pytest.raises(BlockedError), pace.turn(check):
        pass
    assert clock.now < 1004
