"""Why a run reads a stretch of time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from enum import StrEnum
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tap_leadintent.replication.intervals import Interval


class Reason(StrEnum):
    """Why a run reads a stretch."""

    FIRST = "first load"
    """Nothing of the range is covered."""

    EARLIER = "earlier"
    """It lies before all that is covered: `start_date` has moved back, or it
    was forgotten."""

    HOLE = "hole"
    """It lies between what is covered."""

    AGAIN = "again"
    """It is covered, and read again so that the newest signal comes last."""

    LOOKBACK = "lookback"
    """It lies up to `lookback_minutes` before the newest covered instant."""

    RECHECK = "recheck"
    """It is covered, and its turn in the recheck has come."""

    NEW = "new"
    """It lies after all that is covered."""


def reasons(
    stretches: Sequence[Interval], covered: Sequence[Interval], lookback: int
) -> Iterator[tuple[Interval, Reason]]:
    """Tell why stretches are read.

    Args:
        stretches: What a run reads of a range, in seconds since 1970.
        covered: What is covered of it, oldest first.
        lookback: Length in seconds of the stretch before the newest covered instant
            that is read again.

    Yields:
        The stretches, cut where the reason changes, each piece with its reason.
    """
    if not covered:
        yield from ((stretch, Reason.FIRST) for stretch in stretches)
        return
    newest = covered[-1][1]
    edges = sorted({edge for piece in covered for edge in piece} | {newest - lookback})
    for start, end in stretches:
        inside = edges[bisect_right(edges, start) : bisect_left(edges, end)]
        told: list[tuple[Interval, Reason]] = []
        for piece in pairwise((start, *inside, end)):
            reason = _reason(piece, covered, newest - lookback)
            if told and told[-1][1] is reason:
                piece = (told.pop()[0][0], piece[1])  # noqa: PLW2901
            told.append((piece, reason))
        yield from told


def _reason(piece: Interval, covered: Sequence[Interval], unsettled: int) -> Reason:
    start, end = piece
    if start >= covered[-1][1]:
        return Reason.NEW
    if start >= unsettled:
        return Reason.LOOKBACK
    if end <= covered[0][0]:
        return Reason.EARLIER
    before = bisect_right(covered, start, key=itemgetter(0)) - 1
    return Reason.AGAIN if covered[before][1] > start else Reason.HOLE
