"""Draws what has been read of a time range, and what a run reads, as a bar."""

import shutil
from collections.abc import Mapping
from itertools import chain, pairwise

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.state_tool.bookmarks import RANGES

_LONGEST_NAME = max(map(len, chain.from_iterable(RANGES.values())))
_NARROWEST = 40


def draw(
    name: str,
    time: Interval,
    marks: Mapping[str, list[Interval]],
) -> str:
    """Draw one time range in the width of the terminal.

    A very narrow terminal gets a bar of 40 columns, and a pipe one of 80 columns.

    Args:
        name: The name of the range.
        time: The interval that the bar shows, in UTC seconds since 1970.
        marks: For each character the intervals that it stands for. If a character of
            the bar stands for several of them, it is the one that comes first here, so
            that even the shortest gap can be seen.

    Returns:
        A line of ASCII characters.
    """
    start, end = time
    label = f"  {name:{_LONGEST_NAME}} "
    columns = max(shutil.get_terminal_size().columns, _NARROWEST)
    length = columns - len(label) - len("[]")
    edges: list[int] = []
    for cell_number in range(length + 1):
        elapsed = (end - start) * cell_number // length
        edges.append(start + elapsed)
    bar = ""
    for cell in pairwise(edges):
        bar += _mark_of(cell, marks)
    return f"{label}[{bar}]"


def _mark_of(
    cell: Interval,
    marks: Mapping[str, list[Interval]],
) -> str:
    for character, marked in marks.items():
        overlap = intervals.overlap(marked, cell)
        if overlap:
            return character
    return " "
