"""Aligned tables on a terminal, whatever script the text is in."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_INDENT = "  "
_GAP = "  "
_NARROWEST = 10


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Lay out rows under a header, cut to the terminal's width.

    Args:
        header: The columns' names.
        rows: One value for each column; numbers are aligned right.

    Returns:
        The lines. The last column takes what room the others leave.
    """
    rows = list(rows)
    terminal = shutil.get_terminal_size((100, 24)).columns
    cells = [[shown(value) for value in row] for row in [header, *rows]]
    widths = [max(map(width, column)) for column in zip(*cells, strict=True)]
    room = terminal - len(_INDENT) - len(_GAP) * (len(widths) - 1)
    if sum(widths) > room:
        limit = max(_NARROWEST, terminal // 6)
        widths = [min(natural, limit) for natural in widths[:-1]]
        widths.append(max(_NARROWEST, room - sum(widths)))
    right = [isinstance(value, int) for value in (rows or [header])[0]]
    return "\n".join(
        _INDENT + _GAP.join(map(_fitted, line, widths, right)).rstrip()
        for line in cells
    )


def shown(value: object) -> str:
    """Give a value as one line without control characters.

    Args:
        value: Anything; text may come from the API.

    Returns:
        The text, empty for None.
    """
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def width(text: str) -> int:
    """Count a terminal's cells.

    Args:
        text: Printable characters.

    Returns:
        Two for each wide character (as in Chinese), none for a combining one.
    """
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _fitted(text: str, cells: int, right: bool) -> str:  # noqa: FBT001
    if width(text) > cells:
        while width(text) > cells - 1:
            text = text[:-1]
        text = f"{text.rstrip()}…"
    padding = " " * (cells - width(text))
    return padding + text if right else text + padding
