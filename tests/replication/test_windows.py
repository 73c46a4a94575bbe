"""How a range is cut for several readers: quickly, in few requests, in short chains."""

from functools import cache
from itertools import islice
from math import ceil
from statistics import mean
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.ledger import Question, State
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.protocol import CutError
from tap_leadintent.replication.windows import MOST_PAGES, Windows
from tests.support.rounds import (
    BATCHES,
    CLUSTERS,
    DAY,
    PAGE,
    SHAPES,
    YEAR,
    History,
    Page,
    Played,
    Server,
    clustered,
    increment,
    least,
    read,
    shaped,
)

PLAIN = Server()
HALF = Server(served=PAGE // 2)
EMPTY = Page(
    records=0,
    has_more=False,
    fingerprint=0,
)
FULL = Page(
    records=PAGE,
    has_more=True,
    fingerprint=1,
)
LAST = FULL._replace(has_more=False)
UNEVEN = Server(is_uneven=True)
ENDS_EMPTY = Server(ends_empty=True)


@cache
def history_of(shape: str, count: int) -> History:
    return shaped(count, SHAPES[shape])


@cache
def played(
    shape: str,
    count: int,
    readers: int,
    server: Server,
) -> Played:
    history = history_of(shape, count)
    return read(
        history,
        0,
        YEAR,
        readers,
        server=server,
        widest=30 * DAY,
    )


# First loads


@pytest.mark.parametrize(
    ("readers", "most"),
    [(4, 1.25), (8, 1.3)],
)
def test_histories_are_read_quickly_and_in_few_requests(
    readers: int,
    most: float,
) -> None:
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
    assert mean(rounds) <= most
    assert max(rounds) <= 2.6
    assert mean(requests) <= 1.25


@pytest.mark.parametrize("server", [PLAIN, HALF])
def test_more_readers_are_never_slower(server: Server) -> None:
    for shape in SHAPES:
        eight = played(shape, 20_000, 8, server).rounds
        for readers in (16, 32):
            assert played(shape, 20_000, readers, server).rounds <= eight, shape
    eight = played("bursts", 20_000, 8, server).rounds
    assert played("bursts", 20_000, 16, server).rounds <= 0.8 * eight


@pytest.mark.parametrize("readers", [1, 4, 8, 16, 32])
@pytest.mark.parametrize("server", [PLAIN, HALF, UNEVEN, ENDS_EMPTY])
def test_no_chain_is_long_and_no_server_costs_many_requests(
    server: Server,
    readers: int,
) -> None:
    for shape in SHAPES:
        one = played(shape, 20_000, readers, server)
        assert one.longest <= (40 if server is UNEVEN else 32)
        assert one.requests <= 3.5 * 20_000 / server.served


def test_pages_that_hold_nothing_do_not_look_like_records() -> None:
    """A server promises another page after each, and then sends an empty one."""
    for readers in (1, 4, 8):
        few = read(
            shaped(20, SHAPES["even"]),
            0,
            YEAR,
            readers,
            server=ENDS_EMPTY,
        )
        assert few.requests <= 50
        more = read(
            shaped(4_125, SHAPES["even"]),
            0,
            YEAR,
            readers,
            server=ENDS_EMPTY,
        )
        assert more.requests <= 120


@pytest.mark.parametrize("readers", [1, 2, 8, 32])
def test_ten_empty_years_need_few_requests(readers: int) -> None:
    one = read(History([]), 0, 10 * YEAR, readers)
    assert one.requests <= 16


def test_a_crowded_second_is_one_chain() -> None:
    one = read(
        History([YEAR // 2 + 17] * 20_001),
        0,
        YEAR,
        8,
    )
    assert max(one.records) == 20_001
    assert one.requests <= 3 * 200


def test_a_crowded_minute_is_read_in_several_windows() -> None:
    """Only a window of ten seconds may hold any number of pages."""
    one = read(
        History([YEAR // 2 + n % 60 for n in range(20_000)]),
        0,
        YEAR,
        8,
    )
    for window in one.windows:
        assert window.seconds <= 10 or window.records <= 33 * PAGE


def test_pages_that_hold_little_do_not_make_chains_long() -> None:
    one = read(
        shaped(2000, SHAPES["even"]),
        0,
        YEAR,
        4,
        server=Server(served=1),
    )
    assert one.longest <= 64


# What a scheduled run finds

OLDER = [-DAY - n * 60 for n in reversed(range(20_000))]
"""What came before shows that no query has to end at a number."""


@pytest.mark.parametrize("readers", [1, 8, 32])
@pytest.mark.parametrize("server", [PLAIN, ENDS_EMPTY])
@pytest.mark.parametrize("batches", BATCHES)
def test_an_increment_needs_few_more_requests_than_one_chain(
    batches: str,
    server: Server,
    readers: int,
) -> None:
    """What lies in the very second of an edge counts twice: it has to be read twice."""
    for new in (0, 20, 101, 150, 301, 1001, 3001, 5003, 10_007):
        chain = least(new, server)
        for length in (3600, DAY, 29 * DAY):
            for seed in range(2):
                found = increment(length, new, *BATCHES[batches], seed)
                one = read(
                    History([*OLDER, *found.times]),
                    0,
                    length,
                    readers,
                    quiet=True,
                    caps=Caps(PAGE, whole=PAGE - 1),
                    server=server,
                    widest=30 * DAY,
                )
                most = max(2 * chain, chain + 6)
                if new > 5003:
                    most = 3 * least(sum(one.records), server)
                assert one.requests <= most, (new, length, seed)
                assert one.longest <= 64
                if chain <= 2:
                    # A round number is compared with a wider query, once.
                    assert one.requests <= chain + (2 if new == 150 else 0)


@pytest.mark.parametrize("batches", BATCHES)
def test_few_records_are_complete_in_a_new_stream(batches: str) -> None:
    for new in (7, 20, 37, 83, 99, 137):
        found = increment(DAY, new, *BATCHES[batches], seed=1)
        one = read(
            found,
            0,
            DAY,
            4,
            widest=30 * DAY,
            quiet=True,
        )
        assert one.requests <= least(new, PLAIN) + 1


def windows_of_a_year(
    *,
    readers: int,
    widest: int = 30 * DAY,
    most_pages: int = MOST_PAGES,
    **how: Any,
) -> Windows:
    """Return windows of which nothing has been requested.

    Args:
        readers: As of `Windows`, like the next two.
        widest: See there.
        most_pages: See there.
        how: Other fields of `Step`.
    """
    step = Step(
        range_name="x",
        intervals=[(0, YEAR)],
        **how,
    )
    return Windows(
        step,
        caps=Caps(PAGE),
        widest=widest,
        readers=readers,
        now=YEAR,
        most_pages=most_pages,
    )


def test_the_front_waits_while_another_window_is_settled() -> None:
    """Nothing else is begun, as so much waits already."""
    step = Step(
        range_name="x",
        intervals=[(0, 9), (10, 19)],
        is_first_load=True,
    )
    windows = Windows(
        step,
        caps=Caps(PAGE),
        widest=DAY,
        readers=2,
        now=0,
    )
    first, *others, last = windows.ledger
    for each in (first, *others):
        each.state = State.READ
    last.state = State.DOUBTFUL
    assert isinstance(question := windows.next(), Question)
    assert question.about is last
    first.state = State.DOUBTFUL
    assert windows.next(is_full=True) is None
    last.state = State.READ
    assert isinstance(question := windows.next(is_full=True), Question)
    assert question.about is first


def test_a_run_that_may_end_early_first_compares_the_front() -> None:
    """What it reads meanwhile would be lost if it ended before that."""
    windows = windows_of_a_year(
        readers=4,
        pages_per_year=365,
        most_pages=MOST_PAGES // 2,
    )
    front = windows.next()
    assert front
    windows.note_page(front, LAST, PAGE)
    assert front.state is State.DOUBTFUL
    assert isinstance(windows.next(), Question)
    assert windows.next() is None


def test_nothing_newer_is_begun_once_a_window_has_ended_the_run() -> None:
    windows = windows_of_a_year(readers=4, is_first_load=True)
    front, *_, failed = [*islice(iter(windows.next, None), 4)]
    windows.note_failure(failed, OSError())
    assert windows.next() is None
    windows.note_page(front, FULL, PAGE)
    assert windows.next() is front
    assert windows.next() is None


def test_all_readers_read_what_is_older_than_what_has_ended_the_run() -> None:
    """It will be emitted, and there may be much of it."""
    windows = windows_of_a_year(readers=8, is_first_load=True)
    *samples, newest = [*islice(iter(windows.next, None), 8)]
    for number, sample in enumerate(samples):
        few = Page(
            records=PAGE // 3,
            has_more=False,
            fingerprint=number,
        )
        windows.note_page(sample, few, few.records)
        sample.state = State.READ
    windows.note_failure(newest, OSError())
    older = [*islice(iter(windows.next, None), 8)]
    assert len(older) == 8
    for window in older:
        assert window.end <= newest.start


def test_a_run_that_may_end_early_compares_although_older_pages_wait() -> None:
    """A slow loader takes them later, and the requests are used up meanwhile."""
    windows = windows_of_a_year(
        readers=1,
        pages_per_year=365,
        most_pages=MOST_PAGES // 2,
    )
    waiting = windows.next()
    assert waiting
    waiting.state = State.READ
    doubtful = windows.next()
    assert doubtful
    windows.note_page(doubtful, LAST, PAGE)
    assert doubtful.state is State.DOUBTFUL
    assert isinstance(question := windows.next(), Question)
    assert question.about is doubtful
    assert windows.next() is None


def test_what_has_arrived_of_the_front_shows_how_dense_records_are() -> None:
    """So a run that is ended leaves to the next one what it has learned."""
    windows = windows_of_a_year(readers=1, widest=YEAR)
    for _ in range(30):
        window = windows.next()
        assert window
        windows.note_page(window, FULL, window.records + PAGE)
    front = windows.ledger.front
    assert front
    so_far = front.records / PAGE * YEAR / front.seconds
    assert windows.pages_per_year() >= so_far


def test_a_wider_window_is_tried_alone_after_failures() -> None:
    """The API refuses more than nine days, and eight readers find that out again."""
    step = Step(
        range_name="x",
        intervals=[(0, 3 * YEAR)],
        is_first_load=True,
    )
    windows = Windows(
        step,
        caps=Caps(PAGE),
        widest=30 * DAY,
        readers=8,
        now=0,
    )
    refused: list[int] = []
    while batch := [*islice(iter(windows.next, None), 8)]:
        too_long = [window for window in batch if window.seconds > 9 * DAY]
        for window in batch:
            if window in too_long:
                windows.note_failure(window, CutError(OSError()))
            else:
                windows.note_page(window, EMPTY, 0)
        refused.append(len(too_long))
    assert all(window.state is State.READ for window in windows.ledger)
    narrowed = refused.index(max(refused)) + 1
    assert sum(refused) > max(refused)
    assert max(refused[narrowed:]) == 1


def test_nothing_more_is_requested_of_a_range_that_is_ignored() -> None:
    windows = windows_of_a_year(readers=8, is_first_load=True)
    always = Page(
        records=3,
        has_more=False,
        fingerprint=7,
    )
    requests = 0
    while window := windows.next():
        windows.note_page(window, always, always.records)
        requests += 1
    assert windows.error
    assert requests <= 4


# Whatever comes


@given(
    CLUSTERS,
    st.integers(1, 32),
    st.integers(1, MOST_PAGES - 1),
    st.integers(1, 10**10),
)
@example(
    [(2, 1, 3000)],
    1,
    13,
    2 * YEAR,
)
def test_short_windows_end_whatever_was_expected(
    clusters: list[tuple[int, int, int]],
    readers: int,
    most_pages: int,
    pages_per_year: int,
) -> None:
    one = read(
        clustered(clusters),
        0,
        YEAR,
        readers,
        most_pages=most_pages,
        pages_per_year=pages_per_year,
    )
    edges = [window.start for window in one.windows] + [YEAR]
    assert [window.end for window in one.windows] == edges[1:]


@given(
    CLUSTERS,
    st.integers(1, 32),
    st.one_of(
        st.none(),
        st.integers(DAY, 90 * DAY),
    ),
    st.sampled_from([PLAIN, HALF, UNEVEN, ENDS_EMPTY]),
    st.integers(1, YEAR),
)
@example(
    [(5, 1, 5000)],
    4,
    None,
    UNEVEN,
    30,
)
@example(
    [(5, 1, 5000)],
    4,
    None,
    UNEVEN,
    100,
)
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
    one = read(
        times,
        0,
        end,
        readers,
        widest=widest,
        quiet=quiet,
        server=server,
    )
    windows = one.windows
    edges = [window.start for window in windows] + [end]
    assert edges[0] == 0
    assert [window.end for window in windows] == edges[1:]
    for window in windows:
        assert window.start < window.end
    for w in windows:
        assert w.end - w.start <= (widest or end)
    # Each cluster has to be found, by cutting the interval that it was found in.
    pages = sum(ceil(held / server.served) for held in one.records)
    most = (4 if server is UNEVEN else 3) * pages + 100 * len(clusters)
    assert widest or one.requests <= most + 20
