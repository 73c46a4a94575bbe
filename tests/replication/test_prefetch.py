"""Windows that are read at once, and handed over in the order of time."""

from __future__ import annotations

from collections import Counter
from threading import Barrier, Event
from typing import TYPE_CHECKING

import pytest

from tap_leadintent.replication.windows import Window, Windows
from tests.support.prefetching import (
    DAY,
    PATIENCE,
    Told,
    chain,
    fixed,
    reading,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")


def test_so_many_windows_are_read_at_once() -> None:
    together = Barrier(4)

    def read(_window: Window, _check: Check) -> Iterator[Page]:
        together.wait(PATIENCE)
        yield from chain(1)

    told: Told = []
    with reading(fixed(8), read) as all_read:
        tell(all_read, told)
    assert told == [(start, 1) for start in range(8)]


def test_a_late_window_is_waited_for_and_the_others_after_it() -> None:
    others_are_read = Event()
    done: Counter[int] = Counter()

    def read(window: Window, _check: Check) -> Iterator[Page]:
        if window.start == 0:
            assert others_are_read.wait(PATIENCE)
        yield from chain(2)
        done[window.start] += 1
        if len(done) == 5:
            others_are_read.set()

    told: Told = []
    with reading(fixed(6), read) as all_read:
        tell(all_read, told)
    assert told == [(start, number) for start in range(6) for number in (1, 2)]


def test_a_window_on_trial_comes_whole_or_not_at_all() -> None:
    taken = Event()

    def read(window: Window, _check: Check) -> Iterator[Page]:
        is_trial = window[:2] == (0, DAY)
        for one in chain(12 if is_trial else 1):
            yield one
            # Time for a thread that would take it too early.
            assert not is_trial or not taken.wait(0.05)

    told: Told = []
    with reading(Windows([(0, DAY)], page_size=1, readers=4), read) as all_read:
        for window, pages in all_read:
            if window[:2] == (0, DAY):
                taken.set()
            told.extend((window.start, one.decode().data[0]["n"]) for one in pages)
    assert not taken.is_set()
    assert {number for _, number in told} == {1}
    assert len(told) > 1


def test_windows_that_are_read_ahead_wait_for_those_between() -> None:
    def read(_window: Window, _check: Check) -> Iterator[Page]:
        yield from chain(1)

    told: Told = []
    windows = Windows([(0, 400 * DAY)], page_size=1, readers=4)
    with reading(windows, read) as all_read:
        tell(all_read, told)
    starts = [start for start, _ in told]
    assert starts == sorted(starts)
    assert len(starts) > 3
