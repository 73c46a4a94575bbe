"""What is covered, and what a run then has to read."""

from __future__ import annotations

import pytest

from tap_leadintent.replication.coverage import Coverage


def covered(name: str, *pieces: tuple[int, int]) -> Coverage:
    return Coverage((name, piece) for piece in pieces)


def test_intervals_are_joined_in_whatever_order_they_come() -> None:
    coverage = Coverage([("a", (5, 9)), ("b", (1, 2)), ("a", (0, 5)), ("a", (20, 21))])
    assert list(coverage) == [("a", (0, 9)), ("a", (20, 21)), ("b", (1, 2))]
    assert coverage.span("a") == (0, 21)
    assert coverage.span("c") is None


@pytest.mark.parametrize(
    ("pieces", "asked", "lookback", "to_read"),
    [
        pytest.param([], (0, 100), 10, [(0, 100)], id="first"),
        pytest.param([(0, 100)], (0, 200), 10, [(90, 200)], id="later"),
        pytest.param([(0, 100)], (0, 100), 10, [(90, 100)], id="nothing new"),
        pytest.param([(0, 100)], (0, 100), 0, [], id="nothing new, no lookback"),
        pytest.param(
            [(50, 100)], (0, 120), 10, [(0, 50), (90, 120)], id="earlier start"
        ),
        pytest.param(
            [(0, 40), (60, 100)], (0, 110), 5, [(40, 60), (95, 110)], id="hole"
        ),
        pytest.param([(0, 40)], (60, 110), 5, [(60, 110)], id="later start"),
        pytest.param([(0, 100)], (0, 50), 10, [], id="earlier end"),
        pytest.param(
            [(0, 3), (90, 100)], (0, 110), 999, [(0, 110)], id="long lookback"
        ),
    ],
)
def test_a_run_reads_what_is_missing_and_looks_back(
    pieces: list[tuple[int, int]],
    asked: tuple[int, int],
    lookback: int,
    to_read: list[tuple[int, int]],
) -> None:
    assert covered("a", *pieces).to_read("a", asked, lookback) == to_read


def test_what_a_later_start_leaves_behind_unsettled_is_read_when_it_moves_back() -> (
    None
):
    coverage = covered("a", (0, 40))
    assert coverage.to_read("a", (60, 110), 5) == [(60, 110)]
    coverage.add("a", (60, 110))
    assert coverage.to_read("a", (0, 120), 5) == [(35, 60), (105, 120)]


def test_what_has_been_left_behind_whole_is_covered_no_longer() -> None:
    coverage = covered("a", (0, 40))
    assert coverage.to_read("a", (60, 110), 50) == [(60, 110)]
    coverage.clip(20)
    assert coverage.span("a") is None


def test_the_future_is_not_covered() -> None:
    coverage = covered("a", (0, 100))
    coverage.add("b", (100, 100))
    coverage.clip(70)
    assert coverage.span("a") == (0, 70)
    assert coverage.span("b") == (70, 70)


# What is taken back


@pytest.mark.parametrize(
    ("pieces", "gone", "forgotten", "first", "later"),
    [
        pytest.param(
            [(0, 100)],
            (40, 60),
            [(40, 60)],
            [(0, 40), (60, 100)],
            [(0, 40), (60, 100)],
            id="the middle",
        ),
        pytest.param(
            [(0, 100)],
            (0, 60),
            [(0, 60)],
            [(60, 100)],
            [(0, 0), (60, 100)],
            id="the oldest",
        ),
        pytest.param(
            [(10, 100)],
            (0, 60),
            [(10, 60)],
            [(60, 100)],
            [(0, 0), (60, 100)],
            id="more than the oldest",
        ),
        pytest.param([(0, 9)], (0, 9), [(0, 9)], [], [(0, 0)], id="all"),
        pytest.param(
            [(0, 9), (20, 30)],
            (5, 25),
            [(5, 9), (20, 25)],
            [(0, 5), (25, 30)],
            [(0, 5), (25, 30)],
            id="across a hole",
        ),
        pytest.param([(5, 9)], (0, 5), [], [(5, 9)], [(5, 9)], id="what comes before"),
        pytest.param([(5, 9)], (9, 12), [], [(5, 9)], [(5, 9)], id="what comes after"),
        pytest.param([(5, 5)], (0, 9), [], [(5, 5)], [(5, 5)], id="an instant"),
        pytest.param([], (0, 9), [], [], [], id="nothing"),
    ],
)
def test_what_is_forgotten_is_covered_no_longer(
    pieces: list[tuple[int, int]],
    gone: tuple[int, int],
    forgotten: list[tuple[int, int]],
    first: list[tuple[int, int]],
    later: list[tuple[int, int]],
) -> None:
    for read_from_oldest, left in ((False, first), (True, later)):
        coverage = covered("a", *pieces)
        told = coverage.forget("a", gone, read_from_oldest=read_from_oldest)
        assert told == forgotten
        assert coverage.pieces("a") == left


def test_absent_ranges_begin_where_the_first_was_first_complete() -> None:
    coverage = Coverage([("a", (5, 9)), ("a", (20, 30)), ("c", (1, 2))])
    coverage.begin_absent(("a", "b", "c"))
    assert coverage.pieces("b") == [(9, 9)]
    assert coverage.pieces("c") == [(1, 2)]
    coverage = covered("c", (1, 2))
    coverage.begin_absent(("a", "b", "c"))
    assert list(coverage) == [("c", (1, 2))]
