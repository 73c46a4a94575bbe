"""What a load costs: `uv run python -m tests.support.scaling` writes the tables.

They are those of `docs/scaling.md`, whose other text is written by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tests.support.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = ROOT / "docs" / "scaling.md"

LEADS = (100_000, 1_000_000, 10_000_000)
LATENCIES = (0.1, 0.2, 0.5)
LIMITS = (60, 600)

_PAGE_SIZE = 100
_PART_FILLED = 1.15
"""Requests for each full page of an ordinary history."""
_MORE_REQUESTS = 12
_REMEMBERED = 130_000
"""Leads that a run emits once, though both ranges show them."""
_BYTES_A_LEAD = 2_400
"""Of the sandbox's answers, without compression."""
_LOADED_A_SECOND = 3_000
"""Leads that target-postgres loads, on 2 cores with tap and database: 50,000 took
12 to 16 s."""


@dataclass(frozen=True)
class Load:
    """A first load of leads.

    Attributes:
        leads: How many there are.
        latency: Seconds that a request takes.
        limit: Requests a minute that the API allows, or None.
        concurrency: The setting `concurrency`, times the number of shards.
        loaded: Leads a second that the target loads, or None for any number.
        ranges: How many time ranges are read.
    """

    leads: int
    latency: float
    limit: int | None = None
    concurrency: int = 4
    loaded: int | None = None
    ranges: int = 2

    @property
    def requests(self) -> int:
        """How many requests it takes at most."""
        one = ceil(self.leads / _PAGE_SIZE * _PART_FILLED) + _MORE_REQUESTS
        return one * self.ranges

    @property
    def gigabytes(self) -> float:
        """What the API sends."""
        return self.leads * _BYTES_A_LEAD * self.ranges / 1e9

    @property
    def seconds(self) -> float:
        """How long it takes: as long as the slowest of network, limit and target."""
        network = self.requests * self.latency / self.concurrency
        limited = 0 if self.limit is None else self.requests * 60 / self.limit
        emitted = self.leads + max(0, self.leads - _REMEMBERED) * (self.ranges - 1)
        loading = 0 if self.loaded is None else emitted / self.loaded
        return max(network, limited, loading)


def tables() -> Iterator[str]:
    """Give the tables of the page, in its order."""
    yield _table(
        ["Leads", "Requests", "Gigabytes", *_columns()],
        [
            [
                f"{leads:,}",
                f"{Load(leads, 0).requests:,}",
                f"{Load(leads, 0).gigabytes:,.2f}",
                *(_duration(load.seconds) for load in _loads(leads)),
            ]
            for leads in LEADS
        ],
    )
    yield _table(
        ["Leads", *_columns()],
        [
            [
                f"{leads:,}",
                *(
                    _duration(shards.seconds + catching_up.seconds)
                    for shards, catching_up in zip(
                        _loads(leads, 12, ranges=1),
                        _loads(leads, 4, ranges=1),
                        strict=True,
                    )
                ),
            ]
            for leads in LEADS
        ],
    )
    yield _table(
        ["Leads", "Requests a day", "Hours a month at 200 ms"],
        [
            [f"{leads:,}", f"{daily:,}", f"{daily * 30 * 0.2 / 4 / 3600:,.1f}"]
            for leads in LEADS
            for daily in [Load(leads // 30, 0, ranges=1).requests]
        ],
    )


def _columns() -> list[str]:
    return [
        *(f"{latency * 1000:.0f} ms" for latency in LATENCIES),
        *(f"{limit} a minute" for limit in LIMITS),
    ]


def _loads(leads: int, concurrency: int = 4, ranges: int = 2) -> Iterator[Load]:
    for latency in LATENCIES:
        yield Load(leads, latency, None, concurrency, _LOADED_A_SECOND, ranges)
    # A limit is the organization's, however many machines share it.
    for limit in LIMITS:
        yield Load(leads, 0.2, limit, concurrency, _LOADED_A_SECOND, ranges)


def _duration(seconds: float) -> str:
    if seconds < 5400:
        return f"{ceil(seconds / 60)} min"
    if seconds < 100 * 3600:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


def _table(names: list[str], rows: list[list[str]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def made(text: str) -> str:
    """Give the page with its tables as they should be."""
    computed = tables()
    table = re.compile(r"^\|(?:.*\n\|)*.*\n", re.MULTILINE)
    return table.sub(lambda _: next(computed), text)


if __name__ == "__main__":
    PAGE.write_text(made(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
