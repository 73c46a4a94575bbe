"""Limits how many pages are read ahead of the oldest window; they wait for it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Pages beyond the oldest window, there or asked for. More keep readers busy beside a
# long window; fewer take less memory.
_MOST_AHEAD = 150

# So many of them are kept for new windows close to the oldest one. More keep readers
# near it; fewer let them go on farther while it is read.
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
    """Whether it is given up when it has more than that."""
    pages: int = 0
    """How many it has shown."""


class ReadAhead:
    """Counts the pages beyond the front.

    The front is the oldest second that has not been read. Windows are named by where
    they begin. All instants are in UTC seconds since 1970.
    """

    def __init__(self, in_flight: Mapping[int, Chain]) -> None:
        """Begin with nothing that waits.

        Args:
            in_flight: The windows in flight at any time.
        """
        self._in_flight = in_flight
        self._waiting: dict[int, int] = {}
        self._trusted = float(_FIRST_TRUST)

    def wait(self, start: int, *, requests: int, pages: float, front: int) -> None:
        """Note that a window has been read whole, and waits if there is an older one.

        Args:
            start: The window.
            requests: The requests it took.
            pages: The full pages it held.
            front: The front.
        """
        self._trusted += pages
        waiting = {**self._waiting, start: requests}
        self._waiting = {at: n for at, n in waiting.items() if at > front}

    def room(self, start: int, front: int) -> float:
        """Tell how many pages a window may have beside those that all others have.

        Args:
            start: The window; if it is in flight, its next page counts as there.
            front: The front.

        Returns:
            The pages, fewer than none if there are too many. A window at the front may
            have any number.
        """
        if start <= front:
            return inf
        return _MOST_AHEAD - sum(self._ahead(front).values())

    def foreseen_room(self, start: int, front: int) -> float:
        """Tell how many pages a new window may be expected to have.

        Room is left for what is expected of those in flight, and for windows closer to
        the front. There is no more of it than forecasts are trusted with.

        Args:
            start: The window.
            front: The front.

        Returns:
            As for `room`.
        """
        if start <= front:
            return inf
        ahead = self._ahead(front, is_foreseen=True)
        older = sum(pages for at, pages in ahead.items() if at < start)
        room = _MOST_AHEAD - sum(ahead.values())
        return min(room if older < _SOON else room - _SOON, self._trusted - older)

    def shared_room(self, start: int) -> float:
        """Tell how many pages all readers together may have, if none were in flight.

        Args:
            start: The next window.

        Returns:
            The pages, fewer than none if too many wait.
        """
        older = sum(pages for at, pages in self._waiting.items() if at < start)
        room = _MOST_AHEAD - _SOON - sum(self._waiting.values())
        return min(room, self._trusted - older)

    def _ahead(self, front: int, *, is_foreseen: bool = False) -> dict[int, float]:
        ahead: dict[int, float] = dict(self._waiting)
        for at, chain in self._in_flight.items():
            ahead[at] = max(chain.pages + 1, chain.expected if is_foreseen else 0)
        return {at: pages for at, pages in ahead.items() if at > front}
