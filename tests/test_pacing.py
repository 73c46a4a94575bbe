"""Waits: what a server asks for, how tries are spread, what all share."""

from __future__ import annotations

import signal
from email.utils import formatdate
from itertools import pairwise
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.interruption import Interruption
from tap_leadintent.pacing import LONGEST_BACKOFF, Pace, backoff, retry_after

from .helpers import EPOCH

if TYPE_CHECKING:
    from .helpers import Clock

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
    with mock.patch("tap_leadintent.pacing.random.uniform") as uniform:
        backoff(attempt)
    longest = min(LONGEST_BACKOFF, 2**attempt)
    assert uniform.call_args == mock.call(0, longest)


def test_backoff_differs() -> None:
    assert len({backoff(4) for _ in range(20)}) > 1


def test_a_rest_holds_everyone(clock: Clock) -> None:
    pace = Pace(Interruption())
    pace.rest(30)
    assert pace.wait_for_turn() == pytest.approx(30)
    assert pace.wait_for_turn() == 0
    assert clock.now == pytest.approx(1030)


def test_a_shorter_rest_does_not_shorten_a_longer_one(clock: Clock) -> None:
    pace = Pace(Interruption())
    pace.rest(30)
    clock.now += 1
    pace.rest(2)
    assert pace.wait_for_turn() == pytest.approx(29)


@pytest.mark.parametrize(("limit", "gap"), [(1, 60), (60, 1), (7, 8.572), (600, 0.1)])
def test_a_ceiling_spreads_requests_evenly(
    clock: Clock, limit: int, gap: float
) -> None:
    pace = Pace(Interruption(), limit)
    times = []
    for _ in range(6):
        pace.wait_for_turn()
        times.append(clock.now)
    gaps = [after - before for before, after in pairwise(times)]
    assert min(gaps) >= gap - 0.001
    assert max(gaps) < gap + 0.05


@pytest.mark.parametrize("wait", ["wait", "rest", "ceiling"])
def test_a_signal_ends_a_wait(clock: Clock, wait: str) -> None:
    interruption = Interruption()
    pace = Pace(interruption, 1)
    pace.wait_for_turn()
    real = clock.sleep

    def sleep(seconds: float) -> None:
        real(seconds)
        interruption.signal(signal.SIGTERM)

    clock.sleep = sleep  # type: ignore[method-assign]
    if wait == "rest":
        pace.rest(600)
    with pytest.raises(SystemExit) as caught:
        pace.wait(600) if wait == "wait" else pace.wait_for_turn()
    assert caught.value.code == 128 + signal.SIGTERM
    assert clock.now < 1001


def test_a_ceiling_needs_no_memory(clock: Clock) -> None:
    with mock.patch("pyrate_limiter.SingleBucketFactory", autospec=True) as factory:
        Pace(Interruption(), 600)
    (bucket,) = factory.call_args.args
    for _ in range(100):
        clock.now += 1
        bucket.put(mock.Mock(timestamp=clock.monotonic_ns() // 10**6, weight=1))
    assert bucket.count() < 5
