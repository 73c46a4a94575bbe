"""Interval arithmetic, against sets of half seconds."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Interval

SPAN = 40

instant = st.integers(0, SPAN)


@st.composite
def spans(draw: st.DrawFn) -> Interval:
    """Draw an interval, which may be empty."""
    start = draw(instant)
    end = draw(st.integers(start, SPAN))
    return start, end


interval = spans()
lists = st.lists(interval, max_size=6).map(intervals.union)


def open_points(covered: list[Interval]) -> set[float]:
    """The middles of the seconds that a list holds: edges do not matter there."""
    points: set[float] = set()
    for start, end in covered:
        points |= {number + 0.5 for number in range(start, end)}
    return points


@given(
    st.lists(interval, max_size=6),
    lists,
    interval,
)
def test_each_function_covers_what_sets_of_points_cover(
    drawn: list[Interval],
    covered: list[Interval],
    other: Interval,
) -> None:
    union = intervals.union(drawn)
    held = open_points(covered)
    others = open_points([other])
    for result, points in [
        (union, open_points(drawn)),
        (intervals.subtract(covered, other), held - others),
        (intervals.missing(other, covered), others - held),
        (intervals.overlap(covered, other), held & others),
    ]:
        assert open_points(result) == points
        for before, after in pairwise(result):
            assert before[1] < after[0]
        if result is not union:
            assert all(start < end for start, end in result)
    for start, end in drawn:
        assert any(first <= start <= end <= last for first, last in union)
