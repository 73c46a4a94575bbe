"""Why a run reads a stretch of time."""

from __future__ import annotations

from enum import StrEnum
from itertools import pairwise
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

    LOOKBACK = "lookback"
    """It lies up to `lookback_minutes` before the newest covered instant."""

    RECHECK = "recheck"
    """It is covered, and its turn in the recheck has come."""

    NEW = "new"
    """It lies after all that is covered."""


def reasons(
    stretches: Sequence[Interval], span: Interval | None, lookback: int
) -> Iterator[tuple[Interval, Reason]]:
    """Tell why stretches are read.

    Args:
        stretches: What a run reads of a range, in seconds since 1970.
        span: The oldest and the newest covered instant, None when there is none.
        lookback: Length in seconds of the stretch before the newest that is read again.

    Yields:
        The stretches, cut where the reason changes, each piece with its reason.
    """
    if span is None:
        yield from ((stretch, Reason.FIRST) for stretch in stretches)
        return
    oldest, newest = span
    unsettled = newest - lookback
    for start, end in stretches:
        inside = {cut for cut in (oldest, unsettled, newest) if start < cut < end}
        for piece in pairwise([start, *sorted(inside), end]):
            if piece[0] >= newest:
                yield piece, Reason.NEW
            elif piece[0] >= unsettled:
                yield piece, Reason.LOOKBACK
            elif piece[1] <= oldest:
                yield piece, Reason.EARLIER
            else:
                yield piece, Reason.HOLE
