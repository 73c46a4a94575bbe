"""A bar of the covered time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from tap_leadintent.replication import intervals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tap_leadintent.replication.intervals import Interval

CELLS = 60
"""Characters. More would show shorter holes; with its label, it is then too long for a
narrow terminal."""


class Marks(NamedTuple):
    """The characters of a bar."""

    covered: str
    partly: str
    absent: str


PLAIN = Marks("#", "+", ".")
BLOCKS = Marks("█", "▒", "·")


def bar(pieces: Sequence[Interval], span: Interval, marks: Marks = PLAIN) -> str:
    """Draw what is covered of a span.

    Args:
        pieces: A list of intervals, in seconds since 1970.
        span: The time that the bar stands for.
        marks: Its characters.

    Returns:
        One line. A cell that is not wholly covered never looks as if it were, and one
        in which anything is covered never looks empty.
    """
    start, end = span
    edges = [start + (end - start) * cell // CELLS for cell in range(CELLS + 1)]
    absent = intervals.missing(span, [*pieces])
    return "".join(
        _mark((a, max(b, a + 1)), pieces, absent, marks) for a, b in pairwise(edges)
    )


def _mark(
    cell: Interval,
    pieces: Sequence[Interval],
    absent: Sequence[Interval],
    marks: Marks,
) -> str:
    if not _meets(cell, absent):
        return marks.covered if pieces else marks.absent
    return marks.partly if _meets(cell, pieces) else marks.absent


def _meets(cell: Interval, pieces: Sequence[Interval]) -> bool:
    start, end = cell
    return any(a < end and start < b for a, b in pieces)
