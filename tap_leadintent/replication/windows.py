"""Cuts a time range into windows of a few pages each, several of them read at once.

A window is as long as what was read last before it suggests. Where that says nothing,
a look reads a short piece, or all of a quiet one, and is given up where it holds more
than expected. All instants are in UTC seconds since 1970.
"""

import sys
from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from tap_leadintent.replication.intervals import Interval

OVERLAP_SECONDS = 1
"""How much earlier than its start a window is asked for, as the API description does
not show whether a range includes its ends. What lies there is read twice."""

NARROWEST = 3600 - OVERLAP_SECONDS
"""Seconds of a window that is not narrowed when the API refuses it. Fewer would repeat
more requests that it refuses for other reasons; more would fail where it allows an hour
at most."""

_PAGES = 8
"""Pages that a window should hold; the density is the mean over as many. More waste
fewer part-filled last pages; fewer follow changes sooner, and are finished together."""

_LOOK_PAGES = 2
"""A look is given up after so many pages. More are wasted where it is dense; fewer give
up what is nearly finished."""

_LONGEST_CHAIN = 32
"""Any other window is given up after so many. More can be neither shared nor resumed
for long; fewer give up what would soon have ended."""

_LONGEST_QUIET_CHAIN = 64
"""A quiet stretch that holds more than a look is read in pieces of up to so many pages.
More can be neither shared nor resumed for long; fewer give up batches of one second."""

_PAGES_AHEAD = 16
"""So many pages for each reader may lie between the oldest second that is not read and
what is handed out. More take memory; fewer leave readers idle beside a long chain."""

_LOOKS = 8
"""Looks at a history. More cost requests where there is nothing; fewer leave readers
idle."""

_LOOK_SHARE = 365
"""The part of a history that each of these looks covers, as a day of a year. Longer
ones are given up; shorter ones see only the day or the night."""

_PIECES = 5
"""Pieces of a window that was given up. More cost requests where they are empty; fewer
take longer to find what is dense."""

_QUIET_PIECES = 3
"""Pieces of a quiet stretch that was given up. More are read sooner; fewer cost less:
each piece may have one part-filled page and an empty one."""

_LEAST_SECONDS = 10
"""A window of so few seconds is never given up. Fewer would read more seconds twice, as
windows overlap by one; more make longer chains where all lies in one second."""


class Window(NamedTuple):
    """A piece of a time range that is read in one chain."""

    start: int
    end: int
    expected: float = 1.0
    """How many pages it should hold."""
    is_look: bool = False
    """Whether it is given up when it holds more."""
    is_kept: bool = True
    """Whether it is never given up, so that its pages can be handed over as they come.
    """


_Piece = tuple[int, int, float]
"""Where it begins, where it ends, and a figure."""


class Windows:
    """The windows of a time range, handed out to several readers, oldest first."""

    def __init__(  # noqa: PLR0913
        self,
        stretches: Sequence[Interval],
        *,
        page_size: int,
        readers: int = 1,
        widest: int | None = None,
        quiet: bool = False,
        whole: bool = False,
    ) -> None:
        """Begin with everything left to hand out.

        Args:
            stretches: What is to be read, oldest first.
            page_size: Records in a full page.
            readers: How many windows are read at once.
            widest: The most seconds of a window.
            quiet: Whether each stretch is likely to hold next to nothing.
            whole: Whether each stretch is one window, however long it is and however
                much it holds; one reader reads it.
        """
        self.readers = 1 if whole else readers
        """How many windows are read at once."""
        self.widest = sys.maxsize if whole or not widest else widest
        """The most seconds of a window, which the API may turn out to narrow."""
        self._is_quiet = quiet
        self._kept_seconds = sys.maxsize if whole else _LEAST_SECONDS
        self._full = page_size / 2
        """Records that count as a page: the most that one has shown so far."""
        self._left = [(start, end, 0.0) for start, end in stretches]
        """What is not handed out, with the pages a second that it has at the least."""
        self._in_flight: dict[Window, float] = {}
        """The windows that are being read, with the pages that they have shown."""
        self._read: list[_Piece] = []
        """What was read, with its pages."""
        self._looks: list[_Piece] = []
        """What is looked at next, with the pages after which it is given up."""
        for start, end in [] if quiet or whole else stretches[:1]:
            seconds = max(1, (end - start) // _LOOK_SHARE)
            step = (end - start - seconds) / (_LOOKS - 1)
            starts = sorted({start + int(step * n) for n in range(_LOOKS)})
            self._looks = [(at, at + seconds, _LOOK_PAGES) for at in starts]

    @property
    def oldest_left(self) -> int | None:
        """Where the oldest piece begins that is not handed out, if there is any."""
        return self._left[0][0] if self._left else None

    def next(self) -> Window | None:
        """Hand out a window.

        Returns:
            The window, or None when there is none to give now: everything is handed
            out, or something in flight has to come back first.
        """
        if window := self._next_look():
            return window
        if not self._left or any(window.is_look for window in self._in_flight):
            return None
        start, end, least = self._left[0]
        density = self._density(start)
        if least and 2 * density <= least:
            self._looks = self._cut(start, end, _PIECES, _LOOK_PAGES)
        elif not density:
            unknown = [(a, b) for a, b, _ in self._left if not self._density(a)]
            self._looks = [p for x in unknown for p in self._cut(*x, 1, _LOOK_PAGES)]
        if self._looks:
            return self._next_look()
        left = density * sum(end - start for start, end, _ in self._left)
        wanted = min(_PAGES, max(1, left / self.readers))
        seconds = max(_LEAST_SECONDS, int(wanted / density) + 1)
        return self._hand_out(start, min(end, start + seconds), wanted)

    def goes_on(self, window: Window, *, records: int) -> bool:
        """Learn that a window has shown a page, and another is to come.

        Args:
            window: The window.
            records: How many records the page held.

        Returns:
            Whether to read on; if not, what it held is read again in others.
        """
        # Counted by what it holds: an empty page says nothing of how dense records are,
        # and pages may be shorter than asked for.
        self._full = max(self._full, records)
        page = max(0.5, records / self._full) if records else 0.0
        shown = self._in_flight[window] = self._in_flight[window] + page
        most: float = _LONGEST_CHAIN
        if window.is_look:
            most = window.expected
        elif not self._left and len(self._in_flight) < self.readers:
            # A reader has nothing else to do, so it is shared sooner.
            most = min(most, max(_LOOK_PAGES, 2 * window.expected))
        if window.is_kept or shown < most:
            return True
        self._put_back(window, shown + 1)
        if window.is_look:
            self._looks = []  # They were to find what this has found.
            if self._is_quiet:
                start, end, *_ = window
                self._looks = self._cut(start, end, _QUIET_PIECES, _LONGEST_QUIET_CHAIN)
                self._is_quiet = False
        return False

    def done(self, window: Window, *, records: int) -> None:
        """Learn that a window has been read whole.

        Args:
            window: The window.
            records: How many records its last page held.
        """
        pages = self._in_flight.pop(window) + records / self._full
        insort(self._read, (window.start, window.end, pages))

    def narrow(self, window: Window) -> None:
        """Learn that the API refused a window, which may be too wide for it.

        It is left again, and none is longer than half of it from now on.

        Args:
            window: The window, of more than `NARROWEST`.
        """
        half = (window.end - window.start) // 2
        self.widest = min(self.widest, max(NARROWEST, half))
        self._put_back(window, 0.0)
        if all(b - a > self.widest for a, b, *_ in self._in_flight):
            # One alone tries whether the API accepts this length.
            start, end, _ = self._left[0]
            self._looks = [(start, end, _LOOK_PAGES)]

    def _next_look(self) -> Window | None:
        window = None
        while self._looks and not window:
            window = self._hand_out(*self._looks.pop(0), is_look=True)
        return window

    def _cut(self, start: int, end: int, count: int, most: int) -> list[_Piece]:
        """Cut a stretch into equal looks, or into more if they are too wide."""
        count = max(count, -((start - end) // self.widest))
        edges = sorted({start + (end - start) * n // count for n in range(count + 1)})
        return [(a, b, most) for a, b in pairwise(edges)]

    def _density(self, instant: int) -> float:
        """Give the pages a second in what was read last before an instant.

        It is the highest of the means that go back from there, over some pages at most.
        """
        seconds = pages = density = 0.0
        for n in range(bisect_left(self._read, (instant,)) - 1, -1, -1):
            start, end, held = self._read[n]
            # A crowded moment must not make all windows short that come after it.
            seconds, pages = seconds + end - start, pages + min(held, 2 * _PAGES)
            density = max(density, pages / seconds)
            if pages > _PAGES:
                break
        return density

    def _hand_out(
        self, start: int, end: int, expected: float, *, is_look: bool = False
    ) -> Window | None:
        """Hand out a window, unless too much before it is read already, and waits."""
        end = min(end, start + self.widest)
        front = min([window.start for window in self._in_flight] + [self._left[0][0]])
        first, last = (bisect_left(self._read, (at,)) for at in (front, start))
        ahead = sum(pages for _, _, pages in self._read[first:last])
        for window, shown in self._in_flight.items():
            if front < window.start < start:
                ahead += max(shown + 1, min(window.expected, _PAGES))
        if start > front and ahead >= self.readers * _PAGES_AHEAD:
            return None
        self._take(start, end)
        is_kept = end - start <= self._kept_seconds
        window = Window(start, end, expected, is_look, is_kept)
        self._in_flight[window] = 0.0
        return window

    def _take(self, start: int, end: int) -> None:
        """Take a stretch out of what is left."""
        left = self._left
        self._left = [(a, min(b, start), least) for a, b, least in left if a < start]
        self._left += [(max(a, end), b, least) for a, b, least in left if b > end]

    def _put_back(self, window: Window, pages: float) -> None:
        """Leave a window again, which holds so many pages at the least."""
        del self._in_flight[window]
        start, end, *_ = window
        insort(self._left, (start, end, pages / (end - start)))
