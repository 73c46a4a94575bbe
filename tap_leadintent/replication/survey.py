"""Plans surveys: a few windows, each for a few pages, where too little is known."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tap_leadintent.replication.density import Stretch

# A scheduled run mostly finds little: what is shorter than this, or likely quiet, is
# surveyed as a whole. More pages of it cost more where it is given up.
_LONG_STRETCH_SECONDS = 30 * 86400
_SHORT_STRETCH_PAGES = 4

# More probes cost requests where there is little; fewer miss where it begins or ends.
# Each is as long as a day in a year: shorter ones see the day or the night.
_PROBES = 8
_PROBE_SHARE = 365
_PROBE_PAGES = 2

# What is given up is surveyed in so many pieces, each for as many pages as a probe, or
# for one if it has shown only one. Fewer are given up again more often; more cost
# part-filled pages.
_PIECES = 8


class Piece(NamedTuple):
    """A window of a survey, in UTC seconds since 1970."""

    start: int
    end: int
    pages: float
    """It is given up when it has more pages than that."""


def probes(start: int, end: int, *, quiet: bool) -> list[Piece]:
    """Plan the survey of a stretch of which nothing is known.

    Args:
        start: Where it begins, in UTC seconds since 1970.
        end: Where it ends.
        quiet: Whether it is likely to hold next to nothing.

    Returns:
        The windows, oldest first.
    """
    if quiet or end - start < _LONG_STRETCH_SECONDS:
        return [Piece(start, end, 1 if quiet else _SHORT_STRETCH_PAGES)]
    seconds = max(1, (end - start) // _PROBE_SHARE)
    room = end - start - seconds
    starts = sorted({start + room * n // (_PROBES - 1) for n in range(_PROBES)})
    return [Piece(at, at + seconds, _PROBE_PAGES) for at in starts]


def pieces(start: int, end: int, given_up: Stretch) -> list[Piece]:
    """Plan the survey of what is left of a stretch that was given up.

    Args:
        start: Where that begins, in UTC seconds since 1970.
        end: Where it ends.
        given_up: The stretch.

    Returns:
        The windows, oldest first.
    """
    edges = [start + (end - start) * n // _PIECES for n in range(_PIECES + 1)]
    pages = min(_PROBE_PAGES, given_up.amount - 1)
    return [Piece(a, b, pages) for a, b in pairwise(edges)]
