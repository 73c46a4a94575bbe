"""Cuts a load into shards for several machines."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from tap_leadintent.state_tool.errors import StateError
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    from tap_leadintent.replication.intervals import Interval


def split(shards: int, whole: Interval) -> list[dict[str, str]]:
    """Cut a stretch of time into shards of equal length, for runs on several machines.

    Args:
        shards: How many.
        whole: The stretch, in UTC seconds since 1970.

    Returns:
        The settings `start_date` and `end_date` of each, oldest first; one ends where
        the next begins.

    Raises:
        StateError: It cannot be cut into so many.
    """
    start, end = whole
    if not 1 <= shards <= end - start:
        told = f"from {format_instant(start)} to {format_instant(end)}"
        msg = f"--shards: the time {told} cannot be cut into {shards}"
        raise StateError(msg)
    cuts = [start + (end - start) * number // shards for number in range(shards + 1)]
    return [
        {"start_date": format_instant(a), "end_date": format_instant(b)}
        for a, b in pairwise(cuts)
    ]
