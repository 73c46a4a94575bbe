"""Keeps in which state each interval of a step is."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple

from typing_extensions import override


class State(Enum):
    """The state of an interval."""

    UNREAD = "unread"
    """Nobody reads it."""

    READING = "being read"
    """Its pages are being requested."""

    DOUBTFUL = "doubtful"
    """All of its pages have arrived, if the API has not ended its query too early."""

    SETTLING = "being settled"
    """The same, and a wider query is being read, which can tell."""

    READ = "read"
    """All of its pages have arrived."""

    FAILED = "failed"
    """A request failed. It is cut or left when everything before it has been settled.
    """

    CUT = "cut"
    """Its parts are read instead of it."""

    LEFT = "left"
    """It is a hole."""


@dataclass(eq=False, repr=False)
class Window:
    """An interval, and what is known about it."""

    start: int
    """UTC seconds since 1970."""

    end: int
    """UTC seconds since 1970."""

    state: State = State.UNREAD

    least_density: float = 0.0
    """The least number of pages a second that it holds, as far as that is known."""

    max_pages: float = inf
    """After so many full pages it is cut, if more are to come."""

    max_retries: float = inf
    """How often each of its requests is repeated at most, whatever the settings say."""

    is_probe: bool = False
    """Whether no ordinary window begins while it is read."""

    capped_total: int = 0
    """The records of a capped query whose window it is a part of."""

    is_known_hole: bool = False
    """Whether an earlier run could not read it."""

    is_last_try: bool = False
    """Whether it is a part of a known hole, and is not cut again in this run."""

    shares: float = 0.0
    """The pages that have arrived, where a page that is not full counts less."""

    records: int = 0
    """The records of the pages that have arrived."""

    last: int = 0
    """The records of the last of these pages that held any."""

    pages: deque[Any] = field(default_factory=deque)
    """The pages that wait to be emitted."""

    waiting_bytes: int = 0
    """What they take."""

    error: BaseException | None = None
    """Why it failed."""

    is_final: bool = False
    """Whether the reading ends with `error`."""

    @property
    def seconds(self) -> int:
        """Its length."""
        return self.end - self.start

    @override
    def __repr__(self) -> str:
        return f"<Window {self.start} to {self.end}: {self.state.value}>"


class Wanted(NamedTuple):
    """A window to begin, with fields as in `Window`."""

    start: int
    end: int
    max_pages: float
    is_probe: bool = True
    max_retries: float = inf


class Ledger:
    """The windows of a step, oldest first, without overlaps.

    Windows that have been emitted or left are taken out at the front.
    """

    def __init__(self, windows: Iterable[Window]) -> None:
        """Take what is to be read.

        Args:
            windows: The windows, oldest first.
        """
        self._windows = [*windows]

    @property
    def front(self) -> Window | None:
        """The oldest window, None when everything has been taken out."""
        return self._windows[0] if self._windows else None

    def take_front(self) -> None:
        """Take the oldest window out."""
        del self._windows[0]

    def __iter__(self) -> Iterator[Window]:
        """Return the windows, oldest first."""
        return iter(self._windows)

    def unread(self) -> Iterator[Window]:
        """Return the windows that nobody reads, oldest first."""
        return (each for each in self._windows if each.state is State.UNREAD)

    def carve(self, start: int, end: int) -> Window | None:
        """Make a window of a part of an unread one.

        Args:
            start: Where the part begins.
            end: Where it ends, unless the unread window ends before.

        Returns:
            The part, still unread; None if nothing is unread at its start.
        """
        place = bisect_right(self._windows, start, key=lambda each: each.start) - 1
        around = self._windows[place] if place >= 0 else None
        if not around or around.state is not State.UNREAD or start >= around.end:
            return None
        end = min(end, around.end)
        edges = sorted({around.start, start, end, around.end})
        parts = self.cut(around, edges, around.least_density)
        return next(part for part in parts if part.start == start)

    def cut(
        self, window: Window, edges: Sequence[int], least_density: float
    ) -> list[Window]:
        """Put unread parts in the place of a window.

        They inherit what is known about it from before the run, and from wider queries.

        Args:
            window: The window.
            edges: Where the parts begin and end.
            least_density: The least number of pages a second that they hold.

        Returns:
            The parts.
        """
        parts = [
            Window(
                *each,
                least_density=least_density,
                capped_total=window.capped_total,
                is_known_hole=window.is_known_hole,
                is_last_try=window.is_last_try,
            )
            for each in pairwise(edges)
        ]
        place = bisect_right(self._windows, window.start, key=lambda w: w.start) - 1
        self._windows[place : place + 1] = parts
        window.state = State.CUT
        window.pages.clear()
        return parts
