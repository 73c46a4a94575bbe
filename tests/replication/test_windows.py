"""How a range is cut for several readers: quickly, in few requests, in short chains."""

from functools import cache
from math import ceil
from statistics import mean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tap_leadintent.replication.windows import NARROWEST, Windows
from tests.support.rounds import (
    BATCHES,
    CLUSTERS,
    DAY,
    PAGE,
    SHAPES,
    YEAR,
    History,
    Played,
    Server,
    clustered,
    increment,
    least,
    read,
    shaped,
)

PLAIN, HALF = Server(), Server(served=PAGE // 2)
UNEVEN, ENDS_EMPTY = Server(is_uneven=True), Server(ends_empty=True)


@cache
def played(shape: str, count: int, readers: int, server: Server) -> Played:
    return read(shaped(count, SHAPES[shape]), 0, YEAR, readers, server=server)


# First loads


@pytest.mark.parametrize("readers", [4, 8])
def test_histories_are_read_quickly_and_in_few_requests(readers: int) -> None:
    rounds: list[float] = []
    requests: list[float] = []
    for count in (20_000, 200_000):
        for server in (PLAIN, HALF):
            for shape in SHAPES:
                one = played(shape, count, readers, server)
                pages = count / server.served
                rounds.append(one.rounds * readers / pages)
                requests.append(one.requests / pages)
                assert one.waiting <= 300
    assert mean(rounds) <= 1.35
    assert max(rounds) <= 2.6
    assert mean(requests) <= 1.35


@pytest.mark.parametrize("readers", [1, 4, 8, 16, 32])
@pytest.mark.parametrize("server", [PLAIN, HALF, UNEVEN, ENDS_EMPTY])
def test_no_chain_is_long_and_no_server_costs_many_requests(
    server: Server, readers: int
) -> None:
    for shape in SHAPES:
        one = played(shape, 20_000, readers, server)
        assert one.longest <= (40 if server is UNEVEN else 32)
        assert one.requests <= 3.5 * 20_000 / server.served


def test_pages_that_hold_nothing_do_not_look_like_records() -> None:
    """A server promises another page after each, and then sends an empty one."""
    for readers in (1, 4, 8):
        few = read(shaped(20, SHAPES["even"]), 0, YEAR, readers, server=ENDS_EMPTY)
        assert few.requests <= 50
        more = read(shaped(4_125, SHAPES["even"]), 0, YEAR, readers, server=ENDS_EMPTY)
        assert more.requests <= 120


@pytest.mark.parametrize("readers", [1, 2, 8, 32])
def test_ten_empty_years_need_few_requests(readers: int) -> None:
    assert read(History([]), 0, 10 * YEAR, readers).requests <= 16


def test_a_crowded_second_is_one_chain() -> None:
    one = read(History([YEAR // 2 + 17] * 20_001), 0, YEAR, 8)
    assert max(one.records) == 20_001
    assert one.requests <= 3 * 200


def test_a_crowded_minute_is_read_in_several_windows() -> None:
    """Only a window of ten seconds may hold any number of pages."""
    one = read(History([YEAR // 2 + n % 60 for n in range(20_000)]), 0, YEAR, 8)
    windows = zip(one.windows, one.records, strict=True)
    assert all(held <= 33 * PAGE for w, held in windows if w.end - w.start > 10)


def test_pages_that_hold_little_do_not_make_chains_long() -> None:
    one = read(shaped(2000, SHAPES["even"]), 0, YEAR, 4, server=Server(served=1))
    assert one.longest <= 64


def test_empty_pages_do_not_abandon_a_probe() -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, quiet=True)
    probe = windows.next()
    assert probe
    assert all(windows.note_page(probe, records=0) for _ in range(100))


@pytest.mark.parametrize("quiet", [False, True])
def test_half_a_page_may_be_a_full_one_in_a_first_load(*, quiet: bool) -> None:
    windows = Windows([(0, DAY)], page_size=PAGE, quiet=quiet)
    probe = windows.next()
    assert probe
    assert windows.done(probe, records=PAGE // 2, of_chain=PAGE // 2) == quiet


# What a scheduled run finds


@pytest.mark.parametrize("readers", [1, 4, 8, 32])
@pytest.mark.parametrize("server", [PLAIN, ENDS_EMPTY])
@pytest.mark.parametrize("batches", BATCHES)
def test_an_increment_needs_few_more_requests_than_one_chain(
    batches: str, server: Server, readers: int
) -> None:
    """What lies in the very second of an edge counts twice: it has to be read twice."""
    for new in (0, 20, 101, 150, 301, 1001, 3001, 5003, 10_007):
        chain = least(new, server)
        for length in (3600, DAY, 7 * DAY, 29 * DAY):
            for seed in range(3):
                found = increment(length, new, *BATCHES[batches], seed)
                one = read(found, 0, length, readers, quiet=True, server=server)
                most = max(2 * chain, chain + 6)
                if new > 5003:
                    most = 3 * least(sum(one.records), server)
                assert one.requests <= most, (new, length, seed)
                assert one.longest <= 64
                if chain <= 2:
                    assert one.requests == chain


# Whatever comes


@given(
    CLUSTERS,
    st.integers(1, 32),
    st.one_of(st.none(), st.integers(DAY, 90 * DAY)),
    st.sampled_from([PLAIN, HALF, UNEVEN, ENDS_EMPTY]),
    st.integers(1, YEAR),
)
@example([(5, 1, 5000)], 4, None, UNEVEN, 30)
@example([(5, 1, 5000)], 4, None, UNEVEN, 100)
@example([], 4, None, PLAIN, 1)
def test_it_ends_and_gives_every_interval_once(
    clusters: list[tuple[int, int, int]],
    readers: int,
    widest: int | None,
    server: Server,
    end: int,
) -> None:
    """`read` also fails where windows are read again and again."""
    times = clustered(clusters)
    quiet = end < 30 * DAY
    one = read(times, 0, end, readers, widest=widest, quiet=quiet, server=server)
    windows = sorted(one.windows)
    edges = [window.start for window in windows] + [end]
    assert edges[0] == 0
    assert [window.end for window in windows] == edges[1:]
    assert all(window.start < window.end for window in windows)
    assert all(w.end - w.start <= (widest or end) for w in windows)
    # Each cluster has to be found, by cutting the interval that it was found in.
    pages = sum(ceil(held / server.served) for held in one.records)
    most = (4 if server is UNEVEN else 3) * pages + 100 * len(clusters)
    assert widest or one.requests <= most + 20


@given(CLUSTERS, st.integers(1, 16))
def test_the_oldest_window_comes_to_its_end_while_all_others_wait(
    clusters: list[tuple[int, int, int]], readers: int
) -> None:
    """Memory may have room for no page but those of the oldest window."""
    times = clustered(clusters)
    windows = Windows([(0, YEAR + 30 * DAY)], page_size=PAGE, concurrency=readers)
    out: list[Any] = []
    while out or windows.oldest_unread is not None:
        while len(out) < readers and (window := windows.next()):
            out.append(window)
        front = min(out)
        out.remove(front)
        *before, last = PLAIN.pages(front, times.held(front))
        if all(windows.note_page(front, records=held) for held in before):
            windows.done(front, records=last, of_chain=0)


def test_one_window_alone_tries_a_width_while_a_short_one_is_read() -> None:
    hour = 3600
    asked = [(0, 100 * hour), (200 * hour, 201 * hour)]
    windows = Windows(asked, page_size=PAGE, concurrency=8, quiet=True)
    wide, _short = windows.next(), windows.next()
    assert wide
    windows.give_up(wide)
    assert windows.divide(wide, narrowest=NARROWEST)
    tried = windows.next()
    assert tried
    assert (tried.start, tried.end) == (0, 100 * hour // 3)
    assert windows.next() is None
