"""The recheck by itself: what is due, and that each instant has its turn."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tap_leadintent.replication.recheck import Mark, Recheck

from tap_leadintent.replication.coverage import Coverage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.replication.intervals import Interval

NAME = "date_found"


def recheck(
    *covered: Interval,
    place: int = 0,
    done: float = 0,
    since: int = 0,
    period: int = 10,
    settled: int = 10_000,
) -> Recheck:
    coverage = Coverage((NAME, piece) for piece in covered)
    coverage.recheck = Mark(NAME, place, done)
    return Recheck(
        coverage=coverage, name=NAME, since=since, period=period, settled=settled
    )


def mark_of(made: Recheck) -> Mark:
    assert made.coverage.recheck
    return made.coverage.recheck


def windows_of(made: Recheck, now: int) -> Iterator[Interval]:
    """Cut what is due into windows of 7 seconds."""
    for stretches in made.passes(lambda: now):
        for start, end in stretches:
            yield from pairwise([*range(start, end, 7), end])


def read_all(made: Recheck, now: int) -> list[Interval]:
    """Read what is due, and give it."""
    windows = []
    for window in windows_of(made, now):
        made.read(window)
        windows.append(window)
    return windows


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (0, []),
        (1, [[(0, 10)]]),
        (5, [[(0, 50)]]),
        (10, [[(0, 100)]]),
        (99, [[(0, 100)]]),
    ],
    ids=["at once", "a tenth", "a half", "all", "after a pause"],
)
def test_a_run_reads_its_share(now: int, expected: list[list[Interval]]) -> None:
    assert recheck((0, 100)).due(now) == expected


def test_after_the_newest_it_goes_on_with_the_oldest() -> None:
    assert recheck((0, 100), place=80).due(3) == [[(80, 100)], [(0, 10)]]


def test_holes_are_no_part_of_a_share() -> None:
    assert recheck((0, 20), (40, 120)).due(3) == [[(0, 20), (40, 50)]]


def test_the_start_date_clips_it() -> None:
    made = recheck((0, 120), since=20)
    assert made.due(1) == [[(20, 30)]]
    read_all(made, 1)
    assert mark_of(made) == Mark(NAME, 30, 1)


def test_what_the_run_reads_anyway_is_left_out_and_counts_as_read() -> None:
    made = recheck((0, 100), place=80, settled=85)
    assert made.due(3) == [[(80, 85)], [(0, 10)]]
    read_all(made, 3)
    assert mark_of(made) == Mark(NAME, 10, 3)


def test_it_begins_at_the_start_date_without_a_debt() -> None:
    made = recheck((0, 100), since=10)
    made.coverage.recheck = None
    assert made.due(1000) == []
    assert mark_of(made) == Mark(NAME, 10, 1000)


def test_it_goes_on_where_it_was_interrupted() -> None:
    made = recheck((0, 100), place=30)
    assert next(made.passes(lambda: 4)) == [(30, 70)]
    made.read((30, 45))
    assert mark_of(made) == Mark(NAME, 45, 1.5)
    assert made.due(4) == [[(45, 70)]]


def test_it_does_not_pass_over_a_window_that_was_left_out() -> None:
    made = recheck((0, 100))
    passes = made.passes(lambda: 5)
    assert next(passes) == [(0, 50)]
    made.read((0, 10))
    made.read((20, 50))
    assert [*passes] == []
    assert mark_of(made) == Mark(NAME, 10, 1)


def test_a_clock_that_was_ahead_does_not_stop_it() -> None:
    made = recheck((0, 100), done=1_000_000)
    assert made.due(5) == []
    assert made.due(6) == [[(0, 10)]]


def test_nothing_is_due_of_nothing() -> None:
    assert recheck().due(5) == []
    assert recheck((0, 100), since=200).due(5) == []


def test_a_cycle_reads_each_instant_once_however_much_is_added() -> None:
    made = recheck((0, 1000), period=100)
    read: list[Interval] = []
    for now in range(0, 101, 10):
        read += read_all(made, now)
        _, newest = made.coverage.pieces(NAME)[-1]
        if now < 100:
            made.grow((newest, newest + 10))
            made.coverage.add(NAME, (newest, newest + 10))
    seconds = [second for window in read for second in range(*window)]
    assert set(seconds) >= set(range(1090))
    assert len(seconds) == pytest.approx(1100, rel=0.01)


@settings(deadline=None)
@given(
    begun=st.integers(1, 300),
    period=st.integers(5, 200),
    runs=st.lists(
        st.tuples(
            st.integers(1, 30),
            st.integers(0, 50),
            st.sampled_from(["", "", "", "", "killed", "earlier"]),
        ),
        min_size=1,
        max_size=40,
    ),
)
def test_no_instant_waits_longer_than_a_period_and_a_run(
    begun: int, period: int, runs: list[tuple[int, int, str]]
) -> None:
    # Each second up to the present is covered, as a run reads what is new; some runs
    # add an older stretch, and some end somewhere in the recheck.
    now, since = 1000, 1000 - begun
    verified = dict.fromkeys(range(since, now), now)
    made = recheck((since, now), place=since, done=now, since=since, period=period)
    paid = now
    for wait, size, event in runs:
        now += wait
        stop = size // 5 if event == "killed" else None
        for read, (start, end) in enumerate(windows_of(made, now)):
            if read == stop:
                break
            made.read((start, end))
            verified |= dict.fromkeys(range(start, end), now)
        else:
            new = [(since - size, since)] if event == "earlier" and size else []
            since = since - size if new else since
            made = Recheck(
                coverage=made.coverage,
                name=NAME,
                since=since,
                period=period,
                settled=10_000,
            )
            for start, end in [*new, (paid, now)]:
                made.grow((start, end))
                made.coverage.add(NAME, (start, end))
                verified |= dict.fromkeys(range(start, end), now)
            gap, paid = now - paid, now
            waited = max(now - each for each in verified.values())
            # A state holds whole seconds.
            assert waited <= period + gap + len(runs), (waited, mark_of(made))
        mark = mark_of(made)
        mark.done = int(mark.done)
