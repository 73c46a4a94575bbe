"""Cuts a time range into windows that hold a few pages each, read several at once."""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from tap_leadintent.replication import intervals
from tap_leadintent.replication.density import GROWTH, Density
from tap_leadintent.times import EARLIEST, format_instant

if TYPE_CHECKING:
    from tap_leadintent.replication.intervals import Interval

# What an edge's second holds is read twice, so windows must be far longer.
_OVERLAP_SECONDS = 1
_LEAST_SECONDS = 61

# A scheduled run mostly finds little: what is shorter than this is first tried whole.
_LONG_STRETCH_SECONDS = 30 * 86400
_TRIAL_PAGES = 4

# A probe is as long as a day in a year: it sees both day and night, and a page there
# means an amount worth the haste. All but the first are far ahead of what is written,
# so they must hold little; what one that holds more may hold is a guess.
_PROBE_PLACES = (0.0, 1.0, 0.5)
_PROBE_SHARE = 365
_PROBE_PAGES = 1
_GIVEN_UP_PAGES = 3.0

# A window is a reader's share of what is left. Larger ones waste fewer part-filled
# pages; smaller ones take less memory and let the readers finish together.
_FEWEST_PAGES = 2
_MOST_PAGES = 8
_PAGES_AT_ONCE = 96

# Requests beyond the least possible: so many in any history (more for many readers),
# and a share of each page. Every window that is out may turn out to be one.
_SPARE_REQUESTS = 10
_SPARE_MARGIN = 2
_SPARE_SHARE = 0.12

# Only with so many is it tried what a search for the beginning may make unnecessary.
_SEARCH_SPARE = 7

# When fewer are left, each one fewer makes windows so many times longer that they last
# for whatever is to come; without a limit that would leave the range of numbers.
_FEW_SPARE = 3
_MOST_PRESSURE = 10


class Window(NamedTuple):
    """A piece of a time range, in UTC seconds since 1970."""

    start: int
    end: int
    most_pages: int | None = None
    """A window on trial is given up when it has more pages than this."""

    def request_fields(self, name: str) -> dict[str, Any]:
        """Ask for the window; it begins early, as nobody says which ends a range holds.

        Args:
            name: The time range.

        Returns:
            The field of the request's body.
        """
        earliest = 0 if self.start >= 0 else EARLIEST
        start = max(earliest, self.start - _OVERLAP_SECONDS)
        ends = {"start_time": start, "end_time": self.end}
        return {name: {end: format_instant(time) for end, time in ends.items()}}


class Windows:
    """The windows of one time range, for several readers, as good as oldest first.

    With a fixed length, a window is given to whoever asks. Without, a stretch that is
    short or likely quiet is first tried whole, and in another a few probes find out how
    dense it is; they are the only windows that may leave something older behind. Where
    it begins with nothing, a search finds the beginning. Then the length follows the
    density, and a reader waits where its window would be one guess too many.
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
        self._page_size = page_size
        self._readers = readers
        self._quiet = quiet
        self._fixed = length
        self._out: dict[Window, int] = {}
        """The windows that are out, and how many full pages each has shown."""
        self._trial: Window | None = None
        self._planned: list[Interval] = []
        self._probes: set[Window] = set()
        self._probe_seconds = 0
        self._density = Density()
        self._leap: Window | None = None
        """The last window on trial of the search for where the records begin."""
        self._alone: Window | None = None
        """Nothing is handed out beside this window."""
        self._is_sampling = False
        """Whether the next window is to show how dense it is behind the beginning."""
        self._spare = float(max(_SPARE_REQUESTS, readers + _SPARE_MARGIN))

    @property
    def oldest_left(self) -> int | None:
        """Where the oldest piece begins that is not handed out, if there is any."""
        return self._left[0][0] if self._left else None

    @property
    def finished(self) -> bool:
        """Whether everything has been handed out and read."""
        return not self._left and not self._out

    def end_by(self, latest: int) -> None:
        """Hand out nothing beyond an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        self._latest = min(self._latest, latest)
        self._left = self._clipped(self._left)
        self._planned = self._clipped(self._planned)

    def next(self) -> Window | None:
        """Hand out a window.

        Returns:
            The window, or None when there is none to give now: everything is handed
            out, or something that is out has to come back first.
        """
        if not self._left:
            return None
        start, end = self._left[0]
        if self._fixed:
            return self._hand_out(start, min(end, start + self._fixed))
        if not self._planned:
            if self._trial or self._probes:
                return None
            if self._density.probes:
                return self._next_by_density(start, end)
            if pages := self._trial_pages(end - start):
                self._trial = self._hand_out(start, end, pages)
                return self._trial
            self._plan_probes(start, end)
        probe = self._planned.pop(0)
        window = self._hand_out(*probe, None if probe[0] == start else _PROBE_PAGES)
        self._probes.add(window)
        return window

    def goes_on(self, window: Window) -> None:
        """Learn that a window has shown a full page, and another is to come.

        Args:
            window: The window.
        """
        self._out[window] += 1

    def give_up(self, window: Window) -> None:
        """Learn that a window on trial holds too much.

        Args:
            window: The window, which will be read in smaller ones.
        """
        del self._out[window]
        self._left = self._clipped(
            intervals.add(self._left, (window.start, window.end))
        )
        self._spare -= window.most_pages or 0
        if window in self._probes:
            self._learn_probe(window, _GIVEN_UP_PAGES)
            return
        self._density.learn_end(window.end)
        if window == self._trial:
            self._trial = None
            self._plan_probes(window.start, window.end)

    def done(self, window: Window, *, records: int, requests: int) -> None:
        """Learn that a window has been read whole.

        Args:
            window: The window.
            records: How many records it held.
            requests: How many requests it took.
        """
        del self._out[window]
        pages = records / self._page_size
        self._spare += _SPARE_SHARE * pages - (requests - pages)
        if window == self._trial:
            self._trial = None
        elif window in self._probes:
            self._learn_probe(window, pages)
        if window.most_pages is None or window == self._leap:
            self._learn_window(window, pages)

    def _clipped(self, stretches: list[Interval]) -> list[Interval]:
        latest = self._latest
        return [(a, min(b, latest)) for a, b in stretches if a < latest]

    def _hand_out(self, start: int, end: int, most_pages: int | None = None) -> Window:
        window = Window(start, end, most_pages)
        self._left = intervals.subtract(self._left, (start, end))
        self._out[window] = 0
        return window

    def _trial_pages(self, seconds: int) -> int:
        if seconds < _LONG_STRETCH_SECONDS:
            return _TRIAL_PAGES
        # Without other readers beside it, no probe could be quicker.
        return 1 if self._readers == 1 or self._quiet else 0

    def _plan_probes(self, start: int, end: int) -> None:
        end = min(end, self._latest)
        seconds = max(_LEAST_SECONDS, (end - start) // _PROBE_SHARE)
        count = max(1, min(len(_PROBE_PLACES), self._readers, (end - start) // seconds))
        room = max(0, end - start - seconds)
        self._probe_seconds = seconds
        starts = [start + int(room * share) for share in _PROBE_PLACES[:count]]
        self._planned = sorted((at, min(end, at + seconds)) for at in starts)

    def _learn_probe(self, probe: Window, pages: float) -> None:
        self._probes.remove(probe)
        self._density.learn_probe(probe.start, probe.end - probe.start, pages)

    def _learn_window(self, window: Window, pages: float) -> None:
        seconds = window.end - window.start
        if pages and self._leap and not self._density.has_begun(window.start):
            # That was the search, but all may lie near the window's end.
            seconds = max(1, seconds // GROWTH)
            self._is_sampling = True
        self._density.learn_window(window.start, seconds, pages)

    def _next_by_density(self, start: int, end: int) -> Window | None:
        # What a window has shown already pays for a part of its last page.
        at_stake = sum(max(0.0, 1 - _SPARE_SHARE * full) for full in self._out.values())
        if self._out and (self._alone in self._out or self._spare < at_stake + 1):
            return None
        if self._is_searching(start, self._spare - at_stake):
            return None if self._out else self._search(start, end)
        window = self._hand_out(start, min(end, start + self._seconds(start)))
        if self._is_sampling or self._density.is_dense_at(start):
            self._alone, self._is_sampling = window, False
        return window

    def _is_searching(self, start: int, spare: float) -> bool:
        if self._density.has_begun(start):
            return False
        # It may be near, and then a few windows at once find it sooner.
        is_first_try = self._leap is None and spare >= _SEARCH_SPARE
        return not (is_first_try and self._density.forecast(start))

    def _search(self, start: int, end: int) -> Window:
        """Look for where the records begin, with one request for each halving."""
        dense = self._density.dense_after(start)
        until = int(min(end, dense))
        leap = until - start
        if dense <= end:
            leap //= 2
            if self._leap is None:
                leap = min(leap, self._density.last_seconds * GROWTH)
        usual = self._seconds(start)
        near = usual if self._density.forecast(start) else self._probe_seconds
        if leap <= near or self._spare < _FEW_SPARE:
            return self._hand_out(start, min(until, start + usual))
        self._leap = self._alone = self._hand_out(start, start + leap, 1)
        return self._leap

    def _seconds(self, start: int) -> int:
        seconds = self._density.seconds(start, self._wanted_pages())
        pressure = min(_MOST_PRESSURE, max(0.0, _FEW_SPARE - self._spare))
        if not self._density.is_dense_at(start):
            seconds *= GROWTH**pressure
        return max(_LEAST_SECONDS, ceil(seconds))

    def _wanted_pages(self) -> float:
        left = self._density.guess * sum(end - start for start, end in self._left)
        most = min(_MOST_PAGES, _PAGES_AT_ONCE // self._readers)
        pages = round(min(most, max(_FEWEST_PAGES, left / self._readers)))
        # Of whole pages, less what chance adds: a few records should not cost a page.
        return pages - sqrt(pages / self._page_size)
