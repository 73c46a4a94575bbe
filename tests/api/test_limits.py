"""Waits, the backoff of retries, the rate limit, and which failures end a run."""

from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from email.utils import format_datetime
from math import inf
from threading import TIMEOUT_MAX, Event

import pytest
import time_machine
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.limits import Limits, seconds_to_wait
from tap_leadintent.api.traffic import Traffic
from tap_leadintent.errors import Action, Reason, StoppedError, StreamError
from tap_leadintent.progress import StreamStats
from tests.support.helpers import Clock


def traffic_of(at_once: int, clock: Clock, a_minute: int | None = None) -> Traffic:
    """Return the traffic of a run in which a request has succeeded."""
    traffic = Traffic(clock.limits, at_once, a_minute)
    traffic.note_page()
    return traffic


def send(traffic: Traffic) -> float:
    """Send a request that takes no time and succeeds; give how long it waited."""
    stats = StreamStats()
    with traffic.turn(Event(), stats):
        traffic.note_page()
    return stats.waited_seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (" 0.25 ", 0.25),
        ("7200", 7200),
        ("0", 0),
        ("nan", 0),
        ("inf", 0),
        ("7 s", 0),
        ("", 0),
        ("Sun, 06 Nov 1994 12:00:30 GMT", 30),
        ("Sun, 06 Nov 1994 11:59:59 GMT", 0),
        ("Sun, 06 Nov 99999999999 12:00:00 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 -0100", 0),
    ],
)
def test_how_long_a_server_wants_no_request(text: str, seconds: float) -> None:
    headers = {"Retry-After": text, "Date": "Sun, 06 Nov 1994 12:00:00 GMT"}
    assert seconds_to_wait(headers) == seconds


@time_machine.travel(1_770_000_000, tick=False)
def test_without_a_date_header_our_clock_counts() -> None:
    text = format_datetime(datetime.fromtimestamp(1_770_000_090, UTC))
    assert seconds_to_wait({"Retry-After": text}) == 90


@given(st.integers(1, 10_000))
def test_backoff_is_jittered_over_its_whole_range_and_bounded(attempt: int) -> None:
    waits = [Limits().backoff(attempt) for _ in range(200)]
    longest = min(60, 2**attempt)
    assert 0 <= min(waits) < longest / 2 < max(waits) <= longest


def test_a_cool_down_delays_all_requests(clock: Clock) -> None:
    traffic = traffic_of(1, clock)
    traffic.pause_all(30)
    clock.now += 1
    traffic.pause_all(2)  # It does not shorten the longer one.
    assert send(traffic) == pytest.approx(29)
    assert send(traffic) == 0


@pytest.mark.parametrize("wait", ["pause", "cool-down", "ceiling"])
def test_a_stopped_request_ends_its_wait(clock: Clock, wait: str) -> None:
    traffic = traffic_of(1, clock, 1 if wait == "ceiling" else None)
    send(traffic)
    if wait == "cool-down":
        traffic.pause_all(600)
    stopped = clock.event(seconds=10)
    pause = 600 if wait == "pause" else 0
    with pytest.raises(StoppedError), traffic.turn(stopped, StreamStats(), pause):
        """Never entered."""


def places(traffic: Traffic, clock: Clock) -> int:
    """Count how many requests may be under way together."""
    number, now = 0, clock.now
    with suppress(StoppedError), ExitStack() as under_way:
        while True:
            stopped = clock.event(seconds=1)
            under_way.enter_context(traffic.turn(stopped, StreamStats()))
            number += 1
    # Whoever finds no place sleeps until a request ends.
    assert clock.now - now >= TIMEOUT_MAX
    clock.now = now
    return number


def test_a_stopped_request_that_hangs_is_not_counted(clock: Clock) -> None:
    traffic, stopped = traffic_of(1, clock), Event()
    with traffic.turn(stopped, StreamStats()):
        assert places(traffic, clock) == 0
        stopped.set()
        assert places(traffic, clock) == 1


def test_a_cool_down_halves_the_requests_in_flight(clock: Clock) -> None:
    traffic = traffic_of(8, clock)
    assert places(traffic, clock) == 8
    for expected in (4, 2, 1, 1):
        traffic.pause_all(5)
        clock.now += 5
        assert places(traffic, clock) == expected


def test_refusals_of_requests_sent_before_a_cool_down_are_one(clock: Clock) -> None:
    traffic = traffic_of(8, clock)
    for _ in range(5):
        traffic.pause_all(5)
        clock.now += 1
    clock.now += 5
    assert places(traffic, clock) == 4


def test_pages_raise_the_requests_in_flight_slowly_up_to_the_limit(
    clock: Clock,
) -> None:
    traffic = traffic_of(8, clock)
    traffic.pause_all(5)
    clock.now += 5
    for number, expected in ((10, {4}), (30, {5, 6}), (1000, {8})):
        for _ in range(number):
            traffic.note_page()
        assert places(traffic, clock) in expected


def test_one_request_is_sent_until_one_succeeds(clock: Clock) -> None:
    traffic = Traffic(clock.limits, 8)
    assert places(traffic, clock) == 1
    traffic.note_page()
    assert places(traffic, clock) == 8


def failed(status: int | None = None, reason: Reason | None = None) -> StreamError:
    return StreamError("failed", status=status, reason=reason, actions=Action(0))


NO_CONNECTION = StreamError("failed", actions=Action.END_RUN)
LATE, NO_KEY = failed(reason=Reason.NO_RESPONSE), failed(401)
NO_REQUEST, NOT_ALLOWED = StreamError("failed"), StreamError("failed", status=403)


@pytest.mark.parametrize(
    ("failures", "ends", "ends_after_a_page"),
    [
        ([NO_CONNECTION], True, True),
        ([NO_KEY, NO_KEY], True, False),
        ([LATE, LATE], True, False),
        ([failed(503), NO_REQUEST, failed(503)], True, False),
        ([failed(503), failed(404), failed(503)], False, False),
        ([failed(200, Reason.NOT_A_PAGE), LATE], False, False),
        ([LATE, NOT_ALLOWED, LATE], True, False),
        ([NO_REQUEST, NO_REQUEST], False, False),
    ],
)
def test_what_ends_a_run(
    failures: list[StreamError], *, ends: bool, ends_after_a_page: bool
) -> None:
    for has_page, expected in ((False, ends), (True, ends_after_a_page)):
        traffic = Traffic(Limits())
        if has_page:
            traffic.note_page()
        *first, last = map(traffic.note_failure, failures)
        assert not any(first)
        assert last == expected


def test_how_long_requests_are_repeated_before_one_succeeds(clock: Clock) -> None:
    traffic = Traffic(clock.limits)
    for _ in range(2):
        with traffic.turn(Event(), StreamStats()):
            clock.now += 2.5
    assert traffic.seconds_for_retries == 15
    traffic.note_failure(LATE)
    assert not traffic.seconds_for_retries, "another stream has tried"
    traffic.note_page()
    assert traffic.seconds_for_retries == inf
