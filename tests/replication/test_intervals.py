"""Interval arithmetic, against sets of half seconds."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Interval

SPAN = 40

interval = st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)).map(
    lambda pair: (min(pair), max(pair))
)


lists = st.lists(interval, max_size=6).map(intervals.union)


def open_points(covered: list[Interval]) -> set[float]:
    """The middles of the seconds that a list holds: edges do not matter there."""
    return {n + 0.5 for n in range(SPAN) if any(a <= n < b for a, b in covered)}


@given(st.lists(interval, max_size=6))
def test_a_union_covers_what_any_covers(drawn: list[Interval]) -> None:
    result = intervals.union(drawn)
    assert open_points(result) == open_points(drawn)
    assert all(any(a <= x <= y <= b for a, b in result) for x, y in drawn)
    assert all(one[1] < other[0] for one, other in pairwise(result))


@given(lists, interval)
def test_subtracting_leaves_the_remaining_intervals(
    covered: list[Interval], gone: Interval
) -> None:
    result = intervals.subtract(covered, gone)
    assert open_points(result) == open_points(covered) - open_points([gone])
    assert all(a < b for a, b in result)


@given(interval, lists)
def test_missing_is_what_is_asked_and_not_covered(
    asked: Interval, covered: list[Interval]
) -> None:
    result = intervals.missing(asked, covered)
    assert open_points(result) == open_points([asked]) - open_points(covered)
    assert result == sorted(result)
    assert all(a < b for a, b in result)


@given(lists, interval)
def test_an_overlap_is_what_lies_in_both(
    covered: list[Interval], bounds: Interval
) -> None:
    result = intervals.overlap(covered, bounds)
    assert open_points(result) == open_points(covered) & open_points([bounds])
    assert all(bounds[0] <= a < b <= bounds[1] for a, b in result)
