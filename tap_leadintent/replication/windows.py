"""Cuts a time range into windows of a few pages each, several of them read at once."""

from __future__ import annotations

import sys
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

from tap_leadintent.replication import intervals, survey
from tap_leadintent.replication.density import Density
from tap_leadintent.replication.read_ahead import Chain, ReadAhead
from tap_leadintent.replication.survey import Piece

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

# A forecast is taken to be wrong when a window has shown so many times its pages. More
# believes it for too long; less doubts it for chance.
_DOUBT = 1.5

# Larger windows waste fewer part-filled pages; smaller ones are finished together.
_FEWEST_PAGES = 2
_MOST_PAGES = 6

# Longer chains can neither be resumed nor shared; shorter ones are given up more often.
# Once nothing is left to hand out, and such a share of the readers has nothing to do,
# there is more to gain by sharing.
_LONGEST_CHAIN = 32
_LONGEST_IN_THE_END = 5
_IDLE_SHARE = 0.6

# A window is kept so short that it would not exceed the longest chain even at the
# highest density seen so far. It is not where it would then be expected to hold fewer
# pages than this. More makes chains that are given up; less leaves most windows empty
# beside dense seconds.
_LEAST_PAGES = 1


class Window(NamedTuple):
    """A piece of a time range, in UTC seconds since 1970."""

    start: int
    end: int
    is_kept: bool = True
    """Whether it is never given up, so that its pages can be handed over as they come.
    """


class Windows:
    """The windows of one time range, for several readers, mostly oldest first.

    With a fixed length, a window is given to whoever asks. Without, each is cut so that
    it should hold a few pages. Where too little is known for that, a few windows survey
    a stretch, and nothing else is handed out meanwhile: the whole range in the
    beginning, and later a window that has shown far more than expected, which is given
    up.
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
        self._in_flight: dict[int, Chain] = {}
        """By where they begin."""
        self._ahead = ReadAhead(self._in_flight)
        self._surveys: list[Piece] = []
        """What is surveyed next."""
        if stretches and not length:
            self._surveys = survey.probes(*stretches[0], quiet=quiet)

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
        return self._next_survey() or self._next_left()

    def goes_on(self, window: Window) -> bool:
        """Learn that a window has shown a page, and another is to come.

        Args:
            window: The window.

        Returns:
            Whether to read on; if not, the window is given up: what it held is read
            again in others.
        """
        self._is_narrowing = False
        chain = self._in_flight[window.start]
        chain.pages += 1
        if window.is_kept or self._may_go_on(window.start, chain):
            return True
        self._leave(window)
        self._density.learn_bound(window.start, window.end, chain.pages + 1)
        if chain.is_survey:
            # It has shown where records are dense, which the others were to find.
            self._surveys = []
        return False

    def done(self, window: Window, *, records: int, requests: int) -> None:
        """Learn that a window has been read whole.

        Args:
            window: The window.
            records: How many records it held.
            requests: How many requests it took.
        """
        self._is_narrowing = False
        start, end, _ = window
        self._density.learn(start, end, records=records, requests=requests)
        del self._in_flight[start]
        front = self._front()
        self._density.forget(front)
        pages = records / self._density.page_records
        self._ahead.wait(start, requests=requests, pages=pages, front=front)

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
        self._surveys = []
        self._leave(window)

    # What is handed out

    def _next_survey(self) -> Window | None:
        while self._surveys:
            start, end, pages = self._surveys.pop(0)
            end = min(end, self._latest, start + self._widest)
            if start < end and self._ahead.room(start, self._front()) >= 1:
                return self._hand_out(start, end, pages, is_survey=True)
        return None

    def _next_left(self) -> Window | None:
        is_surveying = any(chain.is_survey for chain in self._in_flight.values())
        if is_surveying or not self._left:
            return None
        start, end = self._left[0]
        end = min(end, start + self._widest)
        if self._is_fixed:
            return self._hand_out(start, end, 1)
        given_up = self._density.given_up_at(start)
        mean = self._density.mean(start, is_dense=bool(given_up)) or 0.0
        if given_up:
            expected = self._density.pages(given_up.start, given_up.end, mean)
            if _DOUBT * expected <= given_up.amount:
                end = min(end, given_up.end)
                self._surveys = survey.pieces(start, end, given_up)
                return self._next_survey()
            # Shorter than what was given up, so that it comes to an end.
            end = min(end, start + (given_up.end - given_up.start) // 2)
        elif self._is_unknown(start):
            unknown = [(a, b) for a, b in self._left if self._is_unknown(a)]
            self._surveys = [Piece(a, b, 1) for a, b in unknown]
            return self._next_survey()
        return self._next_window(start, end, mean)

    def _is_unknown(self, start: int) -> bool:
        """Tell whether nothing shows what a piece that is left may hold."""
        density = self._density
        if density.given_up_at(start):
            return False
        return density.mean(start) is None or density.is_between_empty(start)

    def _next_window(self, start: int, end: int, mean: float) -> Window | None:
        pages = self._wanted_pages(start, mean)
        if pages > self._ahead.foreseen_room(start, self._front()):
            return None
        # A few records more than whole pages cost one page more, so it should hold less
        # by what chance may add.
        chance = sqrt(pages / self._density.page_records) if pages >= 1 else 0.0
        forecast = self._density.end(start, pages - chance, mean, latest=end)
        end = min(end, max(forecast, start + _LEAST_SECONDS))
        expected = self._density.pages(start, end, mean)
        return self._hand_out(start, end, expected)

    def _wanted_pages(self, start: int, mean: float) -> float:
        """Give a reader's share of what is left or of the room, or less."""
        left = mean * sum(end - start for start, end in self._left)
        room = self._ahead.shared_room(start)
        share = round(min(left, room) / self._readers)
        pages = float(min(_MOST_PAGES, max(_FEWEST_PAGES, share)))
        safe = _LONGEST_CHAIN * mean / max(mean, self._density.peak)
        is_safer = safe >= _LEAST_PAGES and not self._density.is_weekly
        return min(pages, safe) if is_safer else pages

    def _hand_out(
        self, start: int, end: int, expected: float, *, is_survey: bool = False
    ) -> Window:
        is_kept = self._is_fixed or end - start <= _LEAST_SECONDS
        window = Window(start, end, is_kept)
        self._left = intervals.subtract(self._left, (start, end))
        self._in_flight[start] = Chain(expected, is_survey)
        return window

    # What is read on or given up

    def _may_go_on(self, start: int, chain: Chain) -> bool:
        idle = self._readers - len(self._in_flight)
        most: float = _LONGEST_CHAIN
        if chain.is_survey:
            most = chain.expected
        elif not self._left and idle >= _IDLE_SHARE * self._readers:
            most = max(_LONGEST_IN_THE_END, _DOUBT * chain.expected)
        return chain.pages < most and self._ahead.room(start, self._front()) >= 0

    def _leave(self, window: Window) -> None:
        del self._in_flight[window.start]
        left = intervals.add(self._left, (window.start, window.end))
        self._left = self._clipped(left)

    def _front(self) -> int:
        """Find where the oldest second lies that has not been read."""
        starts = [*self._in_flight, *(start for start, _ in self._left[:1])]
        return min(starts, default=self._latest)

    def _clipped(self, stretches: list[Interval]) -> list[Interval]:
        latest = self._latest
        return [(a, min(b, latest)) for a, b in stretches if a < latest]
