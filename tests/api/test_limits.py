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
from requests.structures import CaseInsensitiveDict

from tap_leadintent.api.limits import Limits, seconds_to_wait
from tap_leadintent.api.traffic import Traffic
from tap_leadintent.errors import Action, Reason, StoppedError, StreamError
from tap_leadintent.progress import StreamStats
from tests.support.helpers import Clock


def traffic_of(
    at_once: int,
    clock: Clock,
    a_minute: int | None = None,
) -> Traffic:
    """Return the traffic of a run in which a request has succeeded."""
    traffic = Traffic(clock.limits, at_once, a_minute)
    page(traffic)
    return traffic


def page(
    traffic: Traffic,
    seconds: float = 0.2,
    endpoint: str = "leads",
) -> None:
    """Note a full page."""
    traffic.note_page(endpoint, seconds, is_full=True)


def busy(seconds: float = 0, *actions: Action) -> StreamError:
    """Return a refusal that asks to wait so long, or does not say how long."""
    wanted = Action.RETRY | Action.PAUSE_ALL
    for action in actions:
        wanted |= action
    return StreamError(
        "busy",
        retry_after=seconds,
        actions=wanted,
    )


def refuse(
    traffic: Traffic,
    clock: Clock,
    seconds: float = 0,
    attempt: int = 1,
) -> None:
    """Refuse a request that was sent just now, and wait as long as the tap does."""
    clock.now += 0.001
    clock.now += traffic.note_refusal(
        busy(seconds),
        attempt,
        clock.now,
    )


def send(traffic: Traffic) -> float:
    """Send a request that takes no time and succeeds; give how long it waited."""
    stats = StreamStats()
    with traffic.turn(Event(), stats):
        page(traffic)
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
    headers = {
        "Retry-After": text,
        "Date": "Sun, 06 Nov 1994 12:00:00 GMT",
    }
    assert seconds_to_wait(headers) == seconds


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"RateLimit-Reset": "58", "RateLimit-Remaining": "0"}, 58),
        ({"RateLimit": "limit=60, remaining=0, reset=58"}, 58),
        ({"RateLimit": '"5-in-3sec"; r=0; t=2'}, 2),
        ({"RateLimit": '"second";r=5;t=1, "minute";r=0;t=40, "day";r=9;t=9999'}, 40),
        ({"RateLimit-Reset": "1770000030"}, 30),
        ({"Retry-After-long": "3", "X-RateLimit-Remaining-short": "96"}, 3),
        ({"retry-after-ms": "3000"}, 0),
        ({"Retry-After": "2", "RateLimit-Reset": "58"}, 2),
        ({"Retry-After": "0", "X-RateLimit-Reset": "1770000000.75"}, 0.75),
        ({"X-RateLimit-UserReset": "1770000045000"}, 45),
        ({"X-RateLimit-Reset": "2"}, 0),
        ({"X-RateLimit-Reset": "1770003600"}, 0),
        ({"X-RateLimit-Reset": "1769999999"}, 0),
        ({"X-RateLimit-Limit": "1770000030"}, 0),
        ({"RateLimit": "?", "RateLimit-Reset": "soon"}, 0),
    ],
)
@time_machine.travel(1_770_000_000, tick=False)
def test_what_rate_limits_say(headers: dict[str, str], seconds: float) -> None:
    given = CaseInsensitiveDict(headers)
    assert seconds_to_wait(given, is_rate_limit=True) == pytest.approx(seconds)
    is_for_all = any(name.lower().startswith("retry-after") for name in headers)
    if not is_for_all:
        assert not seconds_to_wait(given), "it describes a limit, without a refusal"


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
    traffic.note_refusal(
        busy(30),
        1,
        clock.now,
    )
    clock.now += 1
    # It does not shorten the longer one.
    traffic.note_refusal(
        busy(2),
        1,
        clock.now - 1,
    )
    assert send(traffic) == pytest.approx(30)


@pytest.mark.parametrize("wait", ["pause", "cool-down", "ceiling"])
def test_a_stopped_request_ends_its_wait(clock: Clock, wait: str) -> None:
    traffic = traffic_of(
        1,
        clock,
        1 if wait == "ceiling" else None,
    )
    send(traffic)
    if wait == "cool-down":
        traffic.note_refusal(
            busy(600),
            1,
            clock.now,
        )
    stopped = clock.event(seconds=10)
    stats = StreamStats()
    pause = 600 if wait == "pause" else 0
    with pytest.raises(StoppedError), traffic.turn(stopped, stats, pause):
        """Never entered."""


def places(traffic: Traffic, clock: Clock) -> int:
    """Count how many requests may be under way together."""
    number = 0
    now = clock.now
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
    traffic = traffic_of(1, clock)
    stopped = Event()
    with traffic.turn(stopped, StreamStats()):
        assert places(traffic, clock) == 0
        stopped.set()
        assert places(traffic, clock) == 1


def rise(
    traffic: Traffic,
    number: int,
    seconds: float = 0.2,
) -> None:
    """Note so many full pages, while as many requests as may be are in flight."""
    in_flight = 0
    with ExitStack() as under_way:
        for _ in range(number):
            while in_flight < traffic.at_once():
                under_way.enter_context(traffic.turn(Event(), StreamStats()))
                in_flight += 1
            page(traffic, seconds)


def test_a_refusal_halves_the_requests_in_flight(clock: Clock) -> None:
    traffic = traffic_of(8, clock)
    rise(traffic, 50)
    assert places(traffic, clock) == 8
    for expected in (4, 2, 1, 1):
        refuse(traffic, clock, 5)
        assert places(traffic, clock) == expected


def test_refusals_of_requests_sent_before_a_cool_down_are_one(clock: Clock) -> None:
    traffic = traffic_of(8, clock)
    sent_at = clock.now
    clock.now += 1
    for _ in range(5):
        traffic.note_refusal(busy(5), 1, sent_at)
        clock.now += 1
    clock.now += 9
    assert places(traffic, clock) == 2


def test_pages_raise_the_requests_in_flight_up_to_the_limit(clock: Clock) -> None:
    traffic = traffic_of(32, clock)
    steps = [
        (0, 4),
        (8, 8),
        (16, 16),
        (50, 32),
    ]
    for number, expected in steps:
        rise(traffic, number)
        assert places(traffic, clock) == expected
    refuse(traffic, clock, 5)
    for number, expected in ((0, 16), (60, 17)):
        rise(traffic, number)
        assert traffic.at_once() == expected, "slowly after a refusal"


def test_where_few_requests_are_wanted_no_more_are_allowed(clock: Clock) -> None:
    traffic = traffic_of(32, clock)
    for _ in range(100):
        send(traffic)
    assert traffic.at_once() == 4


def test_slower_pages_end_the_rise_until_they_are_fast_again(clock: Clock) -> None:
    traffic = traffic_of(32, clock)
    rise(traffic, 8, seconds=0.2)
    rise(traffic, 8, seconds=0.4)
    reached = traffic.at_once()
    assert reached < 12
    rise(traffic, 50, seconds=0.4)
    assert traffic.at_once() == reached
    rise(traffic, 50, seconds=0.2)
    assert traffic.at_once() > 2 * reached


def test_each_endpoint_has_its_own_fastest_pages(clock: Clock) -> None:
    traffic = traffic_of(32, clock)
    for _ in range(20):
        page(traffic, 0.01, endpoint="agents")
    rise(traffic, 100, seconds=0.2)
    assert traffic.at_once() > 20


class Limited:
    """An API with a limit of its own, whose pages take 50 ms, asked one at a time."""

    def __init__(
        self,
        clock: Clock,
        wait: float = 0,
    ) -> None:
        self.clock = clock
        self.traffic = traffic_of(32, clock)
        self.wait = wait
        self.sent = 0
        self.refused = 0
        self.times: list[float] = []
        """When it has answered."""

    def is_open(self) -> bool:
        """Return whether the limit allows a request now."""
        raise NotImplementedError

    def answered_since(self, instant: float) -> int:
        """Count the requests that it has answered after an instant."""
        return sum(time > instant for time in self.times)

    def read(self, pages: int) -> float:
        """Read so many pages, and return how many seconds that took."""
        began = self.clock.now
        while len(self.times) < pages:
            attempt = 0
            pause = 0.0
            while True:
                attempt += 1
                with self.traffic.turn(
                    Event(),
                    StreamStats(),
                    pause,
                ):
                    sent_at = self.clock.now
                    self.sent += 1
                    assert self.sent < 3 * pages
                    is_open = self.is_open()
                    if is_open:
                        self.times.append(self.clock.now)
                    self.clock.now += 0.05
                    if is_open:
                        page(self.traffic, 0.05)
                        break
                    self.refused += 1
                    error = busy(self.wait)
                    pause = self.traffic.note_refusal(error, attempt, sent_at)
        return self.clock.now - began


class Steady(Limited):
    """At least 200 ms from one request to the next, as nginx counts without a burst."""

    def is_open(self) -> bool:
        if not self.times:
            return True
        return self.clock.now >= self.times[-1] + 0.2


class Burst(Limited):
    """Five a second, and 20 more at once."""

    def is_open(self) -> bool:
        held = 0.0
        last = 0.0
        for time in self.times:
            gone = 5 * (time - last)
            held = max(0.0, held - gone) + 1
            last = time
        gone = 5 * (self.clock.now - last)
        return held - gone <= 20


class Windowed(Limited):
    """Sixty in each minute of the clock."""

    def is_open(self) -> bool:
        minute = self.clock.now // 60
        return sum(time // 60 == minute for time in self.times) < 60


class Second(Limited):
    """Ten in a second, and each refusal asks to wait for one."""

    def is_open(self) -> bool:
        return self.answered_since(self.clock.now - 1) < 10


class Block(Limited):
    """Thirty in six seconds; one more, and none is allowed for six seconds."""

    blocked_until = 0.0

    def is_open(self) -> bool:
        now = self.clock.now
        if now >= self.blocked_until and self.answered_since(now - 6) == 30:
            self.blocked_until = now + 6
        return now >= self.blocked_until


class Failing(Limited):
    """Refuses every second request for three minutes, whatever its pace is."""

    def is_open(self) -> bool:
        return self.clock.now > 1180 or self.sent % 2 == 1


@pytest.mark.parametrize(
    ("limit", "wait", "seconds"),
    [
        (Steady, 0, 1.3 * 120),
        (Burst, 0, 1.3 * 116),
        (Windowed, 0, 1.3 * 540),
        # Each refusal takes as long as ten pages.
        (Second, 1, 1.6 * 60),
        (Block, 6, 1.3 * 114),
    ],
)
def test_the_pace_is_found(
    clock: Clock,
    limit: type[Limited],
    wait: float,
    seconds: float,
) -> None:
    """All of 600 pages, in little more than the least time, with few refusals."""
    api = limit(clock, wait)
    assert api.read(600) <= seconds
    assert api.refused <= 0.1 * api.sent


def test_after_a_refusal_the_pace_rises_again(clock: Clock) -> None:
    api = Steady(clock)
    api.read(100)
    began = clock.now
    for _ in range(1000):
        send(api.traffic)
    assert clock.now - began < 0.2 * 1000 / 2


def test_the_pace_soon_rises_after_a_disturbance(clock: Clock) -> None:
    api = Failing(clock)
    api.read(1000)
    assert clock.now - 1180 < 600


def test_a_long_outage_does_not_slow_the_pace_down_for_ever(clock: Clock) -> None:
    traffic = traffic_of(1, clock)
    for _ in range(100):
        clock.now += 1
        send(traffic)
    for attempt in range(1, 30):
        refuse(traffic, clock, attempt=attempt)
    assert send(traffic) <= 2


def test_one_request_is_sent_until_one_succeeds(clock: Clock) -> None:
    traffic = Traffic(clock.limits, 8)
    assert places(traffic, clock) == 1
    page(traffic)
    assert places(traffic, clock) == 4


def failed(
    status: int | None = None,
    reason: Reason | None = None,
) -> StreamError:
    return StreamError(
        "failed",
        status=status,
        reason=reason,
        actions=Action(0),
    )


NO_CONNECTION = StreamError("failed", actions=Action.END_RUN)
LATE = failed(reason=Reason.NO_RESPONSE)
NO_KEY = failed(401)
NO_PAGE = failed(200, Reason.NOT_A_PAGE)
UNAVAILABLE = failed(503)
NOT_FOUND = failed(404)
NO_REQUEST = StreamError("failed")
NOT_ALLOWED = StreamError("failed", status=403)


@pytest.mark.parametrize(
    ("failures", "ends", "ends_after_a_page"),
    [
        ([NO_CONNECTION], True, True),
        ([NO_KEY, NO_KEY], True, False),
        ([LATE, LATE], True, False),
        ([UNAVAILABLE, NO_REQUEST, UNAVAILABLE], True, False),
        ([UNAVAILABLE, NOT_FOUND, UNAVAILABLE], False, False),
        ([NO_PAGE, LATE], False, False),
        ([LATE, NOT_ALLOWED, LATE], True, False),
        ([NO_REQUEST, NO_REQUEST], False, False),
    ],
)
def test_what_ends_a_run(
    failures: list[StreamError],
    *,
    ends: bool,
    ends_after_a_page: bool,
) -> None:
    traffic = Traffic(Limits())
    assert_last_ends(traffic, failures, ends=ends)
    traffic = Traffic(Limits())
    page(traffic)
    assert_last_ends(traffic, failures, ends=ends_after_a_page)


def assert_last_ends(
    traffic: Traffic,
    failures: list[StreamError],
    *,
    ends: bool,
) -> None:
    """Assert whether the last failure ends the run, and that no other does."""
    *first, last = map(traffic.note_failure, failures)
    assert not any(first)
    assert last == ends


def test_how_long_requests_are_repeated_before_one_succeeds(clock: Clock) -> None:
    traffic = Traffic(clock.limits)
    for _ in range(2):
        with traffic.turn(Event(), StreamStats()):
            clock.now += 2.5
    limit = busy(0, Action.WAIT_OUT)
    assert traffic.seconds_left(LATE) == 15
    assert traffic.seconds_left(limit) == 900
    traffic.note_failure(LATE)
    assert not traffic.seconds_left(LATE), "another stream has tried"
    assert not traffic.seconds_left(limit)
    page(traffic)
    assert traffic.seconds_left(LATE) == inf


def test_a_rate_limit_is_waited_out_for_as_long_as_no_page_comes(clock: Clock) -> None:
    traffic = traffic_of(4, clock)
    limit = busy(0, Action.WAIT_OUT)
    traffic.note_refusal(limit, 1, clock.now)
    clock.now += 899
    assert traffic.seconds_left(limit) == 1
    page(traffic)
    assert traffic.seconds_left(limit) == 900
