"""How reading ends early: failures, signals, and readers that are stopped."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import islice
from threading import Event, Thread, current_thread
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tap_leadintent.replication import prefetch
from tap_leadintent.replication.page_buffer import StoppedError
from tap_leadintent.replication.windows import Window, Windows
from tests.support.helpers import readers_alive
from tests.support.prefetching import (
    DAY,
    PATIENCE,
    Told,
    TroubleError,
    chain,
    fixed,
    page,
    reading,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")


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
        mock.patch("tap_leadintent.replication.page_buffer.MOST_BYTES", 100_000),
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


def test_who_waits_for_an_answer_that_nobody_wants_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cut_off: set[str] = set()

    def hang_up(threads: list[Thread]) -> None:
        cut_off.update(thread.name for thread in threads)

    monkeypatch.setattr(prefetch, "hang_up", hang_up)

    def read(_window: Window, _check: Check) -> Iterator[Page]:
        yield page(1, has_more=True)
        while current_thread().name not in cut_off:
            Event().wait(0.01)

    with reading(fixed(9), read) as all_read:
        _, pages = next(iter(all_read))
        assert next(pages).count == 1
    assert len(cut_off) == 4


def test_what_was_stopped_does_not_look_complete() -> None:
    def read(_window: Window, _check: Check) -> Iterator[Page]:
        yield from chain(1)

    told: Told = []
    all_read = reading(fixed(3), read)
    with all_read:
        pass
    with pytest.raises(StoppedError):
        tell(all_read, told)
    assert told == []


def test_a_mistake_in_a_thread_is_an_error_of_the_run() -> None:
    def read(_window: Window, _check: Check) -> Iterator[Page]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), reading(fixed(9), read) as all_read:
        tell(all_read, [])


class BrokenWindows(Windows):
    """Break where a test wants."""

    def __init__(self, count: int, broken: str) -> None:
        super().__init__([(0, count)], page_size=1, readers=2, widest=1, quiet=True)
        self._broken = broken

    def next(self) -> Window | None:
        window = super().next()
        if self._broken == "next" and window and window.start == 3:
            raise MemoryError
        return window

    def done(self, window: Window, *, records: int) -> None:
        super().done(window, records=records)
        if self._broken == "done" and window.start == 3:
            raise MemoryError


@pytest.mark.parametrize("count", [4, 9])
@pytest.mark.parametrize("broken", ["next", "done"])
@pytest.mark.parametrize("readers", [1, 2])
def test_what_breaks_the_reading_itself_is_an_error_of_the_run(
    count: int, broken: str, readers: int
) -> None:
    def read(_window: Window, _check: Check) -> Iterator[Page]:
        yield from chain(2)

    told: Told = []
    windows = BrokenWindows(count, broken)
    with pytest.raises(MemoryError), reading(windows, read, readers=readers) as broke:
        tell(broke, told)
    assert told == [(n // 2, n % 2 + 1) for n in range(len(told))]
    assert len(told) <= 2 * 4
