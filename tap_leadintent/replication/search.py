"""Decides what becomes of a window that cannot be read.

It may be too wide for the API, hold a record that the API cannot return, or meet an API
that is down. So it is cut into shorter windows, down to a minute, until what cannot be
read is small enough to be left: a hole. Beside a hole, windows of its own length are
tried, so that a longer hole takes few requests.
"""

from dataclasses import dataclass, field
from math import inf

from tap_leadintent.replication.intervals import equal_edges
from tap_leadintent.replication.ledger import Ledger, State, Window

_MINUTE = 60
"""Seconds of a window that is left instead of being cut."""

_LONGEST_HOLE = 3 * 3600
"""Seconds in a row that cannot be read, after which the reading ends."""

_LONG_HOLE = 300
"""Seconds of a known hole from which on its parts are tried, too."""

_PARTS = 3

_FEW_SECONDS = 10
"""A window of so many seconds is cut into single ones."""

_READ_IN_A_ROW = 8
"""Windows after which longer ones are tried again."""


@dataclass
class Search:
    """Cuts and leaves the failed windows of a ledger, oldest first."""

    ledger: Ledger

    widest: int
    """The most seconds of a window."""

    width: int = field(init=False)
    """The same for now: failures narrow it, and successes widen it again."""

    has_read: bool = False
    """Whether a page has arrived."""

    _read_in_a_row: int = 0
    _longest_read: int = 0
    _hole: tuple[int, int] = (0, 0)
    _untried: Window | None = None
    """What of the first window has not been requested yet, when that had failed."""

    def __post_init__(self) -> None:
        """Begin with the longest windows."""
        self.width = self.widest

    def blocks(self, unread: Window) -> bool:
        """Return whether an older window has failed, and is to be cut or left first.

        Args:
            unread: The oldest unread window.
        """
        older = (each for each in self.ledger if each.start < unread.start)
        return any(each.state is State.FAILED for each in older)

    @property
    def planned(self) -> int | None:
        """How many windows may be planned ahead; None for any number.

        When so many have been read, a width that failures have narrowed grows again.
        """
        return None if self.width == self.widest else _READ_IN_A_ROW

    def retries_of(self, seconds: int) -> float:
        """Return how often requests are repeated that try a new width.

        Args:
            seconds: The length of a window.
        """
        is_new = self.width < self.widest and seconds > self._longest_read
        return 1 if is_new else inf

    def note_read(self, window: Window) -> None:
        """Note that a window has been read.

        Args:
            window: The window.
        """
        self._longest_read = max(self._longest_read, window.seconds)
        self._read_in_a_row += 1
        if self._read_in_a_row >= _READ_IN_A_ROW:
            self._read_in_a_row = 0
            self.width = min(2 * self.width, self.widest)

    def decide(self) -> list[Window]:
        """Cut or leave the windows that have failed, if all older ones are settled.

        Returns:
            The windows to read next.
        """
        if self._untried and not self.has_read:
            tried = next((w for w in self.ledger if w.start == self._untried.end), None)
            if tried and tried.state is State.FAILED:
                self._untried.state, self._untried.is_final = State.FAILED, True
        for window in [*self.ledger]:
            if window.state is State.FAILED and not window.is_final:
                if parts := self._cut(window):
                    return parts
            elif window.state not in {State.READ, State.LEFT}:
                break
        return []

    def _cut(self, window: Window) -> list[Window]:
        start, end, seconds = window.start, window.end, window.seconds
        hole_start, hole_end = self._hole
        if hole_end != start:
            hole_start = start
        # A window that fails beside a hole makes it twice as long, up to the limit.
        beside = min(start - hole_start, _LONGEST_HOLE - (start - hole_start))
        beside = max(beside, _MINUTE) if hole_start < start else 0
        finest = 1 if window.records else _MINUTE
        if window.is_known_hole:
            return self._narrow(window)
        if seconds <= max(finest, beside):
            self._leave(window, hole_start)
            return []
        if beside:
            edges = [start, start + beside, end]
        elif self.has_read or seconds <= 2 * _MINUTE:
            edges = _equal_parts(window)
        else:
            # A minute that lies elsewhere shows whether the API is down.
            edges = [start, end - _MINUTE, end]
        windows = self.ledger.cut(window, edges, 0.0)
        for each in windows:
            each.max_retries = 1
        if beside:
            return windows[:1]
        if not window.records:
            # Its first page could not be read, so it may be too wide.
            self.width = min(self.width, max(_MINUTE, -(-seconds // _PARTS)))
            self._read_in_a_row = self._longest_read = 0
        if self.has_read or seconds <= 2 * _MINUTE:
            return windows
        self._untried, tried = windows
        self._untried.error = window.error
        tried.max_retries, tried.is_probe = 0, True
        return [tried]

    def _narrow(self, window: Window) -> list[Window]:
        """Try the thirds of a known hole that is long, so that each run narrows it."""
        if window.is_last_try or window.seconds <= _LONG_HOLE:
            window.state = State.LEFT
            # An earlier run has emitted what it could read of it.
            window.pages.clear()
            return []
        window.is_last_try = True
        return self.ledger.cut(window, _equal_parts(window), 0.0)

    def _leave(self, window: Window, hole_start: int) -> None:
        """Leave a window as a hole, or end the reading if too much cannot be read."""
        if window.end - hole_start > _LONGEST_HOLE:
            window.is_final = True
            return
        window.state = State.LEFT
        self._hole = hole_start, window.end
        # The hole explains the failures, so it was not the width.
        self.width = self.widest


def _equal_parts(window: Window) -> list[int]:
    """Return where the equal parts of a window begin and end."""
    parts = window.seconds if window.seconds <= _FEW_SECONDS else _PARTS
    return equal_edges(window.start, window.end, parts)
