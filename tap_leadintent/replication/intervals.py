"""Arithmetic on time intervals: pairs of UTC seconds since 1970, end not before start.

A list of intervals is sorted, and no two of its intervals touch.
"""

from __future__ import annotations

Interval = tuple[int, int]


def add(intervals: list[Interval], new: Interval) -> list[Interval]:
    """Join an interval to those there are.

    Args:
        intervals: A list of intervals.
        new: The interval to join; it may be a single instant.

    Returns:
        The list of everything that either covers.
    """
    start, end = new
    apart = [(a, b) for a, b in intervals if b < start or a > end]
    for a, b in intervals:
        if not (b < start or a > end):
            start, end = min(start, a), max(end, b)
    return sorted([*apart, (start, end)])


def subtract(intervals: list[Interval], gone: Interval) -> list[Interval]:
    """Take an interval away.

    Args:
        intervals: A list of intervals.
        gone: What to take away.

    Returns:
        What is left. Single instants inside `gone` do not stay, and none arise.
    """
    start, end = gone
    left: list[Interval] = []
    for a, b in intervals:
        if b < start or a > end:
            left.append((a, b))
            continue
        if a < start:
            left.append((a, start))
        if b > end:
            left.append((end, b))
    return left


def missing(asked: Interval, covered: list[Interval]) -> list[Interval]:
    """Find what is asked for and not covered.

    Args:
        asked: What should be covered.
        covered: A list of intervals.

    Returns:
        The pieces of `asked` that are in none of them, oldest first.
    """
    pieces = [asked] if asked[0] < asked[1] else []
    for interval in covered:
        if interval[0] < interval[1]:
            pieces = subtract(pieces, interval)
    return pieces


def clip(intervals: list[Interval], latest: int) -> list[Interval]:
    """Cut off what is later than an instant.

    Args:
        intervals: A list of intervals.
        latest: The last instant to keep.

    Returns:
        The list with nothing later; what lay wholly later becomes that one instant.
    """
    clipped: list[Interval] = []
    for a, b in intervals:
        clipped = add(clipped, (min(a, latest), min(b, latest)))
    return clipped
