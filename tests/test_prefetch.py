"""Windows that are read at once, and handed over in the order of time."""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import nullcontext
from itertools import islice
from threading import Barrier, Event
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tap_leadintent import prefetch
from tap_leadintent.decoding import Page
from tap_leadintent.prefetch import Prefetch
from tap_leadintent.windows import Window, Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.pacing import Check

PATIENCE = 60
DAY = 86400
Told = list[tuple[int, int]]
"""The starts of windows, and the numbers of their pages."""


class TroubleError(Exception):
    """What a chain may run into."""


def page(number: int, *, has_more: bool, padding: int = 0) -> Page:
    record = {"n": number, "x": "x" * padding}
    cursor = {"has_more": has_more, "next": "c"}
    return Page(json.dumps({"data": [record], "cursor": cursor}).encode())


def chain(pages: int, padding: int = 0) -> Iterator[Page]:
    for number in range(1, pages + 1):
        yield page(number, has_more=number < pages, padding=padding)


def fixed(count: int) -> Windows:
    """Make windows of one second each."""
    return Windows([(0, count)], page_size=1, readers=4, length=1)


def nothing_wrong() -> None:
    """Stand for a run to which nobody sends a signal."""


def reading(
    windows: Windows,
    read: Callable[[Window, Check], Iterator[Page]],
    check: Check = nothing_wrong,
    readers: int = 4,
) -> Prefetch:
    return Prefetch(windows, read, readers=readers, check=check)


def tell(read: Prefetch, told: Told) -> None:
    """Take everything."""
    for window, pages in read:
        told.extend((window.start, one.decode().data[0]["n"]) for one in pages)


def readers_alive() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("reader")]


@pytest.fixture(autouse=True)
def _no_thread_is_left_behind() -> Iterator[None]:
    yield
    assert readers_alive() == []


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


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=12),
    failures=st.sets(st.tuples(st.integers(0, 11), st.integers(0, 5)), max_size=3),
    readers=st.integers(1, 8),
    padding=st.sampled_from([0, 40_000]),
)
def test_all_pages_before_a_failure_come_in_order_and_once(
    lengths: list[int], failures: set[tuple[int, int]], readers: int, padding: int
) -> None:
    def read(window: Window, check: Check) -> Iterator[Page]:
        pages = chain(lengths[window.start], padding)
        for number, one in enumerate(pages):
            check()
            if (window.start, number) in failures:
                raise TroubleError(window.start)
            yield one

    expected: Told = []
    failed = None
    for start, length in enumerate(lengths):
        after = [at for where, at in failures if where == start and at < length]
        expected += [(start, n) for n in range(1, min([length, *after]) + 1)]
        if after:
            failed = start
            break
    told: Told = []
    trouble = pytest.raises(TroubleError) if failed is not None else nullcontext()
    with (
        mock.patch("tap_leadintent.prefetch.MOST_BYTES", 100_000),
        trouble,
        reading(fixed(len(lengths)), read, readers=readers) as all_read,
    ):
        tell(all_read, told)
    assert told == expected
    assert readers_alive() == []


def test_nothing_is_begun_beyond_a_failure() -> None:
    failed = Event()
    begun: list[int] = []

    def read(window: Window, check: Check) -> Iterator[Page]:
        begun.append(window.start)
        if window.start == 1:
            failed.set()
            raise TroubleError
        if window.start == 0:
            assert failed.wait(PATIENCE)
        yield from chain(1)
        # The others have begun beside the one that fails, and go on until they are
        # told to end.
        while window.start > 1:
            check()

    told: Told = []
    with pytest.raises(TroubleError), reading(fixed(50), read) as all_read:
        tell(all_read, told)
    assert told == [(0, 1)]
    assert len(begun) <= 4


@pytest.mark.parametrize("padding", [10_000, 2_000_000])
def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch, padding: int) -> None:
    monkeypatch.setattr(prefetch, "MOST_BYTES", 100_000)
    lock = threading.Lock()
    waiting: list[Page] = []
    most = 0

    def read(_window: Window, _check: Check) -> Iterator[Page]:
        nonlocal most
        for one in chain(20, padding):
            with lock:
                waiting.append(one)
                most = max(most, sum(other.size for other in waiting))
            yield one

    count = 0
    with reading(fixed(10), read) as all_read:
        for _, pages in all_read:
            for one in pages:
                count += 1
                with lock:
                    waiting.remove(one)
    assert count == 200
    # Each thread looks before it asks for a page, and one page is in somebody's hand.
    assert most <= 100_000 + 6 * (padding + 5_000)


def test_the_window_that_is_handed_over_never_waits_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prefetch, "MOST_BYTES", 100_000)
    full = Event()
    others = 0

    def read(window: Window, _check: Check) -> Iterator[Page]:
        nonlocal others
        for one in chain(5, 50_000):
            if window.start:
                others += 1
                if others == 2:
                    full.set()
            else:
                assert full.wait(PATIENCE)
            yield one

    told: Told = []
    with reading(fixed(5), read) as all_read:
        tell(all_read, told)
    assert len(told) == 25


def test_nobody_stands_still_for_want_of_room_while_a_page_is_awaited(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prefetch, "MOST_BYTES", 100_000)
    others_are_read = Event()
    done: list[int] = []

    def read(window: Window, _check: Check) -> Iterator[Page]:
        if window.start == 0:
            assert others_are_read.wait(PATIENCE)
        yield from chain(5, 50_000)
        done.append(window.start)
        if len(done) == 3:
            others_are_read.set()

    told: Told = []
    with reading(fixed(4), read) as all_read:
        tell(all_read, told)
    assert told == [(start, number) for start in range(4) for number in range(1, 6)]


def test_a_window_on_trial_comes_whole_or_not_at_all() -> None:
    taken = Event()

    def read(window: Window, _check: Check) -> Iterator[Page]:
        for one in chain(1 if window.most_pages is None else 12):
            yield one
            # Time for whoever would take it too early.
            assert window.most_pages is None or not taken.wait(0.05)

    told: Told = []
    with reading(Windows([(0, DAY)], page_size=1, readers=4), read) as all_read:
        for window, pages in all_read:
            if window.most_pages is not None:
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


def test_a_failure_of_a_window_read_ahead_comes_after_all_before_it() -> None:
    def read(window: Window, _check: Check) -> Iterator[Page]:
        if window.start > 390 * DAY:
            raise TroubleError
        yield from chain(1)

    told: Told = []
    windows = Windows([(0, 400 * DAY)], page_size=1, readers=4)
    with pytest.raises(TroubleError), reading(windows, read) as all_read:
        tell(all_read, told)
    assert told[0] == (0, 1)
    assert len(told) > 1


def test_no_window_is_begun_beyond_an_end_that_is_learnt_late() -> None:
    learnt = Event()

    def read(window: Window, _check: Check) -> Iterator[Page]:
        assert window.start == 0 or learnt.wait(PATIENCE)
        yield from chain(1)

    told: Told = []
    with reading(fixed(100), read) as all_read:
        first, pages = next(iter(all_read))
        assert (first.start, len(list(pages))) == (0, 1)
        all_read.end_by(10)
        learnt.set()
        tell(all_read, told)
    assert told == [(start, 1) for start in range(1, 10)]


def test_a_signal_ends_what_waits_on_both_sides() -> None:
    signalled = Event()

    def check() -> None:
        if signalled.is_set():
            raise SystemExit(143)

    def read(_window: Window, check: Check) -> Iterator[Page]:
        yield from chain(1)
        signalled.set()
        while True:
            check()

    with (
        pytest.raises(SystemExit, match="143"),
        reading(fixed(9), read, check) as all_read,
    ):
        tell(all_read, [])


def test_whoever_wants_no_more_leaves_no_thread() -> None:
    def read(_window: Window, check: Check) -> Iterator[Page]:
        while True:
            check()
            yield page(1, has_more=True)

    with reading(fixed(9), read) as all_read:
        _, pages = next(iter(all_read))
        assert len(list(islice(pages, 3))) == 3


def test_a_mistake_in_a_thread_is_an_error_of_the_run() -> None:
    def read(_window: Window, _check: Check) -> Iterator[Page]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), reading(fixed(9), read) as all_read:
        tell(all_read, [])
