"""Arithmetic on time intervals: pairs of UTC seconds since 1970, end not before start.

A list of intervals is sorted, and no two of its intervals touch. A state may hold
thousands of intervals, so no function takes much more than linear time.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from operator import itemgetter

Interval = tuple[int, int]

Coverage = dict[str, list[Interval]]
"""The intervals of each time range that have been read completely and written."""


def equal_edges(
    start: int,
    end: int,
    parts: int,
) -> list[int]:
    """Return where equal parts of an interval begin and end.

    Args:
        start: Where the interval begins.
        end: Where it ends.
        parts: Their number; there are fewer if the interval has fewer seconds.
    """
    seconds = end - start
    edges: set[int] = set()
    for number in range(parts + 1):
        edge = start + seconds * number // parts
        edges.add(edge)
    return sorted(edges)


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Join intervals to a list.

    Args:
        intervals: Any intervals, in any order.

    Returns:
        The list of everything that at least one of them covers.
    """
    joined: list[Interval] = []
    for interval in sorted(intervals):
        start, end = interval
        if joined and start <= joined[-1][1]:
            first, last = joined[-1]
            joined[-1] = (first, max(end, last))
        else:
            joined.append(interval)
    return joined


def add(
    intervals: list[Interval],
    new: Interval,
) -> None:
    """Add an interval to a list, in place.

    Args:
        intervals: A list of intervals.
        new: The interval to add.
    """
    start, end = new
    first = bisect_left(
        intervals,
        start,
        key=itemgetter(1),
    )
    after = bisect_right(
        intervals,
        end,
        key=itemgetter(0),
    )
    touching = intervals[first:after]
    intervals[first:after] = union([new, *touching])


def subtract(
    intervals: list[Interval],
    removed: Interval,
) -> list[Interval]:
    """Remove an interval from a list.

    Args:
        intervals: A list of intervals.
        removed: The interval to remove.

    Returns:
        The parts of `intervals` outside `removed`; empty intervals are dropped.
    """
    parts: list[Interval] = []
    for interval in intervals:
        parts += missing(interval, [removed])
    return parts


def missing(
    requested: Interval,
    covered: list[Interval],
) -> list[Interval]:
    """Find the parts of an interval that are not covered.

    Args:
        requested: The interval that should be covered.
        covered: A list of intervals.

    Returns:
        The parts of `requested` that are in none of them, oldest first.
    """
    parts: list[Interval] = []
    reached, end = requested
    for next_start, next_end in covered:
        # Empty intervals cover nothing.
        if next_start < next_end and reached < next_end:
            part_end = min(next_start, end)
            if reached < part_end:
                parts.append((reached, part_end))
            reached = next_end
    if reached < end:
        parts.append((reached, end))
    return parts


def overlap(
    intervals: Iterable[Interval],
    bounds: Interval,
) -> list[Interval]:
    """Cut a list of intervals to what lies between two instants.

    Args:
        intervals: A list of intervals.
        bounds: The two instants.

    Returns:
        The parts of `intervals` inside `bounds`; empty intervals are dropped.
    """
    first, last = bounds
    parts: list[Interval] = []
    for start, end in intervals:
        part_start = max(start, first)
        part_end = min(end, last)
        if part_start < part_end:
            parts.append((part_start, part_end))
    return parts


def gap(
    one: Interval,
    other: Interval,
) -> int:
    """Return how many seconds lie between two intervals.

    Args:
        one: An interval.
        other: Another one, before or after it.

    Returns:
        The seconds; 0 if they touch, and less if they overlap.
    """
    one_start, one_end = one
    other_start, other_end = other
    return max(one_start - other_end, other_start - one_end)
