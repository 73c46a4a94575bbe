"""Arithmetic on time intervals: pairs of UTC seconds since 1970, end not before start.

A list of intervals is sorted, and no two of its intervals touch. A state may hold
thousands of intervals, so no function takes much more than linear time.
"""

from collections.abc import Iterable

Interval = tuple[int, int]


def union(intervals: Iterable[Interval]) -> list[Interval]:
    """Join intervals to a list.

    Args:
        intervals: Any intervals, in any order.

    Returns:
        The list of everything that one of them covers.
    """
    joined: list[Interval] = []
    for start, end in sorted(intervals):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def subtract(intervals: list[Interval], gone: Interval) -> list[Interval]:
    """Take an interval away.

    Args:
        intervals: A list of intervals.
        gone: What to take away.

    Returns:
        What is left, without single instants.
    """
    return [piece for each in intervals for piece in missing(each, [gone])]


def missing(asked: Interval, covered: list[Interval]) -> list[Interval]:
    """Find what is asked for and not covered.

    Args:
        asked: What should be covered.
        covered: A list of intervals.

    Returns:
        The pieces of `asked` that are in none of them, oldest first.
    """
    pieces: list[Interval] = []
    reached, end = asked
    for a, b in covered:
        if a < b and reached < b:
            if reached < min(a, end):
                pieces.append((reached, min(a, end)))
            reached = b
    return [*pieces, (reached, end)] if reached < end else pieces


def overlap(intervals: Iterable[Interval], bounds: Interval) -> list[Interval]:
    """Cut out what lies between two instants.

    Args:
        intervals: A list of intervals.
        bounds: The instants.

    Returns:
        What of the list lies between them, without single instants.
    """
    start, end = bounds
    cut = ((max(a, start), min(b, end)) for a, b in intervals)
    return [(a, b) for a, b in cut if a < b]
