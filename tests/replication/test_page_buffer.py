"""Pages that wait: how many bytes they take, and which are packed first."""

from __future__ import annotations

from tap_leadintent.replication.page_buffer import Backlog
from tap_leadintent.replication.windows import Window
from tests.support.prefetching import page


def test_bytes_are_those_of_the_pages_that_wait() -> None:
    backlog = Backlog()
    one, other = (backlog.begin(Window(start, start + 1)) for start in (0, 1))
    pages = [page(number, has_more=True, padding=9 * number) for number in range(4)]
    for number, added in enumerate(pages):
        backlog.put(one if number < 3 else other, added)
    assert backlog.bytes == sum(added.size for added in pages)
    assert backlog.take(one) is pages[0]
    assert backlog.bytes == sum(added.size for added in pages[1:])
    backlog.forget(one)
    assert backlog.bytes == pages[3].size
    backlog.clear()
    assert (backlog.bytes, backlog.oldest) == (0, None)


def test_the_page_that_is_needed_last_is_packed_first() -> None:
    backlog = Backlog()
    late, early = (backlog.begin(Window(start, start + 1)) for start in (5, 2))
    pages = [page(number, has_more=True, padding=9000) for number in range(4)]
    for reading, added in zip([early, early, late, late], pages, strict=True):
        backlog.put(reading, added)
    assert backlog.oldest is early
    before = pages[0].size
    order = []
    for _ in pages:
        assert backlog.pack()
        order.append([n for n, packed in enumerate(pages) if packed.size < before])
        assert backlog.bytes == sum(packed.size for packed in pages)
    assert order == [[3], [2, 3], [1, 2, 3], [0, 1, 2, 3]]
    assert not backlog.pack()
    for reading in (early, late):
        assert backlog.take(reading).decode().data[0]["x"] == "x" * 9000


def test_only_what_comes_after_a_failure_is_beyond_it() -> None:
    backlog = Backlog()
    backlog.begin(Window(1, 2))
    backlog.begin(Window(3, 4)).error = ValueError()
    told = [backlog.is_beyond_failure(instant) for instant in (0, 2, 3, 4)]
    assert told == [False, False, False, True]
