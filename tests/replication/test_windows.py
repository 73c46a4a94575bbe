"""How a range is cut for several readers: quickly, in few requests, in short chains."""

from __future__ import annotations

from functools import cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.sandbox.data.shelf import Shelf
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.options import Options
from tests.support.histories import (
    CLUSTERS,
    DAY,
    HISTORIES,
    PAGE,
    SHAPES,
    YEAR,
    History,
    clustered,
    gently_growing,
    office_hours,
    shaped,
    uniform,
)
from tests.support.rounds import Server, read

if TYPE_CHECKING:
    from collections.abc import Callable

READERS = [1, 4, 8, 16, 32]
LONGEST_CHAIN = 32
MOST_WAITING = 150


class Bounds(NamedTuple):
    """Multiples of pages / readers rounds, and of pages requests (and 12 more)."""

    rounds: float
    requests: float
    rounds_of_16: float
    """With 16 readers, and six rounds more."""


SMALL = {
    "even": Bounds(1.15, 1.15, 1.15),
    "growing": Bounds(1.25, 1.15, 1.25),
    "fading": Bounds(1.3, 1.2, 1.3),
    "office": Bounds(1.25, 1.15, 1.25),
    "tail": Bounds(1.35, 1.2, 1.35),
    "head": Bounds(1.35, 1.2, 1.35),
    "bursts": Bounds(1.9, 1.5, 2.35),
    "import": Bounds(1.8, 1.5, 1.8),
}
LARGE = {
    "even": Bounds(1.15, 1.15, 1.15),
    "growing": Bounds(1.15, 1.15, 1.15),
    "fading": Bounds(1.15, 1.2, 1.15),
    "office": Bounds(1.15, 1.15, 1.22),
    "tail": Bounds(1.25, 1.2, 1.25),
    "head": Bounds(1.25, 1.2, 1.25),
    "bursts": Bounds(1.6, 1.5, 1.71),
    "import": Bounds(1.6, 1.5, 1.6),
}


@cache
def history(shape: str, count: int) -> History:
    return shaped(count, SHAPES[shape])


@pytest.mark.parametrize("served", [100, 50])
@pytest.mark.parametrize("readers", READERS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bounds", [SMALL, LARGE], ids=["20_000", "200_000"])
def test_every_history_is_read_quickly_and_in_few_requests(
    bounds: dict[str, Bounds], shape: str, readers: int, served: int
) -> None:
    """Also where a page holds half of what was asked for, as servers may decide."""
    count = 20_000 if bounds is SMALL else 200_000
    pages, most = count / served, bounds[shape]
    played = read(history(shape, count), 0, YEAR, readers, server=Server(served))
    assert sum(played.records) >= count
    assert played.longest <= LONGEST_CHAIN
    assert played.waiting <= MOST_WAITING
    if readers <= 8:
        assert played.requests <= most.requests * pages + 12
        assert readers == 1 or played.rounds <= most.rounds * pages / readers
    elif readers == 16:
        assert played.requests <= 1.1 * (most.requests * pages + 12)
        assert played.rounds <= most.rounds_of_16 * pages / readers + 6


@pytest.mark.parametrize("readers", READERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_short_and_empty_pages_mislead_nobody(shape: str, readers: int) -> None:
    """Nearly a third of the pages are, and each of them is a request."""
    server = Server(is_uneven=True)
    times = history(shape, 20_000)
    least = server.pages(Window(0, YEAR), len(times.times))
    played = read(times, 0, YEAR, readers, server=server)
    assert played.longest <= LONGEST_CHAIN
    most = {"bursts": 3.6, "head": 2.0}.get(shape, 2.0 if readers > 16 else 1.8)
    assert played.requests <= most * least


@pytest.mark.parametrize("years", [0.5, 2, 10, 26])
@pytest.mark.parametrize("shape", ["even", "office", "import"])
def test_a_start_long_before_the_first_record_costs_little(
    shape: str, years: float
) -> None:
    early = int(years * YEAR)
    late = History([early + time for time in history(shape, 20_000).times])
    played = read(late, 0, early + YEAR, 8)
    assert played.longest <= LONGEST_CHAIN
    assert played.rounds <= 2.1 * 200 / 8
    assert played.requests <= 1.9 * 200


@example([(3_224_466, 3600)], 16, 1)
@example([(0, 1), (0, 145_333), (759, 180_983), (0, 168_792)], 3, 1)
@example([(93_501, 745)], 3, 1)
@given(CLUSTERS, st.integers(1, 16), st.sampled_from([1, 20, 200]))
def test_any_clusters_are_read_in_a_bounded_number_of_requests(
    clusters: list[tuple[int, int]], readers: int, shrinking: int
) -> None:
    """What lies in the very second of an edge counts twice: it has to be read twice.

    Each cluster has to be found, by halving the stretch that it was found in.
    """
    times = History([time // shrinking for time in clustered(clusters).times])
    played = read(times, 0, (YEAR + 30 * DAY) // shrinking, readers)
    most = 3 * sum(ceil(held / PAGE) for held in played.records)
    assert played.requests <= most + 80 * len(clusters) + 20


@pytest.mark.parametrize("readers", READERS)
def test_a_crowded_moment_is_not_cut_up(readers: int) -> None:
    """Each cut costs the records of a second, which are read twice."""
    times = History(uniform(200_000, span=600))
    assert read(times, 0, 600, readers).requests <= 1.3 * times.pages


@pytest.mark.parametrize("readers", READERS)
def test_a_crowded_second_is_one_chain(readers: int) -> None:
    times = HISTORIES["all in one second"]
    played = read(times, 0, YEAR, readers)
    assert max(played.pages) == times.pages
    assert played.requests <= 3 * times.pages


@pytest.mark.parametrize("span", [30 * DAY, 90 * DAY, YEAR, 3 * YEAR])
@pytest.mark.parametrize("times", [uniform, gently_growing])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_readers_share_the_work(
    seed: int, times: Callable[[int, int, int], list[int]], span: int
) -> None:
    played = read(History(times(20_000, seed, span)), 0, span, 8)
    assert played.rounds <= 1.3 * 200 / 8
    assert played.requests <= 1.15 * 200 + 12


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_nights_and_weekends_do_not_mislead(seed: int) -> None:
    played = read(History(office_hours(20_000, seed)), 0, YEAR, 8)
    assert played.rounds <= 1.25 * 200 / 8


@pytest.mark.parametrize("quiet_days", [0, 31])
def test_readers_share_the_sandboxes_leads(quiet_days: int) -> None:
    options = Options(sizes={"leads": 20_000})
    shelf = Shelf(ENDPOINTS["leads"], options)
    times = [entry.found // 1_000_000 for entry in shelf.entries.values()]
    start, end = options.begin // 1_000_000, options.start // 1_000_000
    played = read(History(times), start - quiet_days * DAY, end, 8)
    assert played.rounds <= 1.3 * 200 / 8
    assert played.requests <= 1.15 * 200 + 12


@pytest.mark.parametrize("readers", READERS)
def test_a_quiet_stretch_costs_one_request(readers: int) -> None:
    for records in (0, 5, 400):
        times = History(uniform(records, span=29 * DAY))
        assert len(read(times, 0, 29 * DAY, readers).windows) == 1


@pytest.mark.parametrize("readers", [1, 2, 8, 32])
def test_a_long_empty_stretch_costs_its_probes(readers: int) -> None:
    assert read(History([]), 0, 10 * YEAR, readers).requests <= 15


@given(
    st.lists(st.integers(0, 60 * DAY), max_size=2000),
    st.integers(1, 60 * DAY),
    st.integers(1, 16),
    st.one_of(st.none(), st.integers(DAY // 10, 9 * DAY)),
    st.booleans(),
)
@example(times=[5] * 1000, end=30, readers=4, length=None, uneven=False)
@example(times=[5] * 1000, end=100, readers=4, length=None, uneven=True)
@example(times=[5] * 9000, end=60 * DAY, readers=4, length=None, uneven=True)
def test_windows_cover_the_range_without_gap_or_overlap(
    times: list[int],
    end: int,
    readers: int,
    length: int | None,
    uneven: bool,  # noqa: FBT001
) -> None:
    server = Server(is_uneven=uneven)
    played = read(History(times), 0, end, readers, length=length, server=server)
    windows = sorted(played.windows)
    edges = [window.start for window in windows] + [end]
    assert edges[0] == 0
    assert [window.end for window in windows] == edges[1:]
    assert all(window.start < window.end for window in windows)


@pytest.mark.parametrize("days", [1, 29, 31, 700])
def test_a_stretch_that_is_likely_quiet_is_tried_whole_with_nothing_beside_it(
    days: int,
) -> None:
    assert read(History([]), 0, days * DAY, 8, quiet=True).requests == 1
    windows = Windows([(0, days * DAY)], page_size=PAGE, readers=8, quiet=True)
    trial = windows.next()
    assert trial is not None
    assert trial[:2] == (0, days * DAY)
    assert windows.next() is None
    while windows.goes_on(trial):
        assert windows.next() is None
    assert windows.next() is not None
