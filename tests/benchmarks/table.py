"""The table that the benchmark prints and docs/speed.md shows."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_HEAD = ("", "Client", "Median", "Spread", "Ratio", "Notes")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        measure: What was measured, with its unit.
        client: What it was measured of.
        values: What each round gave, in that unit.
        ratio: How the median compares.
        notes: What else there is to say.
    """

    measure: str
    client: str
    values: Sequence[float]
    ratio: str = ""
    notes: str = ""


def markdown(rows: Iterable[Row], versions: Mapping[str, str]) -> Iterator[str]:
    """Give the table in Markdown, with the date, the machine and the versions.

    Args:
        rows: What was measured; each is waited for only when it is due.
        versions: Versions of what took part, by name.

    Yields:
        Line after line.
    """
    yield from (_circumstances(versions), "")
    yield from (_line(_HEAD), _line(["---"] * len(_HEAD)))
    said = ""
    for row in rows:
        shown = "" if row.measure == said else row.measure
        said = row.measure
        spread = f"{_number(min(row.values))} to {_number(max(row.values))}"
        if len(row.values) == 1:
            spread = "one run"
        middle = _number(median(row.values))
        yield _line((shown, row.client, middle, spread, row.ratio, row.notes))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float) -> str:
    """Give three digits."""
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _circumstances(versions: Mapping[str, str]) -> str:
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    told = ", ".join(f"{name} {number}" for name, number in versions.items())
    return (
        f"Measured on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, "
        f"{gigabytes:.0f} GiB of memory, {platform.system()}; {told}."
    )
