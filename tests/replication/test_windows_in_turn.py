"""Which window is handed out next, after what the ones before have shown."""

from __future__ import annotations

import pytest

from tap_leadintent.replication.windows import Window, Windows
from tests.support.histories import DAY, PAGE, YEAR


def test_a_short_stretch_is_first_tried_whole_with_nothing_beside_it() -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    assert trial == Window(0, DAY, 4)
    assert windows.next() is None
    assert not windows.finished
    assert windows.oldest_left is None
    windows.done(trial, records=400, requests=4)
    assert windows.next() is None
    assert windows.finished


def test_a_window_asks_for_one_second_more_than_it_covers() -> None:
    fields = Window(60, 120).request_fields("date_found")
    assert fields == {
        "date_found": {
            "start_time": "1970-01-01T00:00:59Z",
            "end_time": "1970-01-01T00:02:00Z",
        }
    }


@pytest.mark.parametrize(
    ("readers", "days"),
    [
        (1, [(0, 1), (1, 365)]),
        (4, [(0, 1), (182, 183), (364, 365), (1, 182), (183, 364)]),
    ],
)
def test_pages_without_records_make_the_next_window_as_long_as_can_be(
    readers: int, days: list[tuple[int, int]]
) -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=readers)
    read: list[tuple[int, int]] = []
    while not windows.finished:
        window = windows.next()
        assert window is not None
        if window.most_pages and window[:2] == (0, YEAR):
            windows.give_up(window)
        else:
            windows.done(window, records=0, requests=10_000)
            read.append((window.start // DAY, window.end // DAY))
    assert read == days
    assert windows.next() is None


def test_what_is_given_up_is_left_again() -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    assert trial is not None
    windows.give_up(trial)
    assert windows.oldest_left == 0
    front = windows.next()
    assert front is not None
    assert (front.start, front.most_pages) == (0, None)
    assert windows.oldest_left == front.end
    far = windows.next()
    assert far is not None
    assert far.start > front.end
    windows.done(front, records=90, requests=1)
    assert windows.oldest_left == front.end
    windows.give_up(far)
    assert windows.oldest_left == front.end


def test_probes_lie_far_apart_and_the_first_at_the_front() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    probes = [windows.next() for _ in range(3)]
    assert [probe and probe.start // DAY for probe in probes] == [0, 182, 364]
    assert windows.next() is None


def test_until_something_is_found_one_window_is_out() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    for probe in [windows.next() for _ in range(3)]:
        assert probe is not None
        windows.done(probe, records=0, requests=1)
    assert windows.next() is not None
    assert windows.next() is None


@pytest.mark.parametrize("readers", [1, 5])
def test_a_fixed_length_is_kept_and_all_readers_are_served(readers: int) -> None:
    windows = Windows([(0, 30 * DAY)], page_size=PAGE, readers=1, length=7 * DAY)
    out = [windows.next() for _ in range(readers)]
    starts = [0, 7, 14, 21, 28][:readers]
    ends = [7, 14, 21, 28, 30][:readers]
    assert out == [Window(a * DAY, b * DAY) for a, b in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("readers", [1, 4])
def test_several_stretches_are_read_oldest_first(readers: int) -> None:
    stretches = [(0, DAY), (5 * DAY, 6 * DAY)]
    windows = Windows(stretches, page_size=PAGE, readers=readers)
    for stretch in stretches:
        window = windows.next()
        assert window is not None
        assert (window.start, window.end) == stretch
        windows.done(window, records=3, requests=1)
    assert windows.next() is None
    assert windows.finished


def test_stretches_are_tried_one_after_the_other() -> None:
    windows = Windows([(0, DAY), (5 * DAY, 6 * DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    assert trial is not None
    assert windows.next() is None
    windows.give_up(trial)
    assert windows.oldest_left == 0


def test_windows_of_the_next_stretch_need_not_wait() -> None:
    stretches = [(0, DAY), (5 * DAY, 6 * DAY)]
    windows = Windows(stretches, page_size=PAGE, readers=2, length=DAY)
    assert [windows.next(), windows.next()] == [Window(*s) for s in stretches]


def test_nothing_is_handed_out_beyond_the_servers_clock() -> None:
    windows = Windows([(0, DAY), (5 * DAY, 6 * DAY)], page_size=PAGE, length=DAY)
    first = windows.next()
    assert first is not None
    windows.end_by(DAY // 2)
    assert windows.oldest_left is None
    assert not windows.finished
    windows.done(first, records=0, requests=1)
    assert windows.next() is None
    assert windows.finished


def test_no_probe_lies_beyond_the_servers_clock() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    front = windows.next()
    assert front is not None
    windows.end_by(100 * DAY)
    assert windows.next() is None
    windows.done(front, records=0, requests=1)
    windows.end_by(3600)
    assert windows.finished


@pytest.mark.parametrize("latest", [0, 30, 3600, DAY // 2])
def test_what_is_given_up_is_not_left_beyond_the_servers_clock(latest: int) -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    assert trial is not None
    windows.end_by(latest)
    windows.give_up(trial)
    read: list[Window] = []
    while not windows.finished:
        out = list(iter(windows.next, None))
        for window in out:
            windows.done(window, records=PAGE, requests=1)
        read += out
    assert sum(window.end - window.start for window in read) == latest
    assert all(window.end <= latest for window in read)
    assert windows.oldest_left is None


def test_a_probe_beyond_the_servers_clock_that_is_given_up_is_left_no_more() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    front, middle, far = [windows.next() for _ in range(3)]
    assert front is not None
    assert middle is not None
    assert far is not None
    windows.end_by(100 * DAY)
    windows.give_up(middle)
    windows.give_up(far)
    windows.done(front, records=PAGE, requests=1)
    last = 0
    while window := windows.next():
        windows.done(window, records=PAGE, requests=1)
        last = window.end
    assert windows.finished
    assert last == 100 * DAY


def test_a_probe_ends_with_its_stretch() -> None:
    windows = Windows([(0, 30), (DAY, 2 * DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    assert trial is not None
    windows.give_up(trial)
    probe = windows.next()
    assert probe is not None
    assert probe[:2] == (0, 30)
