"""Decides what becomes of a window that cannot be read.

It may be too wide for the API, hold a record that the API cannot return, or meet an API
that is down. So it is cut into shorter windows, down to a minute, until what cannot be
read is small enough to be left: a hole. Where a later page of a query failed, the API
may limit the records of a query, so such a window is cut down to a second. Beside a
hole, windows of its own length are tried, so that a longer hole takes few requests.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import ceil, inf

from tap_leadintent.replication.intervals import Interval, equal_edges, overlap
from tap_leadintent.replication.ledger import Ledger, Question, State, Window

_MINUTE = 60
"""Seconds of a window that is left instead of being cut, if its first page failed."""

_LONGEST_HOLE = 3 * 3600
"""Seconds in a row that cannot be read, after which the reading ends."""

_LONG_HOLE = 300
"""The parts of a known hole that is longer than this are tried, too."""

_PARTS = 3

_FEW_SECONDS = 10
"""A window of so many seconds is cut into single ones."""

_READ_IN_A_ROW = 8
"""After this many windows have been read, longer ones are tried again."""


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
    """How many windows have been read since the width was last changed by a failure, or
    widened."""

    _longest_read: float = inf
    """The most seconds of a window that was read since failures narrowed the width;
    infinity while they have not."""

    _hole: Interval = (0, 0)
    """The hole that was left last; it grows while what follows it is left, too."""

    def __post_init__(self) -> None:
        """Begin with the longest windows."""
        self.width = self.widest

    def plan_holes(self, holes: Sequence[Interval]) -> None:
        """Let what an earlier run could not read be requested next.

        Args:
            holes: Parts of what is unread, in UTC seconds since 1970.
        """
        for window in list(self.ledger):
            whole = (window.start, window.end)
            parts: list[Interval] = []
            for start, end in overlap(holes, whole):
                parts += self.equal_parts(start, end, 1)
            self.ledger.cut(
                window,
                parts,
                max_pages=inf,
            )
        for hole in self.ledger.of(State.READY):
            hole.tries = 2

    def equal_parts(
        self,
        start: int,
        end: int,
        count: int,
    ) -> list[Interval]:
        """Cut an interval into equal parts, or into more if they are too wide.

        Args:
            start: Where the interval begins, in UTC seconds since 1970.
            end: Where it ends.
            count: The number of parts.

        Returns:
            The parts. While failures narrow the width, these are only as many as widen
            it again when they are read.
        """
        least = ceil((end - start) / self.width)
        edges = equal_edges(start, end, max(count, least))
        parts = list(pairwise(edges))
        if self.width < self.widest:
            return parts[:_READ_IN_A_ROW]
        return parts

    def is_untried(self, seconds: int) -> bool:
        """Return whether nothing so long was read since failures narrowed the width.

        Args:
            seconds: The length of a window, or what it could be.
        """
        return min(seconds, self.width) > self._longest_read

    def retries_of(self, window: Window) -> float:
        """Return how often the requests of a window are repeated at most.

        Args:
            window: The window, before its first request.
        """
        if window.tries:
            return 0
        if self.is_untried(window.seconds):
            return min(window.max_retries, 1)
        return window.max_retries

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

    def decide(self) -> None:
        """Cut or leave the windows that have failed, if all older ones are settled."""
        for window in list(self.ledger):
            if window.state is State.FAILED:
                self._divide(window)
            if window.state not in {State.READ, State.LEFT}:
                return

    def _divide(self, window: Window) -> None:
        """Cut a window, or leave it, or ask whether the API is down."""
        start = window.start
        seconds = window.seconds
        hole_start, hole_end = self._hole
        if hole_end != start:
            hole_start = start
        beside = _seconds_beside(start - hole_start)
        finest = 1 if window.records else _MINUTE
        if window.tries:
            self._narrow(window)
        elif seconds <= max(finest, beside):
            self._leave(window, hole_start)
        elif beside:
            self.ledger.cut(
                window,
                [(start, start + beside)],
                max_retries=1,
            )
        elif self.has_read or seconds <= 2 * _MINUTE:
            if not window.records:
                # Its first page could not be read, so it may be too wide.
                third = ceil(seconds / _PARTS)
                self.width = min(self.width, max(_MINUTE, third))
                self._read_in_a_row = 0
                self._longest_read = 0
                self.ledger.release(self.width)
            self._cut_equally(window, max_retries=1)
        elif not self._is_asked_about(window):
            # A minute that lies elsewhere shows whether the API is down.
            self._ask_for(window, window.end - _MINUTE)

    def _is_asked_about(self, window: Window) -> bool:
        return any(question.about is window for question in self.ledger.questions)

    def _ask_for(
        self,
        window: Window,
        start: int,
    ) -> None:
        """Ask for a minute, to decide about a failed window."""
        minute = Question(
            start,
            start + _MINUTE,
            max_retries=0,
            about=window,
        )
        self.ledger.questions.append(minute)

    def note_failed_minute(
        self,
        window: Window,
        question: Question,
    ) -> None:
        """Note that a minute of a failed window failed, too: the API may be down.

        An API may not return the newest minutes yet, so the API counts as down when the
        oldest minute fails as well.

        Args:
            window: The failed window.
            question: The minute that was asked for.
        """
        if question.start == window.start:
            window.state = State.FATAL
        else:
            self._ask_for(window, window.start)

    def _narrow(self, window: Window) -> None:
        """Try the thirds of a known hole that is long, so that each run narrows it."""
        if window.tries > 1 and window.seconds > _LONG_HOLE:
            self._cut_equally(window, tries=1)
            return
        window.state = State.LEFT
        # An earlier run has emitted what it could read of it.
        window.pages.clear()

    def _leave(
        self,
        window: Window,
        hole_start: int,
    ) -> None:
        """Leave a window as a hole, or end the reading if too much cannot be read."""
        if window.end - hole_start > _LONGEST_HOLE:
            window.state = State.FATAL
            return
        window.state = State.LEFT
        self._hole = (hole_start, window.end)
        # The hole explains the failures, so it was not the width.
        self.width = self.widest
        self._longest_read = inf

    def _cut_equally(
        self,
        window: Window,
        **how: int,
    ) -> None:
        is_brief = window.seconds <= _FEW_SECONDS
        ready = self.equal_parts(
            window.start,
            window.end,
            window.seconds if is_brief else _PARTS,
        )
        self.ledger.cut(
            window,
            ready,
            **how,
        )


def _seconds_beside(hole_seconds: int) -> int:
    """Return how much is tried at once beside a hole; 0 if there is no hole.

    If it fails, the hole is twice as long, but no longer than a hole may be.

    Args:
        hole_seconds: The length of the hole so far.
    """
    if not hole_seconds:
        return 0
    left = _LONGEST_HOLE - hole_seconds
    return max(_MINUTE, min(hole_seconds, left))
