"""Cuts a time range into windows of a few pages each, several of them read at once."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import Enum, auto
from itertools import pairwise
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from tap_leadintent.replication import intervals
from tap_leadintent.replication.density import Density
from tap_leadintent.times import EARLIEST, format_instant

if TYPE_CHECKING:
    from tap_leadintent.replication.intervals import Interval

# What an edge's second holds is read twice. Windows of fewer seconds waste more of it;
# longer ones make long chains where a second holds pages.
OVERLAP_SECONDS = 1
_LEAST_SECONDS = 10

NARROWEST_SECONDS = 3600 - OVERLAP_SECONDS
"""Seconds of a window that is not narrowed when the API refuses it. Fewer would repeat
more requests that it refuses for other reasons; more would fail where it allows an hour
at most."""

# A scheduled run mostly finds little: what is shorter than this, or likely quiet, is
# first tried whole. More pages for a trial cost more where it is given up.
_LONG_STRETCH_SECONDS = 30 * 86400
_TRIAL_PAGES = 4

# More probes cost requests where there is little; fewer miss where it begins or ends.
# Each is as long as a day in a year: shorter ones see the day or the night.
_PROBES = 8
_PROBE_SHARE = 365
_PROBE_PAGES = 2

# What is given up is cut in so many pieces, each for twice what it has shown. Fewer are
# given up again more often; more cost part-filled pages.
_PIECES = 8
_DOUBT = 2

# A stretch that holds no more by what was given up around it is one piece. It is less
# than a page, so that a piece that shows a page itself is cut.
_SCARCE_PAGES = 0.9

# Larger windows waste fewer part-filled pages; smaller ones are finished together.
_FEWEST_PAGES = 2
_MOST_PAGES = 6

# Longer chains can neither be resumed nor shared; shorter ones are given up more often.
_LONGEST_CHAIN = 32
_LONGEST_WHILE_IDLE = 8
_IDLE_SHARE = 0.75

# The share of the longest chain that the densest second seen may fill. Less leaves most
# windows empty where such seconds are rare; more makes chains that are given up.
_LEAST_PAGES = 0.6

# Pages read ahead of the oldest window. More keep readers busy beside a long one; fewer
# are lost where an estimate proves wrong. They grow with each page since that happened.
_READ_AHEAD = 40
_READ_AHEAD_SHARE = 0.5
_MOST_READ_AHEAD = 110
_MOST_WAITING = 136


class _Purpose(Enum):
    TRIAL = auto()
    """Sees whether a whole stretch holds so little that it need not be cut."""
    PROBE = auto()
    """Sounds out how dense it is."""
    PIECE = auto()
    """Is cut from a window that was given up, or sees whether there is anything."""
    WINDOW = auto()


@dataclass
class _Chain:
    """A window in flight."""

    purpose: _Purpose
    expected: float
    """Pages; unless its purpose is a window, it is given up when it has more."""
    pages: int = 0


class Window(NamedTuple):
    """A piece of a time range, in UTC seconds since 1970."""

    start: int
    end: int
    is_kept: bool = True
    """Whether it is never given up, so that its pages can be handed over as they come.
    """

    def request_fields(self, name: str) -> dict[str, Any]:
        """Ask for the window; it begins early, as nobody says which ends a range holds.

        Args:
            name: The time range.

        Returns:
            The field of the request's body.
        """
        earliest = 0 if self.start >= 0 else EARLIEST
        start = max(earliest, self.start - OVERLAP_SECONDS)
        ends = {"start_time": start, "end_time": self.end}
        return {name: {end: format_instant(time) for end, time in ends.items()}}


class Windows:
    """The windows of one time range, for several readers, as good as oldest first.

    With a fixed length, a window is given to whoever asks. Without, a stretch that is
    short or likely quiet is first tried whole, and in another a few probes sound out
    how dense it is. Then windows follow the density of what was read last. One that
    shows far more than expected is given up, and what it held is read in pieces.
    """

    def __init__(
        self,
        stretches: list[Interval],
        *,
        page_size: int,
        readers: int = 1,
        length: int | None = None,
        quiet: bool = False,
    ) -> None:
        """Begin with everything left to hand out.

        Args:
            stretches: What is to be read, oldest first.
            page_size: Records in a full page.
            readers: How many windows are read at once.
            length: Seconds in a window, or None to follow the density.
            quiet: Whether the stretches are likely to hold next to nothing.
        """
        self._left = list(stretches)
        self._latest = max((end for _, end in stretches), default=0)
        self._readers = readers
        self._is_fixed = length is not None
        self._widest = length or sys.maxsize
        """How many seconds a window may hold."""
        self._is_narrowing = False
        """Whether no window has been accepted since one was refused."""
        self._density = Density(page_size)
        self._in_flight: dict[Window, _Chain] = {}
        self._planned: list[tuple[_Purpose, int, int, float]] = []
        """What is handed out next, and how many pages are expected."""
        self._read_ahead: dict[int, int] = {}
        """Where windows begin that were read before an older one, and their pages."""
        self._trusted = 0.0
        """Pages that have come since a window was given up."""
        self._is_idle = False
        """Whether a reader was left without a window."""
        if stretches and not length:
            self._plan_first(*stretches[0], quiet=quiet)

    @property
    def oldest_left(self) -> int | None:
        """Where the oldest piece begins that is not handed out, if there is any."""
        return self._left[0][0] if self._left else None

    @property
    def finished(self) -> bool:
        """Whether everything has been handed out and read."""
        return not self._left and not self._in_flight

    def end_by(self, latest: int) -> None:
        """Hand out nothing beyond an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        self._latest = min(self._latest, latest)
        self._left = self._clipped(self._left)

    def next(self) -> Window | None:
        """Hand out a window.

        Returns:
            The window, or None when there is none to give now: everything is handed
            out, or something in flight has to come back first.
        """
        if self._is_narrowing and self._in_flight:
            return None
        window = self._next_planned() or self._next_left()
        self._is_idle = window is None
        return window

    def goes_on(self, window: Window) -> bool:
        """Learn that a window has shown a page, and another is to come.

        Args:
            window: The window.

        Returns:
            Whether to read on; if not, the window is given up: what it held is read
            again in others.
        """
        self._is_narrowing = False
        chain = self._in_flight[window]
        chain.pages += 1
        if window.is_kept or chain.pages < self._most_pages(window, chain):
            return True
        self._give_up(window, chain)
        return False

    def done(self, window: Window, *, records: int, requests: int) -> None:
        """Learn that a window has been read whole.

        Args:
            window: The window.
            records: How many records it held.
            requests: How many requests it took.
        """
        self._is_narrowing = False
        del self._in_flight[window]
        start, end, _ = window
        self._density.learn(start, end, records=records, requests=requests)
        self._trusted += records / self._density.page_records
        front = self._front()
        self._density.forget(front)
        ahead = {**self._read_ahead, start: requests}
        self._read_ahead = {at: pages for at, pages in ahead.items() if at > front}

    def narrow(self, window: Window) -> None:
        """Learn that the API refused a window, which may be too wide for it.

        It is left again, and none is longer than half of it from now on. Until one has
        been accepted, they are handed out one by one, as all may be refused.

        Args:
            window: The window, of more than `NARROWEST_SECONDS`.
        """
        half = (window.end - window.start) // 2
        self._widest = min(self._widest, max(NARROWEST_SECONDS, half))
        self._is_narrowing = True
        self._leave(window)

    # What is handed out

    def _plan_first(self, start: int, end: int, *, quiet: bool) -> None:
        is_short = end - start < _LONG_STRETCH_SECONDS
        if is_short or quiet or self._readers == 1:
            pages = _TRIAL_PAGES if is_short else 1
            self._planned = [(_Purpose.TRIAL, start, end, pages)]
        else:
            self._plan_probes(start, end)

    def _plan_probes(self, start: int, end: int) -> None:
        seconds = max(1, (end - start) // _PROBE_SHARE)
        room = end - start - seconds
        starts = sorted({start + room * n // (_PROBES - 1) for n in range(_PROBES)})
        self._planned = [
            (_Purpose.PROBE, at, at + seconds, _PROBE_PAGES) for at in starts
        ]

    def _next_planned(self) -> Window | None:
        while self._planned:
            purpose, start, end, pages = self._planned.pop(0)
            end = min(end, self._latest, start + self._widest)
            if start < end:
                return self._hand_out(purpose, start, end, pages)
        return None

    def _next_left(self) -> Window | None:
        if not self._left or self._has(_Purpose.TRIAL, _Purpose.PROBE):
            return None
        start, end = self._left[0]
        end = min(end, start + self._widest)
        if self._is_fixed:
            return self._hand_out(_Purpose.WINDOW, start, end, 1)
        density = self._density.estimate(start)
        given_up = self._density.given_up_at(start)
        if given_up:
            bound = max(stretch.density for stretch in given_up)
            shortest = min(given_up, key=lambda stretch: stretch.end - stretch.start)
            if density is None or density * _DOUBT <= bound:
                return self._next_piece(start, min(end, shortest.end), bound)
            density = max(density, bound)
            # Shorter than what was given up, so that it comes to an end.
            end = min(end, start + (shortest.end - shortest.start) // 2)
        if density is None:
            return self._hand_out(_Purpose.PIECE, start, end, 1)
        return self._next_window(start, end, density)

    def _next_piece(self, start: int, end: int, density: float) -> Window | None:
        if self._has(_Purpose.PIECE):
            return None
        count = _PIECES if density * (end - start) > _SCARCE_PAGES else 1
        edges = [start + (end - start) * n // count for n in range(count + 1)]
        room = (_MOST_WAITING / 2 - sum(self._read_ahead.values())) / count
        shown = density * (end - start) / count
        pages = max(1.0, min(room, _DOUBT * shown))
        self._planned = [(_Purpose.PIECE, a, b, pages) for a, b in pairwise(edges)]
        return self._next_planned()

    def _next_window(self, start: int, end: int, density: float) -> Window | None:
        front = self._front()
        limit = min(_MOST_READ_AHEAD, _READ_AHEAD + self._trusted * _READ_AHEAD_SHARE)
        waiting = sum(self._read_ahead.values())
        older: float = sum(n for at, n in self._read_ahead.items() if at < start)
        room = min(limit - older, _MOST_WAITING - waiting)
        pages = self._wanted_pages(density, room / self._readers)
        if start > front:
            in_flight = [
                (window.start, max(chain.pages, chain.expected))
                for window, chain in self._in_flight.items()
            ]
            beyond = waiting + sum(held for at, held in in_flight if at > front)
            older += sum(held for at, held in in_flight if front < at < start)
            room = max(_MOST_WAITING - beyond, _READ_AHEAD - older)
            if older + pages > limit or pages > room:
                return None
        # Of whole pages, less what chance adds: a few records should not cost a page.
        chance = sqrt(pages / self._density.page_records) if pages >= 1 else 0.0
        seconds = ceil((pages - chance) / density)
        end = min(end, start + max(seconds, _LEAST_SECONDS))
        expected = max(_LEAST_PAGES / 2, density * (end - start))
        return self._hand_out(_Purpose.WINDOW, start, end, expected)

    def _wanted_pages(self, density: float, room: float) -> float:
        left = density * sum(end - start for start, end in self._left)
        pages = float(min(_MOST_PAGES, max(_FEWEST_PAGES, round(left / self._readers))))
        safe = _LONGEST_CHAIN * density / max(density, self._density.peak)
        if safe >= _LEAST_PAGES:
            pages = min(pages, safe)
        return max(min(_FEWEST_PAGES, pages), min(pages, round(room)))

    def _hand_out(
        self, purpose: _Purpose, start: int, end: int, expected: float
    ) -> Window:
        is_kept = self._is_fixed or end - start <= _LEAST_SECONDS
        window = Window(start, end, is_kept)
        self._left = intervals.subtract(self._left, (start, end))
        self._in_flight[window] = _Chain(purpose, expected)
        return window

    # What is given up

    def _most_pages(self, window: Window, chain: _Chain) -> float:
        front = self._front()
        if window.start > front and chain.pages > chain.expected:
            ahead = sum(self._read_ahead.values()) + sum(
                other.pages for w, other in self._in_flight.items() if w.start > front
            )
            if ahead >= _MOST_WAITING:
                return 0
        if chain.purpose is not _Purpose.WINDOW:
            return chain.expected
        idle = self._readers - len(self._in_flight)
        if self._is_idle and idle >= _IDLE_SHARE * self._readers and self._readers > 1:
            return _LONGEST_WHILE_IDLE
        return _LONGEST_CHAIN

    def _give_up(self, window: Window, chain: _Chain) -> None:
        self._leave(window)
        start, end, _ = window
        self._density.learn_bound(start, end, chain.pages)
        if chain.purpose is _Purpose.TRIAL and end - start >= _LONG_STRETCH_SECONDS:
            self._plan_probes(start, end)
        elif chain.purpose is _Purpose.PROBE and end - start >= 2 * _PIECES:
            shorter = start + (end - start) // _PIECES
            self._planned.append((_Purpose.PROBE, start, shorter, _PROBE_PAGES))
        elif chain.purpose is _Purpose.WINDOW:
            self._trusted, self._is_idle = 0.0, False

    def _leave(self, window: Window) -> None:
        del self._in_flight[window]
        left = intervals.add(self._left, (window.start, window.end))
        self._left = self._clipped(left)

    # What is known

    def _has(self, *purposes: _Purpose) -> bool:
        return any(chain.purpose in purposes for chain in self._in_flight.values())

    def _front(self) -> int:
        """Find where the oldest second lies that has not been read."""
        starts = [window.start for window in self._in_flight]
        left = self.oldest_left
        return min(starts if left is None else [*starts, left], default=self._latest)

    def _clipped(self, stretches: list[Interval]) -> list[Interval]:
        latest = self._latest
        return [(a, min(b, latest)) for a, b in stretches if a < latest]
