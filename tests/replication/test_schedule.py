"""What is requested next, and what is handed over, in the order of time."""

from contextlib import nullcontext
from math import ceil
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.page import Page
from tap_leadintent.replication import schedule as module
from tap_leadintent.replication.windows import Window, Windows
from tests.support.reading import (
    in_one_thread,
    number_of,
    page,
    schedule_of,
    seconds,
)
from tests.support.rounds import SHAPES, YEAR, shaped


class TroubleError(Exception):
    """What a request may run into."""


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
    def send(window: Window, number: int) -> Page:
        if (window.start, number) in failures:
            raise TroubleError
        has_more = number < lengths[window.start]
        return page(number, has_more=has_more, padding=padding)

    expected: list[tuple[int, int]] = []
    failed = False
    for start, length in enumerate(lengths):
        after = [n for where, n in failures if where == start and n <= length]
        expected += [(start, n) for n in range(1, min([length + 1, *after]))]
        if failed := bool(after):
            break
    told: list[tuple[int, int]] = []
    windows = Windows(
        [(0, len(lengths))], page_size=1, readers=readers, widest=1, quiet=True
    )
    with (
        mock.patch.object(module, "MOST_BYTES", 100_000),
        pytest.raises(TroubleError) if failed else nullcontext(),
    ):
        for window, one in in_one_thread(windows, send, seed):
            told.append((window.start, number_of(one)))
    assert told == expected


@pytest.mark.parametrize("padding", [10_000, 2_000_000])
def test_what_waits_is_bounded(padding: int) -> None:
    sent = taken = most = 0

    def send(_: Window, number: int) -> Page:
        nonlocal sent, most
        sent += 1
        most = max(most, sent - taken)
        return page(number, has_more=number < 20, padding=padding)

    with mock.patch.object(module, "MOST_BYTES", 100_000):
        for _ in in_one_thread(seconds(10), send, 1):
            taken += 1
    assert sent == taken == 200
    # Each reader may have one more page under way.
    assert most <= 100_000 / padding + 5


@pytest.mark.parametrize("readers", [2, 4, 16])
@pytest.mark.parametrize("shape", ["office", "bursts", "import"])
@pytest.mark.parametrize("most_bytes", [1, module.MOST_BYTES])
def test_each_window_comes_whole_also_without_room_for_a_page(
    most_bytes: int, shape: str, readers: int
) -> None:
    """Also those that may be given up: they come whole or not at all."""
    history = shaped(2000, SHAPES[shape])

    def send(window: Window, number: int) -> Page:
        return page(number, has_more=number < ceil(history.held(window) / 10))

    windows = Windows([(0, YEAR)], page_size=10, readers=readers)
    covered = expected = 0
    with mock.patch.object(module, "MOST_BYTES", most_bytes):
        for window, one in in_one_thread(windows, send, readers):
            expected += 1
            assert (window.start, number_of(one)) == (covered, expected)
            if not one.cursor.has_more:
                assert expected == max(1, ceil(history.held(window) / 10))
                covered, expected = window.end, 0
    assert covered == YEAR


def test_pages_that_nobody_takes_stop_the_requests_and_no_others_do() -> None:
    schedule, waiting, taken = schedule_of(seconds(50)), [], 0
    with mock.patch.object(module, "MOST_BYTES", 100_000):
        while not schedule.is_finished:
            while asking := [*schedule.requests()]:
                for reading in asking:
                    schedule.take(reading, page(1, padding=40_000))
                waiting += [one for _, one in schedule.handed_over()]
            # Each of four readers may have one more under way.
            assert 0 < len(waiting) <= 100_000 / 40_000 + 4
            while waiting:
                schedule.make_room(waiting.pop().size)
                taken += 1
    assert taken == 50
