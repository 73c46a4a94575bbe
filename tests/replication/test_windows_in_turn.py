"""Which window is handed out next, after what the ones before have shown."""

from __future__ import annotations

from itertools import islice
from math import ceil, log2
from typing import Any

import pytest

from tap_leadintent.replication.intervals import union
from tap_leadintent.replication.windows import NARROWEST_SECONDS, Window, Windows
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
    # Readers that have not asked in vain are not idle; some may never have begun.
    window = windows.next()
    assert window is not None
    assert not window.is_kept
    assert [windows.goes_on(window) for _ in range(32)] == [True] * 31 + [False]


def test_a_window_is_given_up_sooner_while_most_readers_have_nothing_to_do() -> None:
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


def refuse(windows: Windows, *, wider_than: float) -> tuple[list[Window], list[Window]]:
    """Give what eight readers read, and what is refused as it is longer."""
    read: list[Window] = []
    refused: list[Window] = []
    while out := list(islice(iter(windows.next, None), 8)):
        for window in out:
            if window.end - window.start <= wider_than:
                windows.done(window, records=3, requests=1)
                read.append(window)
            elif window.end - window.start <= NARROWEST_SECONDS:
                return read, [*refused, window]
            else:
                windows.narrow(window)
                refused.append(window)
    return read, refused


KINDS: dict[str, dict[str, Any]] = {
    "trial": {"readers": 1},
    "quiet": {"readers": 4, "quiet": True},
    "probes": {"readers": 8},
    "fixed": {"readers": 8, "length": 90 * DAY},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("widest", "span"), [(31 * DAY, 2 * YEAR), (7 * DAY, 2 * YEAR), (4000, YEAR // 4)]
)
def test_what_is_refused_is_read_in_narrower_windows(
    kind: str, widest: int, span: int
) -> None:
    windows = Windows([(0, span)], page_size=PAGE, **KINDS[kind])
    read, refused = refuse(windows, wider_than=widest)
    assert windows.finished
    assert union([(start, end) for start, end, _ in read]) == [(0, span)]
    assert sum(end - start for start, end, _ in read) == span
    assert len(refused) <= 8 + log2(span / 3600)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_refuses_everything_is_soon_asked_no_more(kind: str) -> None:
    windows = Windows([(0, 2 * YEAR)], page_size=PAGE, **KINDS[kind])
    read, refused = refuse(windows, wider_than=0)
    assert not read
    assert refused[-1].end - refused[-1].start == NARROWEST_SECONDS
    assert len(refused) <= 8 + ceil(log2(2 * YEAR / NARROWEST_SECONDS))


def test_after_a_refusal_one_window_is_tried_alone() -> None:
    windows = Windows([(0, 90 * DAY)], page_size=PAGE, readers=4, length=30 * DAY)
    first, *others = list(iter(windows.next, None))
    windows.narrow(first)
    assert windows.next() is None
    for window in others:
        windows.narrow(window)
    assert windows.next() == Window(0, 15 * DAY)
    assert windows.next() is None
    windows.done(Window(0, 15 * DAY), records=0, requests=1)
    assert windows.next() == Window(15 * DAY, 30 * DAY)
    assert windows.next() == Window(30 * DAY, 45 * DAY)


def test_a_survey_of_windows_that_are_too_wide_begins_anew_with_the_oldest() -> None:
    windows = Windows([(0, YEAR)], page_size=PAGE, readers=4)
    first, second = windows.next(), windows.next()
    assert first
    assert second
    windows.narrow(first)
    windows.done(second, records=0, requests=1)
    later = list(iter(windows.next, None))
    assert later[0].start == 0
    assert all(window.end - window.start == DAY // 2 for window in later)


def test_what_is_refused_is_not_left_beyond_the_servers_clock() -> None:
    windows = Windows([(0, 90 * DAY)], page_size=PAGE, length=90 * DAY)
    window = windows.next()
    assert window
    windows.end_by(10 * DAY)
    windows.narrow(window)
    assert windows.next() == Window(0, 10 * DAY)
    assert windows.oldest_left is None
