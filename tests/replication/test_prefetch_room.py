"""What waits to be handed over: within bounds, and forgotten in the end."""

from __future__ import annotations

import gc
import threading
import time
from math import ceil
from threading import Event
from typing import TYPE_CHECKING
from weakref import ReferenceType, ref

import pytest

from tap_leadintent.replication import page_buffer
from tap_leadintent.replication.windows import Windows
from tests.support.histories import SHAPES, YEAR, shaped
from tests.support.prefetching import (
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
    from tap_leadintent.replication.windows import Window

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")


@pytest.mark.parametrize("padding", [10_000, 2_000_000])
def test_what_waits_is_bounded(monkeypatch: pytest.MonkeyPatch, padding: int) -> None:
    monkeypatch.setattr(page_buffer, "MOST_BYTES", 100_000)
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
    # Each thread checks the room before it asks for a page, and this test holds one.
    assert most <= 100_000 + 6 * (padding + 5_000)


def test_the_window_that_is_handed_over_never_waits_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_buffer, "MOST_BYTES", 100_000)
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


@pytest.mark.parametrize("readers", [2, 4, 16])
@pytest.mark.parametrize("shape", ["office", "bursts", "import"])
def test_without_room_for_a_page_everything_is_read_all_the_same(
    monkeypatch: pytest.MonkeyPatch, shape: str, readers: int
) -> None:
    monkeypatch.setattr(page_buffer, "MOST_BYTES", 1)
    history = shaped(2000, SHAPES[shape])
    begun = time.monotonic()

    def read(window: Window, _check: Check) -> Iterator[Page]:
        yield from chain(max(1, ceil(history.held(window) / 10)))

    def check() -> None:
        assert time.monotonic() - begun < PATIENCE, "nothing is read any more"

    windows = Windows([(0, YEAR)], page_size=10, readers=readers)
    covered = 0
    with reading(windows, read, check, readers=readers) as all_read:
        for window, pages in all_read:
            assert window.start == covered
            assert len(list(pages)) == max(1, ceil(history.held(window) / 10))
            covered = window.end
    assert covered == YEAR


def test_what_nobody_took_is_forgotten_in_the_end() -> None:
    all_is_read = Event()
    pages: list[ReferenceType[Page]] = []

    def read(window: Window, _check: Check) -> Iterator[Page]:
        for one in chain(3):
            pages.append(ref(one))
            yield one
        if window.start == 8:
            all_is_read.set()

    all_read = reading(fixed(9), read, readers=1)
    with all_read:
        assert all_is_read.wait(PATIENCE)
    gc.collect()
    assert len(pages) == 27
    assert not any(one() for one in pages)
    # It is still referenced, and references no page.
    assert all_read.readers == 1
