"""Threads that send requests, and how they end."""

import gc
import threading
from contextlib import nullcontext
from threading import Barrier, Event
from typing import Any
from weakref import ReferenceType, ref

import pytest

from tap_leadintent.api.page import Page
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.windows import Window
from tests.support.reading import LOGGER, Send, fetch_by, page, schedule_of, seconds

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")

PATIENCE = 60


def read(send: Send, waiting: Any = nullcontext) -> Coordinator:
    """Read nine windows by four threads."""
    return Coordinator(schedule_of(seconds(9)), fetch_by(send), waiting, LOGGER)


def test_so_many_windows_are_read_at_once_and_handed_over_in_order() -> None:
    together = Barrier(4)

    def send(window: Window, number: int) -> Page:
        if window.start < 8:
            together.wait(PATIENCE)
        return page(number)

    assert [window.start for window, _ in read(send)] == [*range(9)]


def test_a_signal_ends_the_wait_for_a_page_and_a_request_is_not_waited_for() -> None:
    is_over = Event()

    def send(_: Window, number: int) -> Page:
        assert is_over.wait(PATIENCE)
        return page(number)

    def check() -> None:
        raise SystemExit(143)

    with pytest.raises(SystemExit, match="143"):
        next(iter(read(send, check)))
    is_over.set()


def test_closing_stops_the_requests_and_forgets_the_pages() -> None:
    pages: list[ReferenceType[Page]] = []

    def send(_: Window, number: int) -> Page:
        one = page(number, has_more=True)
        pages.append(ref(one))
        return one

    all_read = read(send)
    items = iter(all_read)
    assert [next(items)[0].start for _ in range(3)] == [0, 0, 0]
    items.close()
    assert all_read.stopped.is_set()
    for thread in threading.enumerate():
        if thread.name.startswith(("coordinator", "reader")):
            thread.join(PATIENCE)
    del all_read, items
    gc.collect()
    assert len(pages) >= 3
    assert not any(one() for one in pages)
