"""Plays how windows read histories, in rounds: the time that one request takes.

A history is times of records, as they may lie in a year, or in the interval of a
scheduled run.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil, inf
from random import Random
from typing import Any

from hypothesis import strategies as st

from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.sandbox.world import SHAPES as SANDBOX_SHAPES

DAY = 86400
YEAR = 365 * DAY
PAGE = 100


class History:
    """Times of records; windows overlap by a second, as they do for the tap."""

    def __init__(self, times: list[int]) -> None:
        self.times = sorted(times)

    def held(self, window: Window) -> int:
        after = bisect_right(self.times, window.end)
        return after - bisect_left(self.times, window.start - 1)


def shaped(count: int, shape: Callable[[float], float]) -> History:
    """Spread records over a year: the x-th part of them has come after shape(x)."""
    return History([int(YEAR * shape(n / count)) for n in range(count)])


SHAPES: dict[str, Callable[[float], float]] = {
    "even": lambda share: share,
    **{name: shape for name, shape in SANDBOX_SHAPES.items() if name != "uniform"},
    "fading": lambda share: 1 - (1 - share) ** 0.33,
    "tail": lambda share: share / 4,
    "daily batches": lambda share: int(share * 365) / 365,
}


BATCHES = {
    "one second": (1, 1),
    "four seconds": (4, 1),
    "24 minutes": (24, 60),
    "spread": (0, 0),
}
"""How new records come: in so many batches, each of so many seconds."""


def increment(
    length: int, new: int, batches: int, seconds: int, seed: object
) -> History:
    """Return what a scheduled run finds in an interval of so many seconds."""
    draw = Random(f"{length}{new}{batches}{seed}")  # noqa: S311
    if not batches:
        return History([draw.randrange(length) for _ in range(new)])
    begins = [draw.randrange(max(1, length - seconds)) for _ in range(batches)]
    return History([draw.choice(begins) + draw.randrange(seconds) for _ in range(new)])


CLUSTERS = st.lists(
    st.tuples(
        st.integers(0, YEAR),
        st.sampled_from([1, 60, 3600, 30 * DAY]),
        st.sampled_from([1, 90, 300, 5000]),
    ),
    max_size=12,
)
"""Where clusters of records begin, how many seconds they last, how many they hold."""


def clustered(clusters: list[tuple[int, int, int]]) -> History:
    draw = Random(1)  # noqa: S311
    return History(
        [
            start + draw.randrange(seconds)
            for start, seconds, count in clusters
            for _ in range(count)
        ]
    )


@dataclass
class Played:
    """What it took to read a history."""

    rounds: int = 0
    requests: int = 0
    waiting: int = 0
    """The most pages that ever waited for an older window."""
    windows: list[Window] = field(default_factory=list)
    """Those that were read whole."""
    records: list[int] = field(default_factory=list)
    """How many records each of them held."""
    longest: int = 0
    """The most pages with records of a chain, also of one that was abandoned; windows
    of ten seconds aside."""


@dataclass(frozen=True)
class Server:
    """Cuts what a window holds into pages."""

    served: int = PAGE
    """Records in a full page, whatever was asked for."""
    is_uneven: bool = False
    """Whether nearly a third of the pages are short or empty."""
    ends_empty: bool = False
    """Whether another page is promised after each that holds records."""

    def pages(self, window: Window, held: int) -> list[int]:
        """Return how many records each page holds."""
        draw, pages = Random(window.start * 31 + window.end), []  # noqa: S311
        while held:
            luck = draw.random() if self.is_uneven else 1.0
            size = 0 if luck < 0.15 else self.served
            size = min(held, draw.randrange(1, size) if 0.15 <= luck < 0.3 else size)
            pages.append(size)
            held -= size
        return [*pages, 0] if self.ends_empty or not pages else pages


def read(
    history: History, start: int, end: int, readers: int = 1, **options: Any
) -> Played:
    """Read an interval of a history with readers that take a round for a page.

    Options are those of `Windows`, and `server`.
    """
    server, played = options.pop("server", Server()), Played()
    windows = Windows([(start, end)], page_size=PAGE, concurrency=readers, **options)
    chains: list[tuple[int, int, Window, list[int], int]] = []
    order = 0
    begun: dict[Window, int] = {}
    most = 30 * len(history.times) / server.served + 3000
    while True:
        while len(chains) < readers and (window := windows.next()):
            order += 1
            held = history.held(window)
            pages = server.pages(window, held)
            heappush(chains, (played.rounds + 1, order, window, pages, 0))
        if not chains:
            break
        oldest_unread = windows.oldest_unread
        front = min(window.start for _, _, window, _, _ in chains)
        front = front if oldest_unread is None else min(front, oldest_unread)
        begun = {window: n for window, n in begun.items() if window.start >= front}
        waiting = sum(n for window, n in begun.items() if window.start > front)
        played.waiting = max(played.waiting, waiting)
        played.rounds, number, window, pages, page = heappop(chains)
        played.requests += 1
        assert played.requests < most, "windows are read again and again"
        begun[window] = page + 1
        if window.max_pages < inf:
            played.longest = max(played.longest, sum(map(bool, pages[: page + 1])))
        if page + 1 == len(pages):
            if not windows.done(window, records=pages[page], of_chain=sum(pages)):
                del begun[window]
                continue
            played.windows.append(window)
            played.records.append(sum(pages))
        elif windows.note_page(window, records=pages[page]):
            heappush(chains, (played.rounds + 1, number, window, pages, page + 1))
        else:
            del begun[window]
    assert windows.oldest_unread is None
    return played


def least(records: int, server: Server) -> int:
    """Return how many requests a plain cursor chain takes."""
    return max(1, ceil(records / server.served) + (server.ends_empty and records > 0))
