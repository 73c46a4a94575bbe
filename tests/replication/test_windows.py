"""How a range is cut for several readers: quickly, in few requests, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.sandbox.data.shelf import Shelf
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.options import Options
from tests.support.histories import (
    DAY,
    HISTORIES,
    PAGE,
    YEAR,
    History,
    clustered,
    gently_growing,
    growing,
    office_hours,
    uniform,
)

if TYPE_CHECKING:
    from collections.abc import Callable

READERS = [1, 4, 8, 16]


@dataclass
class Reading:
    """What it took to read a history; a round is the time that one request takes."""

    requests: int = 0
    records: int = 0
    rounds: int = 0
    windows: list[Window] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)


def read(  # noqa: PLR0913
    times: list[int] | History,
    start: int,
    end: int,
    readers: int = 1,
    length: int | None = None,
    *,
    quiet: bool = False,
) -> Reading:
    """Read a history with readers that take a round for a page and never stall."""
    history = times if isinstance(times, History) else History(times)
    windows = Windows(
        [(start, end)], page_size=PAGE, readers=readers, length=length, quiet=quiet
    )
    reading = Reading()
    events: list[tuple[int, int, Window, int]] = []
    handed_out = 0
    while True:
        while len(events) < readers and (window := windows.next()):
            handed_out += 1
            heappush(events, (reading.rounds + 1, handed_out, window, 1))
        if not events:
            break
        reading.rounds, number, window, page = heappop(events)
        reading.requests += 1
        held = history.held(window)
        if held <= page * PAGE:
            windows.done(window, records=held, requests=page)
            reading.records += held
            reading.windows.append(window)
            reading.pages.append(page)
        elif page == window.most_pages:
            windows.give_up(window)
        else:
            windows.goes_on(window)
            heappush(events, (reading.rounds + 1, number, window, page + 1))
    assert windows.finished
    assert windows.oldest_left is None
    return reading


def most_requests(records: int, readers: int) -> float:
    """Beyond 8 readers, each may hold one more window that turns out to be empty."""
    return 1.15 * ceil(records / PAGE) + 12 + max(0, readers - 8)


CLUSTERS = st.lists(
    st.tuples(st.integers(0, YEAR), st.integers(1, 30 * DAY)), max_size=30
)


@pytest.mark.parametrize("readers", READERS)
@pytest.mark.parametrize("history", HISTORIES.values(), ids=HISTORIES)
def test_requests_stay_near_the_least_possible(history: History, readers: int) -> None:
    requests = read(history, 0, YEAR, readers).requests
    assert requests <= most_requests(len(history.times), readers)


@example([(3_224_466, 3600)], 16, 1)
@example([(0, 1), (0, 145_333), (759, 180_983), (0, 168_792)], 3, 1)
@example([(93_501, 745)], 3, 1)
@given(CLUSTERS, st.integers(1, 16), st.sampled_from([1, 20, 200]))
def test_requests_stay_near_the_least_possible_for_any_clusters(
    clusters: list[tuple[int, int]], readers: int, shrinking: int
) -> None:
    """What lies in the very second of an edge counts twice: it has to be read twice."""
    history = History([time // shrinking for time in clustered(clusters).times])
    reading = read(history, 0, (YEAR + 30 * DAY) // shrinking, readers)
    assert reading.requests <= most_requests(reading.records, readers)


@pytest.mark.parametrize("readers", READERS)
def test_a_crowded_moment_is_not_cut_up(readers: int) -> None:
    """Each cut costs the records of a second, which are read twice."""
    history = History(uniform(200_000, span=600))
    assert read(history, 0, 600, readers).requests <= 1.05 * history.pages


@pytest.mark.parametrize("readers", READERS)
def test_windows_grow_when_part_filled_pages_add_up(readers: int) -> None:
    draw = Random(114)  # noqa: S311
    history = History(
        [draw.randrange(20) * YEAR // 20 + draw.randrange(7200) for _ in range(18_000)]
    )
    most = 1.08 * history.pages + max(0, readers - 8)
    assert read(history, 0, YEAR, readers).requests <= most


@pytest.mark.parametrize("span", [30 * DAY, 90 * DAY, YEAR, 3 * YEAR])
@pytest.mark.parametrize("times", [uniform, gently_growing])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_readers_share_the_work(
    seed: int, times: Callable[[int, int, int], list[int]], span: int
) -> None:
    history = History(times(20_000, seed, span))
    reading = read(history, 0, span, 8)
    assert reading.rounds <= 1.2 * 200 / 8 + (times is gently_growing)
    assert reading.requests <= 1.15 * 200
    assert read(history, 0, span, 16).rounds <= 1.4 * 200 / 16


def test_on_average_a_seventh_of_the_time_is_lost() -> None:
    histories = [uniform(20_000, seed) for seed in range(20)]
    rounds = [read(history, 0, YEAR, 8).rounds for history in histories]
    assert sum(rounds) <= 1.16 * 200 / 8 * len(rounds)


def test_one_reader_takes_large_windows_as_the_history_grows() -> None:
    assert read(growing(20_000), 0, YEAR).requests <= 1.1 * 200


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nights_and_weekends_do_not_mislead(seed: int) -> None:
    reading = read(office_hours(20_000, seed), 0, YEAR, 8)
    assert reading.rounds <= 1.25 * 200 / 8


@pytest.mark.parametrize("quiet_days", [0, 31])
def test_readers_share_the_sandboxes_leads(quiet_days: int) -> None:
    options = Options(sizes={"leads": 20_000})
    shelf = Shelf(ENDPOINTS["leads"], options)
    times = [entry.found // 1_000_000 for entry in shelf.entries.values()]
    start, end = options.begin // 1_000_000, options.start // 1_000_000
    reading = read(times, start - quiet_days * DAY, end, 8)
    assert reading.rounds <= (1.3 if quiet_days else 1.2) * 200 / 8
    assert reading.requests <= 1.15 * 200


@pytest.mark.parametrize("early", [30, 90, 180, 365, 500, 730])
def test_a_start_long_before_the_first_record_costs_few_requests(early: int) -> None:
    for seed in range(5):
        reading = read(uniform(20_000, seed), -early * DAY, YEAR, 8)
        assert reading.requests <= 1.15 * 200


def test_a_long_quiet_beginning_leaves_work_for_all_readers() -> None:
    for seed in range(5):
        times = [YEAR + time for time in uniform(20_000, seed)]
        assert read(times, 0, 2 * YEAR, 8).rounds <= 2 * 200 / 8


@pytest.mark.parametrize("readers", READERS)
@pytest.mark.parametrize("history", [h for h in HISTORIES if h[0] in "ug"])
def test_no_window_of_a_history_without_bursts_holds_more_than_20_pages(
    history: str, readers: int
) -> None:
    assert max(read(HISTORIES[history], 0, YEAR, readers).pages) <= 20


@pytest.mark.parametrize(("readers", "most"), [(1, 9), (8, 9), (16, 7), (32, 4)])
def test_what_all_readers_hold_at_once_is_bounded(readers: int, most: int) -> None:
    pages = sorted(read(uniform(50_000), 0, YEAR, readers).pages)
    assert sum(pages[-readers:]) <= most * readers
    # Of so many readers, the last windows are few but may be longer.
    assert pages[-1] <= (20 if readers == 32 else most)


@pytest.mark.parametrize("readers", READERS[1:])
def test_windows_shrink_towards_the_end(readers: int) -> None:
    pages = read(uniform(20_000), 0, YEAR, readers).pages
    assert max(pages[-3:]) <= 3 < max(pages)


@pytest.mark.parametrize("readers", READERS)
def test_a_quiet_stretch_costs_one_request(readers: int) -> None:
    for records in (0, 5, 400):
        reading = read(uniform(records, span=29 * DAY), 0, 29 * DAY, readers)
        assert len(reading.windows) == 1


@pytest.mark.parametrize(("readers", "most"), [(1, 1), (2, 6), (8, 7), (32, 7)])
def test_a_long_quiet_stretch_costs_a_few(readers: int, most: int) -> None:
    assert read([], 0, 10 * YEAR, readers).requests <= most


@given(
    st.lists(st.integers(0, 60 * DAY), max_size=2000),
    st.integers(1, 60 * DAY),
    st.integers(1, 16),
    st.one_of(st.none(), st.integers(DAY // 10, 9 * DAY)),
)
@example(times=[5] * 1000, end=30, readers=4, length=None)
@example(times=[5] * 1000, end=100, readers=4, length=None)
def test_windows_cover_the_range_without_gap_or_overlap(
    times: list[int], end: int, readers: int, length: int | None
) -> None:
    windows = sorted(read(times, 0, end, readers, length).windows)
    edges = [window.start for window in windows] + [end]
    assert edges[0] == 0
    assert [window.end for window in windows] == edges[1:]
    assert all(window.start < window.end for window in windows)


@given(CLUSTERS, st.integers(1, 16), st.sampled_from([None, 7 * DAY]))
def test_nothing_stands_still_while_readers_wait_for_older_windows(
    clusters: list[tuple[int, int]], readers: int, length: int | None
) -> None:
    history = clustered(clusters)
    end = YEAR + 30 * DAY
    windows = Windows([(0, end)], page_size=PAGE, readers=readers, length=length)
    out: list[Window] = []
    ahead: list[Window] = []
    while not windows.finished:
        while len(out) < readers and (window := windows.next()):
            out.append(window)
            left = windows.oldest_left
            if left is not None and left < window.start:
                ahead.append(window)
        front = min(out, key=lambda window: window.start)
        left = windows.oldest_left
        moving = [window for window in out if window.most_pages is not None]
        if left is None or left > front.start:
            moving.append(front)
        assert moving
        out.remove(moving[0])
        held = history.held(moving[0])
        pages = max(1, ceil(held / PAGE))
        if pages > (moving[0].most_pages or pages):
            windows.give_up(moving[0])
        else:
            windows.done(moving[0], records=held, requests=pages)
    assert len(ahead) <= 2
    assert all((window.most_pages or 99) <= 2 for window in ahead)


@pytest.mark.parametrize("years", [0.1, 0.5, 1, 2, 3, 5, 8, 26])
@pytest.mark.parametrize("times", [uniform, gently_growing, office_hours])
@pytest.mark.parametrize(("count", "most"), [(20_000, 2.7), (200_000, 2.25)])
def test_a_start_long_before_the_first_record_leaves_work_for_all_readers(
    count: int, most: float, times: Callable[[int], list[int]], years: float
) -> None:
    """With one chain, it would be 8 times the ideal."""
    early = int(years * YEAR)
    reading = read([early + time for time in times(count)], 0, early + YEAR, 8)
    assert reading.rounds <= most * count / PAGE / 8
    assert reading.requests <= most_requests(count, 8)


@pytest.mark.parametrize("days", [1, 29, 31, 700])
def test_a_stretch_that_is_likely_quiet_is_tried_whole_with_nothing_beside_it(
    days: int,
) -> None:
    assert read([], 0, days * DAY, 8, quiet=True).requests == 1
    windows = Windows([(0, days * DAY)], page_size=PAGE, readers=8, quiet=True)
    trial = windows.next()
    assert trial is not None
    assert trial[:2] == (0, days * DAY)
    assert windows.next() is None
    windows.give_up(trial)
    assert windows.next() is not None
