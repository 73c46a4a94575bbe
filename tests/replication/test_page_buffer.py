"""Pages that wait: in order, within bounds, and none after a failure."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tap_leadintent.replication import page_buffer
from tap_leadintent.replication.page_buffer import PageBuffer, StoppedError
from tap_leadintent.replication.windows import Windows
from tests.support.prefetching import fixed, nothing_wrong, page

if TYPE_CHECKING:
    from tap_leadintent.replication.reading import Reading


def new_buffer(windows: int) -> PageBuffer:
    return PageBuffer(fixed(windows), check=nothing_wrong, check_threads=nothing_wrong)


def begin(buffer: PageBuffer) -> Reading:
    reading = buffer.begin()
    assert reading
    return reading


def test_pages_come_in_the_order_of_their_windows() -> None:
    buffer = new_buffer(2)
    one, other = begin(buffer), begin(buffer)
    for number in (1, 2):
        buffer.put(other, page(number, has_more=number < 2))
    buffer.put(one, page(3, has_more=False))
    for reading in (other, one):
        buffer.done(reading)
    told = [
        (window.start, [one.decode().data[0]["n"] for one in pages])
        for window, pages in buffer
    ]
    assert told == [(0, [3]), (1, [1, 2])]


def test_a_window_has_ended_with_its_last_page() -> None:
    """Else a signal could come after that page is written, and it would not count."""
    buffer = new_buffer(1)
    buffer.put(begin(buffer), page(1, has_more=False))
    _, pages = next(iter(buffer))
    assert len([*islice(pages, 1)]) == 1
    buffer.fail(SystemExit(143))
    assert [*pages] == []


def test_room_is_free_again_once_pages_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With room for one page, a put that had to wait would wait forever here."""
    large = page(1, has_more=True, padding=50_000)
    monkeypatch.setattr(page_buffer, "MOST_BYTES", large.size + 1)
    buffer = new_buffer(3)
    first = begin(buffer)
    buffer.put(first, large)
    _, pages = next(iter(buffer))
    assert next(pages) is large
    buffer.put(first, large)
    assert next(pages) is large


def test_what_is_given_up_takes_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    large = page(1, has_more=True, padding=50_000)
    monkeypatch.setattr(page_buffer, "MOST_BYTES", large.size + 1)
    windows = Windows([(0, 86400)], page_size=1, readers=4)
    buffer = PageBuffer(windows, check=nothing_wrong, check_threads=nothing_wrong)
    trial = begin(buffer)
    assert [buffer.put(trial, large) for _ in range(2)] == [True, False]
    piece = begin(buffer)
    assert piece.window.start == trial.window.start
    assert [buffer.put(piece, large) for _ in range(2)] == [True, False]


def test_a_page_that_comes_after_the_end_tells_its_reader_to_stop() -> None:
    """Also where its window would be given up, which is forgotten already."""
    windows = Windows([(0, 86400)], page_size=1, readers=4)
    buffer = PageBuffer(windows, check=nothing_wrong, check_threads=nothing_wrong)
    trial = begin(buffer)
    assert buffer.put(trial, page(1, has_more=True))
    buffer.stop()
    for has_more in (True, False):
        with pytest.raises(StoppedError):
            buffer.put(trial, page(1, has_more=has_more))


def test_without_room_probes_go_on_while_nothing_can_be_handed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What lies before them is read only once they have shown what they hold."""
    naps = iter(range(20))

    def check() -> None:
        assert next(naps, None) is not None, "waits for room that is never made"

    monkeypatch.setattr(page_buffer, "MOST_BYTES", 1)
    windows = Windows([(0, 365 * 86400)], page_size=1, readers=8)
    buffer = PageBuffer(windows, check=check, check_threads=nothing_wrong)
    first, second, *_ = [begin(buffer) for _ in range(8)]
    buffer.put(first, page(1, has_more=False))
    buffer.done(first)
    _, pages = next(iter(buffer))
    assert len(list(pages)) == 1
    assert buffer.put(second, page(1, has_more=True))


def test_only_what_comes_after_a_failure_is_not_read() -> None:
    buffer = new_buffer(3)
    before, failed, after = (begin(buffer) for _ in range(3))
    buffer.done(failed, ValueError())
    buffer.check(before)
    with pytest.raises(StoppedError):
        buffer.check(after)


def test_once_stopped_nothing_goes_on() -> None:
    buffer = new_buffer(2)
    reading = begin(buffer)
    assert buffer.stop()
    assert not buffer.stop()
    assert buffer.begin() is None
    with pytest.raises(StoppedError):
        buffer.check(reading)
    with pytest.raises(StoppedError):
        next(iter(buffer))
