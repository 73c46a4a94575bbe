"""Threads that send requests, and how they end."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager, closing, contextmanager
from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING
from weakref import ReferenceType, ref

import pytest

from tap_leadintent.errors import StreamError
from tests.support.reading import (
    PATIENCE,
    Told,
    TroubleError,
    number_of,
    page,
    read,
    seconds,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.replication.schedule import Reading

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")


def only_page(_: Reading) -> Page:
    return page(1, has_more=False)


def test_so_many_windows_are_read_at_once() -> None:
    together = Barrier(4)

    def send(_: Reading) -> Page:
        together.wait(PATIENCE)
        return page(1, has_more=False)

    told: Told = []
    tell(read(seconds(8), send), told)
    assert told == [(start, 1) for start in range(8)]


def test_a_late_window_is_waited_for_and_the_others_after_it() -> None:
    last_is_read = Event()

    def send(reading: Reading) -> Page:
        if reading.window.start == 0:
            assert last_is_read.wait(PATIENCE)
        number = number_of(reading)
        if (reading.window.start, number) == (5, 2):
            last_is_read.set()
        return page(number, has_more=number < 2)

    told: Told = []
    tell(read(seconds(6), send), told)
    assert told == [(start, number) for start in range(6) for number in (1, 2)]


@pytest.mark.parametrize("failing", [0, 4, 9])
def test_a_failure_comes_after_all_that_lies_before_it(failing: int) -> None:
    def send(reading: Reading) -> Page:
        if reading.window.start == failing:
            raise TroubleError
        return page(1, has_more=False)

    told: Told = []
    with pytest.raises(TroubleError):
        tell(read(seconds(10), send), told)
    assert told == [(start, 1) for start in range(failing)]


def test_a_signal_ends_the_wait_for_a_page_and_a_request_is_not_waited_for() -> None:
    is_over = Event()

    def send(_: Reading) -> Page:
        assert is_over.wait(PATIENCE)
        return page(1, has_more=False)

    def waiting() -> AbstractContextManager[None]:
        raise SystemExit(143)

    with pytest.raises(SystemExit, match="143"):
        tell(read(seconds(9), send, waiting=waiting), [])
    is_over.set()


def test_whoever_wants_no_more_stops_the_requests() -> None:
    def send(reading: Reading) -> Page:
        return page(number_of(reading), has_more=True)

    all_read = read(seconds(9), send)
    with closing(iter(all_read)) as items:
        assert [next(items)[0].start for _ in range(3)] == [0, 0, 0]
    assert all_read.stopped.is_set()


def test_what_nobody_took_is_forgotten_in_the_end() -> None:
    all_are_read = Event()
    pages: list[ReferenceType[Page]] = []

    def send(reading: Reading) -> Page:
        one = page(number_of(reading), has_more=number_of(reading) < 3)
        pages.append(ref(one))
        if len(pages) == 27:
            all_are_read.set()
        return one

    all_read = read(seconds(9), send, readers=1)
    items = iter(all_read)
    next(items)
    assert all_are_read.wait(PATIENCE)
    items.close()
    del all_read, items
    gc.collect()
    assert not any(one() for one in pages)


@contextmanager
def threads_that_start(most: int) -> Iterator[None]:
    """Let no more threads start."""
    start, left = Thread.start, [None] * most

    def limited(thread: Thread) -> None:
        if not left:
            msg = "can't start new thread"
            raise RuntimeError(msg)
        left.pop()
        start(thread)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Thread, "start", limited)
        yield


def test_fewer_threads_than_asked_for_read_everything() -> None:
    told: Told = []
    with threads_that_start(3):
        all_read = read(seconds(9), only_page)
    assert all_read.readers == 2
    tell(all_read, told)
    assert told == [(start, 1) for start in range(9)]


@pytest.mark.parametrize("most", [0, 1])
def test_without_a_thread_the_stream_fails(most: int) -> None:
    with threads_that_start(most), pytest.raises(StreamError, match="allows no thread"):
        read(seconds(9), only_page)
