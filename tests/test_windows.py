"""How a time range is cut: few requests, small windows, whatever the history."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from math import ceil
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.windows import Window, Windows

DAY = 86400
YEAR = 365 * DAY
PAGE = 100


@dataclass
class Reading:
    """What it took to read a history."""

    requests: int
    windows: list[Window]
    pages: list[int]


def read(times: list[int], start: int, end: int, length: int | None = None) -> Reading:
    """Read a history as the tap does, windows overlapping by a second."""
    times = sorted(times)
    windows = Windows([(start, end)], page_size=PAGE, length=length)
    reading = Reading(0, [], [])
    while window := windows.next():
        held = bisect_right(times, window.end) - bisect_left(times, window.start - 1)
        pages = max(1, ceil(held / PAGE))
        if window.most_pages is not None and pages > window.most_pages:
            reading.requests += window.most_pages
            windows.give_up(window)
            continue
        reading.requests += pages
        reading.windows.append(window)
        reading.pages.append(pages)
        windows.done(window, records=held, requests=pages)
    return reading


def uniform(count: int, seed: int = 1, span: int = YEAR) -> list[int]:
    draw = Random(seed)  # noqa: S311
    return [draw.randrange(span) for _ in range(count)]


def growing(count: int) -> list[int]:
    draw = Random(1)  # noqa: S311
    return [int(YEAR * draw.random() ** 0.5) for _ in range(count)]


def bursts(count: int) -> list[int]:
    draw = Random(1)  # noqa: S311
    days = [draw.randrange(365) for _ in range(5)]
    return [
        draw.choice(days) * DAY + draw.randrange(DAY)
        if draw.random() < 0.8
        else draw.randrange(YEAR)
        for _ in range(count)
    ]


def daily(count: int) -> list[int]:
    draw = Random(1)  # noqa: S311
    return [n % 365 * DAY + 30_000 + draw.randrange(300) for n in range(count)]


HISTORIES = {
    **{f"uniform {n}": uniform(n) for n in (0, 1, 99, 100, 101, 500, 5000, 200_000)},
    "growing": growing(100_000),
    "bursts": bursts(50_000),
    "bursts every day": daily(100_000),
    "all in one second": [YEAR // 2 + 17] * 20_000,
}


@pytest.mark.parametrize("history", HISTORIES)
def test_requests_stay_near_the_least_possible(history: str) -> None:
    times = HISTORIES[history]
    assert read(times, 0, YEAR).requests <= 1.15 * ceil(len(times) / PAGE) + 12


def test_windows_grow_when_part_filled_pages_add_up() -> None:
    draw = Random(114)  # noqa: S311
    times = [
        draw.randrange(20) * YEAR // 20 + draw.randrange(7200) for _ in range(18_000)
    ]
    assert read(times, 0, YEAR).requests <= 1.08 * ceil(len(times) / PAGE)


@given(st.lists(st.tuples(st.integers(0, YEAR), st.integers(1, 30 * DAY)), max_size=30))
def test_requests_stay_near_the_least_possible_for_any_clusters(
    clusters: list[tuple[int, int]],
) -> None:
    times = [
        start + time
        for seed, (start, span) in enumerate(clusters)
        for time in uniform(300, seed, span)
    ]
    end = YEAR + 30 * DAY
    assert read(times, 0, end).requests <= 1.15 * ceil(len(times) / PAGE) + 12


@pytest.mark.parametrize("history", [h for h in HISTORIES if h[0] in "ug"])
def test_no_window_of_a_history_without_bursts_holds_more_than_20_pages(
    history: str,
) -> None:
    assert max(read(HISTORIES[history], 0, YEAR).pages) <= 20


def test_windows_shrink_towards_the_end() -> None:
    pages = read(uniform(20_000), 0, YEAR).pages
    assert pages[-1] < max(pages)


def test_a_quiet_stretch_costs_one_request() -> None:
    assert read([], 0, 10 * YEAR).requests == 1


@given(
    st.lists(st.integers(0, 30 * DAY), max_size=400),
    st.integers(1, 30 * DAY),
    st.one_of(st.none(), st.integers(DAY // 10, 9 * DAY)),
)
def test_windows_cover_the_range_without_gap_oldest_first(
    times: list[int], end: int, length: int | None
) -> None:
    windows = read(times, 0, end, length).windows
    edges = [window.start for window in windows] + [end]
    assert edges[0] == 0
    assert [window.end for window in windows] == edges[1:]
    assert edges == sorted(edges)


def test_a_fixed_length_is_kept() -> None:
    windows = read(uniform(5000), 0, YEAR, 7 * DAY).windows
    assert {w.end - w.start for w in windows[:-1]} == {7 * DAY}
    assert windows[-1].end - windows[-1].start <= 7 * DAY


def test_several_stretches_are_read_oldest_first() -> None:
    windows = Windows([(0, DAY), (5 * DAY, 6 * DAY)], page_size=PAGE)
    for stretch in [(0, DAY), (5 * DAY, 6 * DAY)]:
        window = windows.next()
        assert window is not None
        assert (window.start, window.end) == stretch
        windows.done(window, records=3, requests=1)
    assert windows.next() is None


def test_nothing_is_read_beyond_the_servers_clock() -> None:
    windows = Windows([(0, DAY), (5 * DAY, 6 * DAY)], page_size=PAGE, length=DAY)
    first = windows.next()
    assert first is not None
    windows.end_by(DAY // 2)
    windows.done(first, records=0, requests=1)
    assert windows.next() is None
