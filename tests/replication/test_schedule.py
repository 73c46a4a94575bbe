"""What is requested next, and what is handed over, in the order of time."""

from __future__ import annotations

from contextlib import nullcontext
from math import ceil
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication import schedule as module
from tap_leadintent.replication.windows import Windows
from tests.support.histories import SHAPES, YEAR, shaped
from tests.support.reading import (
    DAY,
    OneThread,
    Told,
    TroubleError,
    number_of,
    page,
    schedule_of,
    seconds,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Event

    from tap_leadintent.api.page import Page
    from tap_leadintent.replication.schedule import Reading


def in_one_thread(
    windows: Windows, send: Callable[[Reading], Page], seed: int, readers: int = 4
) -> OneThread:
    def answer(reading: Reading, _: Event) -> Page:
        return send(reading)

    reads = OneThread(schedule_of(windows, readers), answer, readers=readers)
    reads.seed = seed
    return reads


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    failures=st.sets(st.tuples(st.integers(0, 11), st.integers(1, 6)), max_size=3),
    readers=st.integers(1, 8),
    padding=st.sampled_from([0, 40_000]),
    seed=st.integers(0, 2**16),
)
def test_all_pages_before_a_failure_come_in_order_and_once(
    lengths: list[int],
    failures: set[tuple[int, int]],
    readers: int,
    padding: int,
    seed: int,
) -> None:
    def send(reading: Reading) -> Page:
        start, number = reading.window.start, number_of(reading)
        if (start, number) in failures:
            raise TroubleError
        return page(number, has_more=number < lengths[start], padding=padding)

    expected: Told = []
    failed = False
    for start, length in enumerate(lengths):
        after = [n for where, n in failures if where == start and n <= length]
        expected += [(start, n) for n in range(1, min([length + 1, *after]))]
        if failed := bool(after):
            break
    told: Told = []
    with (
        mock.patch.object(module, "MOST_BYTES", 100_000),
        pytest.raises(TroubleError) if failed else nullcontext(),
    ):
        tell(in_one_thread(seconds(len(lengths)), send, seed, readers), told)
    assert told == expected


def test_little_is_requested_beyond_a_failure() -> None:
    begun: list[int] = []

    def send(reading: Reading) -> Page:
        begun.append(reading.window.start)
        if reading.window.start == 1:
            raise TroubleError
        return page(1, has_more=False)

    with pytest.raises(TroubleError):
        tell(in_one_thread(seconds(500), send, 0), [])
    assert len(begun) < 100


def test_a_window_that_may_be_given_up_comes_whole_or_not_at_all() -> None:
    def send(reading: Reading) -> Page:
        number, seconds = number_of(reading), reading.window.end - reading.window.start
        return page(number, has_more=number < ceil(12 * seconds / DAY))

    told: Told = []
    tell(in_one_thread(Windows([(0, DAY)], page_size=1, readers=4), send, 0), told)
    by_window = {start: [n for s, n in told if s == start] for start, _ in told}
    assert all(ns == [*range(1, len(ns) + 1)] for ns in by_window.values())
    assert len(by_window) > 1


@pytest.mark.parametrize("padding", [10_000, 2_000_000])
def test_what_waits_is_bounded(padding: int) -> None:
    sent = taken = most = 0

    def send(reading: Reading) -> Page:
        nonlocal sent, most
        sent += 1
        most = max(most, sent - taken)
        return page(
            number_of(reading), has_more=number_of(reading) < 20, padding=padding
        )

    with mock.patch.object(module, "MOST_BYTES", 100_000):
        for _, one in in_one_thread(seconds(10), send, 1):
            taken += one is not None
    assert sent == taken == 200
    # Each reader may have one more page under way.
    assert most <= 100_000 / padding + 5


@pytest.mark.parametrize("readers", [2, 4, 16])
@pytest.mark.parametrize("shape", ["office", "bursts", "import"])
def test_without_room_for_a_page_everything_is_read_all_the_same(
    shape: str, readers: int
) -> None:
    history = shaped(2000, SHAPES[shape])

    def send(reading: Reading) -> Page:
        number = number_of(reading)
        return page(number, has_more=number < ceil(history.held(reading.window) / 10))

    windows = Windows([(0, YEAR)], page_size=10, readers=readers)
    covered = count = 0
    with mock.patch.object(module, "MOST_BYTES", 1):
        for window, one in in_one_thread(windows, send, readers, readers):
            if one is not None:
                count += 1
                continue
            assert window.start == covered
            assert count == max(1, ceil(history.held(window) / 10))
            covered, count = window.end, 0
    assert covered == YEAR


def test_pages_that_nobody_takes_stop_the_requests_and_no_others_do() -> None:
    schedule, waiting, taken = schedule_of(seconds(50)), [], 0
    with mock.patch.object(module, "MOST_BYTES", 100_000):
        while not schedule.is_finished:
            while asking := [*schedule.requests()]:
                for reading in asking:
                    schedule.take(reading, page(1, has_more=False, padding=40_000))
                handed = [one for _, one in schedule.handed_over() if one is not None]
                waiting += handed
            # Each of four readers may have one more under way.
            assert 0 < len(waiting) <= 100_000 / 40_000 + 4
            while waiting:
                schedule.make_room(waiting.pop().size)
                taken += 1
    assert taken == 50
