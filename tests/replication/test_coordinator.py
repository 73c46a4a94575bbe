"""Threads that send requests, and how they end."""

from __future__ import annotations

import gc
import threading
from threading import Barrier, Event, Thread
from typing import TYPE_CHECKING
from weakref import ReferenceType, ref

import pytest

from tap_leadintent.errors import StreamError
from tests.support.helpers import readers_alive
from tests.support.reading import (
    PATIENCE,
    Told,
    number_of,
    page,
    read,
    seconds,
    tell,
)

if TYPE_CHECKING:
    from tap_leadintent.api.page import Page
    from tap_leadintent.replication.schedule import Reading

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")


def test_so_many_windows_are_read_at_once_and_handed_over_in_order() -> None:
    together = Barrier(4)

    def send(_: Reading) -> Page:
        together.wait(PATIENCE)
        return page(1, has_more=False)

    told: Told = []
    tell(read(seconds(8), send), told)
    assert told == [(start, 1) for start in range(8)]


def test_a_signal_ends_the_wait_for_a_page_and_a_request_is_not_waited_for() -> None:
    is_over = Event()

    def send(_: Reading) -> Page:
        assert is_over.wait(PATIENCE)
        return page(1, has_more=False)

    def check() -> None:
        raise SystemExit(143)

    with pytest.raises(SystemExit, match="143"):
        tell(read(seconds(9), send, check=check), [])
    is_over.set()


def test_closing_stops_the_requests_and_forgets_the_pages() -> None:
    pages: list[ReferenceType[Page]] = []

    def send(reading: Reading) -> Page:
        one = page(number_of(reading), has_more=True)
        pages.append(ref(one))
        return one

    all_read = read(seconds(9), send)
    items = iter(all_read)
    assert [next(items)[0].start for _ in range(3)] == [0, 0, 0]
    items.close()
    assert all_read.stopped.is_set()
    assert readers_alive() == []
    for thread in threading.enumerate():
        if thread.name == "coordinator":
            thread.join(PATIENCE)
    del all_read, items
    gc.collect()
    assert len(pages) >= 3
    assert not any(one() for one in pages)


@pytest.mark.parametrize("most", [0, 1])
def test_without_a_thread_the_stream_fails(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    start, left = Thread.start, [None] * most

    def limited(thread: Thread) -> None:
        if not left:
            msg = "can't start new thread"
            raise RuntimeError(msg)
        left.pop()
        start(thread)

    monkeypatch.setattr(Thread, "start", limited)
    with pytest.raises(StreamError, match="allows no thread"):
        read(seconds(9), lambda _: page(1, has_more=False))
