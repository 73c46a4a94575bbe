"""Plays how windows read a history, in rounds: the time that one request takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil
from random import Random
from typing import TYPE_CHECKING

from tap_leadintent.replication.windows import Windows
from tests.support.histories import PAGE

if TYPE_CHECKING:
    from tap_leadintent.replication.windows import Window
    from tests.support.histories import History


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
    pages: list[int] = field(default_factory=list)
    """How many pages each of them took."""
    longest: int = 0
    """The most pages of a chain, also of one that was given up."""


@dataclass
class Server:
    """Cuts what a window holds into pages."""

    served: int = PAGE
    """Records in a full page, whatever was asked for."""
    is_uneven: bool = False
    """Whether nearly a third of the pages are short or empty."""

    def pages(self, window: Window, held: int) -> int:
        if not self.is_uneven:
            return max(1, ceil(held / self.served))
        draw, pages = Random(window.start * 31 + window.end), 0  # noqa: S311
        while pages == 0 or held > 0:
            pages += 1
            luck = draw.random()
            if luck >= 0.15:
                held -= draw.randrange(1, self.served) if luck < 0.3 else self.served
        return pages


def play(
    windows: Windows, history: History, readers: int, server: Server | None = None
) -> Played:
    """Read a history with readers that take a round for a page and never stall."""
    server, played = server or Server(), Played()
    chains: list[tuple[int, int, Window, int]] = []
    order = 0
    shown: dict[Window, int] = {}
    most = 30 * len(history.times) / server.served + 3000
    while True:
        while len(chains) < readers and (window := windows.next()):
            order += 1
            heappush(chains, (played.rounds + 1, order, window, 1))
        if not chains:
            break
        left = windows.oldest_left
        front = min(window.start for _, _, window, _ in chains)
        front = front if left is None else min(front, left)
        shown = {window: n for window, n in shown.items() if window.start >= front}
        waiting = sum(n for window, n in shown.items() if window.start > front)
        played.waiting = max(played.waiting, waiting)
        played.rounds, number, window, page = heappop(chains)
        played.requests += 1
        assert played.requests < most, "windows are read again and again"
        played.longest = max(played.longest, page)
        shown[window] = page
        held = history.held(window)
        pages = server.pages(window, held)
        if page == pages:
            windows.done(window, records=held, requests=page)
            played.windows.append(window)
            played.records.append(held)
            played.pages.append(page)
        elif windows.goes_on(window):
            heappush(chains, (played.rounds + 1, number, window, page + 1))
        else:
            del shown[window]
    assert windows.finished
    assert windows.oldest_left is None
    return played


def read(  # noqa: PLR0913
    history: History,
    start: int,
    end: int,
    readers: int = 1,
    *,
    length: int | None = None,
    quiet: bool = False,
    server: Server | None = None,
) -> Played:
    """Read a stretch of a history in windows of a page size of 100."""
    windows = Windows(
        [(start, end)], page_size=PAGE, readers=readers, length=length, quiet=quiet
    )
    return play(windows, history, readers, server)
