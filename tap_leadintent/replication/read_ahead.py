"""Windows in flight, and the pages that wait for the oldest of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

# Pages beyond the oldest window, there or asked for. More keep readers busy beside a
# long window; fewer take less memory.
_MOST_AHEAD = 150

# So many of them are left to the windows that come next. More keep readers near the
# oldest window; fewer let them go on farther while it is read.
_SOON = 30

# Pages that a forecast is trusted with at first; it is trusted with one more for each
# that has come. More are lost where it is wrong; fewer leave readers idle.
_FIRST_TRUST = 40


@dataclass
class Chain:
    """A window in flight."""

    expected: float
    """How many pages it should have."""
    is_survey: bool
    """Whether it is given up when it has more."""
    pages: int = 0
    """How many it has shown."""


class ReadAhead:
    """What is in flight and what waits, by where its windows begin.

    All instants are in UTC seconds since 1970.
    """

    def __init__(self, front: int) -> None:
        """Begin with nothing.

        Args:
            front: Where the oldest second lies that has not been read.
        """
        self.in_flight: dict[int, Chain] = {}
        self.front = front
        self._waiting: dict[int, int] = {}
        self._trusted = float(_FIRST_TRUST)

    def advance(self, oldest_left: int | None) -> None:
        """Find the front, and forget what waits no longer.

        Args:
            oldest_left: Where the oldest piece begins that is not handed out, if any.
        """
        starts = [*self.in_flight, *([] if oldest_left is None else [oldest_left])]
        self.front = min(starts, default=self.front)
        self._waiting = {at: n for at, n in self._waiting.items() if at > self.front}

    def done(self, start: int, *, requests: int, pages: float) -> None:
        """Note that a window has been read whole.

        Args:
            start: Where it begins.
            requests: The requests it took.
            pages: The full pages it held.
        """
        del self.in_flight[start]
        self._waiting[start] = requests
        self._trusted += pages

    def room(self, start: int, *, foreseen: bool = False) -> float:
        """Tell how many pages more a window may have.

        Args:
            start: Where it begins.
            foreseen: Whether to leave room for all that is expected of those in flight.

        Returns:
            The pages, fewer than none if there are too many; the oldest window may have
            any number.
        """
        if start <= self.front:
            return inf
        ahead: dict[int, float] = dict(self._waiting)
        for at, chain in self.in_flight.items():
            if at > self.front:
                ahead[at] = max(chain.pages + 1, chain.expected if foreseen else 0)
        room = _MOST_AHEAD - sum(ahead.values())
        if not foreseen:
            return room
        older = sum(pages for at, pages in ahead.items() if at < start)
        return min(room if older < _SOON else room - _SOON, self._trusted - older)

    def shared_room(self, start: int) -> float:
        """Tell how many pages all readers together may have.

        Args:
            start: Where the next window begins.

        Returns:
            The pages, if nothing were in flight; fewer than none if there is no room.
        """
        older = sum(pages for at, pages in self._waiting.items() if at < start)
        every = sum(self._waiting.values())
        return min(_MOST_AHEAD - _SOON - every, self._trusted - older)
