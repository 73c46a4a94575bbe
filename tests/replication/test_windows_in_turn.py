"""Which window is handed out next, after what the ones before have shown."""

from __future__ import annotations

from itertools import islice

import pytest

from tap_leadintent.replication.windows import Window, Windows
from tests.support.histories import DAY, PAGE, YEAR


def test_a_short_stretch_is_first_tried_whole_with_nothing_beside_it() -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    assert trial == Window(0, DAY, is_kept=False)
    assert windows.next() is None
    assert not windows.finished
    assert windows.oldest_left is None
    windows.done(trial, records=400, requests=4)
    assert windows.next() is None
    assert windows.finished


def give_up(windows: Windows, window: Window | None) -> None:
    """Show full pages until the window is given up."""
    assert window is not None
    assert not all(windows.goes_on(window) for _ in range(100))


def test_what_is_given_up_is_left_again() -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, readers=4)
    give_up(windows, windows.next())
    front, *_, far = list(iter(windows.next, None))
    windows.done(front, records=90, requests=1)
    give_up(windows, far)
    assert windows.oldest_left == far.start


def test_a_long_stretch_is_sounded_out_from_its_beginning_to_its_end() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    probes = list(iter(windows.next, None))
    days = [(probe.start // DAY, probe.end // DAY) for probe in probes]
    assert days[:2] == [(0, 1), (52, 53)]
    assert days[-1] == (364, 365)


def test_where_no_probe_found_anything_a_page_is_asked_of_all_between() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    for probe in list(iter(windows.next, None)):
        windows.done(probe, records=0, requests=1)
    between = list(iter(windows.next, None))
    assert [window.start // DAY for window in between] == [
        1,
        53,
        105,
        157,
        209,
        261,
        313,
    ]
    assert not windows.goes_on(between[0])


def test_what_is_given_up_is_cut_in_eight() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=1)
    for probe in list(iter(windows.next, None)):
        windows.done(probe, records=0, requests=1)
    unknown = list(iter(windows.next, None))
    give_up(windows, unknown[0])
    for gap in unknown[1:]:
        windows.done(gap, records=0, requests=1)
    pieces = [windows.next() for _ in range(8)]
    assert [piece and piece.start // DAY for piece in pieces] == [
        1 + n * 51 // 8 for n in range(8)
    ]


def test_a_window_is_given_up_at_32_pages() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    for probe in list(iter(windows.next, None)):
        windows.done(probe, records=10, requests=1)
    # The other readers have nothing to do, but there is more to hand out.
    window = windows.next()
    assert window is not None
    assert not window.is_kept
    assert [windows.goes_on(window) for _ in range(32)] == [True] * 31 + [False]


def test_a_window_is_given_up_sooner_once_most_readers_have_nothing_left() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    for probe in list(iter(windows.next, None)):
        windows.done(probe, records=10, requests=1)
    window, *others = list(islice(iter(windows.next, None), 4))
    assert windows.goes_on(window)
    while others:
        for other in others:
            windows.done(other, records=10, requests=1)
        others = list(iter(windows.next, None))
    assert [windows.goes_on(window) for _ in range(6)] == [True] * 6
    assert not all(windows.goes_on(window) for _ in range(24))


def test_a_survey_ends_with_a_window_that_is_given_up() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=1)
    probe = windows.next()
    assert probe is not None
    while windows.goes_on(probe):
        pass
    piece = windows.next()
    assert piece is not None
    assert probe.start == piece.start < piece.end < probe.end


def test_a_survey_goes_on_beside_another_window_that_is_given_up() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=40)
    first, *probes = list(iter(windows.next, None))
    for probe in (first, *probes):
        windows.done(probe, records=PAGE, requests=1)
    out = list(islice(iter(windows.next, None), 20))
    dense, other = out[0], out[1]
    assert not all(windows.goes_on(dense) for _ in range(32))
    piece = windows.next()
    assert piece is not None
    assert dense.start <= piece.start < piece.end < dense.end
    assert not all(windows.goes_on(other) for _ in range(32))
    following = windows.next()
    assert following is not None
    assert following.start == piece.end


def test_a_survey_waits_for_room_beyond_the_oldest_window() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=40)
    for probe in list(iter(windows.next, None)):
        windows.done(probe, records=PAGE, requests=1)
    oldest, dense, full, *_ = list(islice(iter(windows.next, None), 20))
    assert all(windows.goes_on(dense) for _ in range(30))
    windows.done(full, records=150 * PAGE, requests=150)
    assert not windows.goes_on(dense)
    assert windows.next() is None
    windows.done(oldest, records=PAGE, requests=1)
    piece = windows.next()
    assert piece is not None
    assert dense.start == piece.start < piece.end < dense.end


def test_a_window_of_ten_seconds_is_never_given_up() -> None:
    short = Windows([(0, 10)], page_size=PAGE, readers=4)
    kept = short.next()
    assert kept is not None
    assert kept.is_kept
    assert all(short.goes_on(kept) for _ in range(1000))


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
    assert windows.next() is None
    give_up(windows, trial)
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
    probe = windows.next()
    assert probe is not None
    assert probe.end < 100 * DAY
    assert windows.next() is None
    windows.done(front, records=0, requests=1)
    windows.done(probe, records=0, requests=1)
    windows.end_by(3600)
    assert windows.finished


@pytest.mark.parametrize("latest", [0, 30, 3600, DAY // 2])
def test_what_is_given_up_is_not_left_beyond_the_servers_clock(latest: int) -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    windows.end_by(latest)
    give_up(windows, trial)
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
    front, *others = list(iter(windows.next, None))
    windows.end_by(100 * DAY)
    for probe in others:
        give_up(windows, probe)
    windows.done(front, records=PAGE, requests=1)
    last = 0
    while not windows.finished:
        for window in list(iter(windows.next, None)):
            windows.done(window, records=PAGE, requests=1)
            last = max(last, window.end)
    assert last == 100 * DAY


def test_a_stretch_that_follows_is_read_by_what_the_first_has_shown() -> None:
    windows = Windows([(0, 30), (DAY, 2 * DAY)], page_size=PAGE, readers=4)
    trial = windows.next()
    assert trial is not None
    windows.done(trial, records=50, requests=1)
    window = windows.next()
    assert window is not None
    assert window.start == DAY
    assert window.end < DAY + 3600
