"""Cuts a time range into windows of a few pages each, several of them read at once.

The length of an ordinary window follows from how dense the records just before it were.
A probe is a window that shows how dense records are, so no ordinary window begins while
it is read. There are five kinds of probes:

* eight short samples of the first interval of a history;
* all of an interval, if nothing was found before it, or if it is quiet, which means
  that it likely holds what came since the last run;
* the parts of an abandoned window that was much denser than expected;
* the parts of a quiet interval that holds more than a probe may;
* one window that tries a shorter length, after the API has refused a longer one.

A window that turns out to hold more pages than it may is abandoned, and its interval is
read in other windows. A window that cannot be read, or perhaps not completely, is
divided: its parts are read instead. All instants are in UTC seconds since 1970.
"""

import sys
from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, inf
from typing import NamedTuple

from tap_leadintent.replication.density import Density, PageSizes
from tap_leadintent.replication.intervals import Interval

OVERLAP_SECONDS = 1
"""How many seconds before its start a window is requested, because the API description
does not show whether a range includes its ends. The records of this second are read
twice."""

NARROWEST = 3600 - OVERLAP_SECONDS
"""Seconds of a window that is not narrowed any more when the API refuses its length. A
few APIs allow an hour at most; the setting `window_days` helps with others."""

_PAGES = 8
"""Pages that a window should hold."""

_PROBE_PAGES = 2
"""Pages after which a probe is abandoned, unless it is a part of a quiet interval."""

_LONGEST_CHAIN = 26
"""Pages after which an ordinary window is abandoned."""

_LONGEST_QUIET_CHAIN = 64
"""Pages after which a part of a quiet interval is abandoned. It is long because shorter
windows cannot divide an import whose records all have the same time."""

_PROBES = 8
"""Samples of a history."""

_PROBE_SHARE = 365
"""Each sample covers this part of the history: a 365th, such as a day of a year.
Shorter samples would see only a day or only a night."""

_PARTS = 5
"""Parts that an abandoned window is cut into, if it was much denser than expected."""

_MUCH_DENSER = 2
"""How many times denser than expected an abandoned window must be, so that it is cut
into probes."""

_FEW_PARTS = 3
"""Parts that a window is divided into, or an abandoned quiet interval is cut into. As
each may end with a page that is not full, few parts cost few requests."""

_SHORT_SECONDS = 10
"""No ordinary window is shorter than so many seconds, because windows overlap by one. A
window of that length is never abandoned."""


class Window(NamedTuple):
    """An interval of a time range that is read in one chain."""

    start: int
    end: int
    max_pages: float = inf
    """After so many full pages it is abandoned, if more are to come. It is infinite if
    the window is never abandoned."""

    is_probe: bool = False
    """Whether no ordinary window begins while it is read."""

    max_retries: float = inf
    """How often its requests are retried at most, whatever the settings say."""


class _Unread(NamedTuple):
    """An interval that is in no window."""

    start: int
    end: int
    least_density: float
    """The least number of pages a second that it holds, as far as that is known."""


class Windows:
    """The windows of a time range, given to several readers, oldest first."""

    def __init__(
        self,
        requested: Sequence[Interval],
        *,
        page_size: int,
        concurrency: int = 1,
        widest: int | None = None,
        quiet: bool = False,
    ) -> None:
        """Create the windows of a step.

        Args:
            requested: The intervals to read, oldest first.
            page_size: Records in a full page.
            concurrency: How many windows are read at once.
            widest: The most seconds of a window.
            quiet: Whether each interval is likely to hold very little.
        """
        self.concurrency = concurrency
        """How many windows are read at once."""
        self.widest = widest or sys.maxsize
        """The most seconds of a window; less once the API has refused a wider one."""
        self._allowed = self.widest
        self._is_quiet = quiet
        self._gaps = {*requested} if quiet else set[Interval]()
        """Intervals that earlier runs may have failed to read."""
        self.capped = 0
        """The most records of a window that may have been capped, and was not divided.
        """
        self._sizes = PageSizes(page_size, is_ordinary=quiet)
        self._longest_read = 0
        """The longest window, in seconds, of which a page has arrived."""
        self._unread = [_Unread(start, end, 0.0) for start, end in requested]
        self._in_flight: dict[Window, float] = {}
        """The windows that are being read, with the pages that have arrived of each."""
        self._density = Density()
        self._first_in_line: list[Window] = []
        """Windows that begin before any other."""
        if quiet:
            self._first_in_line = [p for each in requested for p in self._cut(*each, 1)]
        else:
            self._first_in_line = [
                p for each in requested[:1] for p in _spread_probes(*each)
            ]

    @property
    def oldest_unread(self) -> int | None:
        """Where the oldest interval begins that is in no window, if there is one."""
        return self._unread[0].start if self._unread else None

    def next(self, *, only_oldest: bool = False) -> Window | None:
        """Choose the next window to read.

        Args:
            only_oldest: Whether it must begin where the oldest unread interval does,
                even if something in flight should come back first.

        Returns:
            The window, or None when there is none to read now: everything is in a
            window, or something in flight has to come back first.
        """
        if only_oldest:
            self._first_in_line = []
        elif self._first_in_line:
            return self._begin(self._first_in_line.pop(0))
        elif any(window.is_probe for window in self._in_flight):
            return None
        if not self._unread:
            return None
        start, end, least_density = self._unread[0]
        density = self._density.before(start)
        # An abandoned window has shown that it is denser than what was read before.
        if least_density and least_density >= _MUCH_DENSER * density:
            self._first_in_line = self._cut(start, end, _PARTS)
        elif not density:
            # Nothing was found before these intervals, so each is probed completely.
            empty = [(a, b) for a, b, _ in self._unread if not self._density.before(a)]
            self._first_in_line = [
                probe for each in empty for probe in self._cut(*each, 1)
            ]
        if self._first_in_line:
            return self._begin(self._first_in_line.pop(0))
        pages = density * sum(end - start for start, end, _ in self._unread)
        # Where records come evenly, the last page would otherwise often be full, as if
        # the query had been capped.
        wanted = min(_PAGES, max(1, pages / self.concurrency)) - 0.15
        seconds = max(_SHORT_SECONDS, int(wanted / density) + 1)
        return self._begin(Window(start, min(end, start + seconds), _LONGEST_CHAIN))

    def note_page(
        self, window: Window, *, records: int, may_abandon: bool = True
    ) -> bool:
        """Note that a page of a window has arrived, and another is to come.

        Args:
            window: The window.
            records: How many records the page held.
            may_abandon: Whether the window may be abandoned.

        Returns:
            Whether to read on. If not, the window is abandoned: its interval is unread
            again.
        """
        self._longest_read = max(self._longest_read, window.end - window.start)
        page = self._sizes.share_before_another(records)
        arrived = self._in_flight[window] = self._in_flight[window] + page
        if not may_abandon or arrived < window.max_pages:
            return True
        self._put_back(window, arrived + 1)  # At least one more page was to come.
        if window.is_probe:
            # The intervals of the other probes are still unread. They are cut into
            # ordinary windows, now that a density is known.
            self._first_in_line = []
            if self._is_quiet:
                start, end, *_ = window
                self._first_in_line = self._cut(
                    start, end, _FEW_PARTS, _LONGEST_QUIET_CHAIN
                )
                self._is_quiet = False
        return False

    def done(self, window: Window, *, records: int, of_chain: int) -> bool:
        """Note that the last page of a window has arrived.

        Args:
            window: The window.
            records: How many records its last page held.
            of_chain: How many records all its pages held.

        Returns:
            Whether the window counts. If not, it may not have been read completely, and
            is divided.
        """
        self._longest_read = max(self._longest_read, window.end - window.start)
        if self._sizes.may_be_capped(records):
            seconds = window.end - window.start
            if seconds > _SHORT_SECONDS:
                # A part that holds nearly all of it is abandoned soon.
                pages = self._in_flight[window] / _FEW_PARTS + _PROBE_PAGES
                self._put_back(window, 0.0)
                self._read_next(window, _FEW_PARTS, ceil(pages))
                return False
            self.capped = max(self.capped, of_chain)
        pages = self._in_flight.pop(window) + self._sizes.share(records)
        self._density.note(window.start, window.end, pages)
        return True

    def give_up(self, window: Window) -> None:
        """Note that a window cannot be read; it may be divided later.

        Args:
            window: The window.
        """
        del self._in_flight[window]

    def divide(self, window: Window, *, narrowest: int = 1) -> bool:
        """Divide a window that cannot be read.

        Its interval is unread again, and its parts are read next. If no window of its
        length could be read so far, the API may refuse the length. Then shorter lengths
        are tried, and no later window is longer than the longest that works.

        Args:
            window: The window.
            narrowest: The length in seconds from which on it is not divided any more.

        Returns:
            Whether it was divided; if not, nothing has changed.
        """
        start, end, *_ = window
        seconds = end - start
        if seconds <= narrowest:
            if self._longest_read < NARROWEST:
                # It was not the length.
                self.widest = self._allowed
            return False
        self._put_back(window, 0.0)
        if narrowest == 1 and (start, end) in self._gaps:
            # The first and the last second show whether it is still the hole that an
            # earlier run has left.
            edges = sorted({start, start + 1, end - 1, end})
            self._first_in_line[:0] = [
                Window(a, b, _LONGEST_CHAIN, max_retries=1) for a, b in pairwise(edges)
            ]
            return True
        if seconds <= max(self._longest_read, NARROWEST):
            parts = seconds if seconds <= _SHORT_SECONDS else _FEW_PARTS
            self._read_next(window, parts, _LONGEST_CHAIN, max_retries=1)
            return True
        part = seconds // _FEW_PARTS
        self.widest = min(self.widest, max(part, self._longest_read, NARROWEST))
        under_way = [each.end - each.start for each in self._in_flight]
        if not any(self.widest // 2 < each <= self.widest for each in under_way):
            # One alone tries whether the API accepts this length.
            start, end, _ = self._unread[0]
            tried = Window(start, end, _PROBE_PAGES, is_probe=True, max_retries=1)
            self._first_in_line = [tried]
        return True

    def _read_next(
        self, window: Window, parts: int, max_pages: int, max_retries: float = inf
    ) -> None:
        """Let the parts of an unread window begin before any other window."""
        self._first_in_line[:0] = [
            part._replace(is_probe=False, max_retries=max_retries)
            for part in self._cut(window.start, window.end, parts, max_pages)
        ]

    def _cut(
        self, start: int, end: int, count: int, max_pages: int = _PROBE_PAGES
    ) -> list[Window]:
        """Cut an interval into equal probes, or into more if they are too wide."""
        count = max(count, ceil((end - start) / self.widest))
        edges = sorted({start + (end - start) * n // count for n in range(count + 1)})
        return [Window(a, b, max_pages, is_probe=True) for a, b in pairwise(edges)]

    def _begin(self, wanted: Window) -> Window:
        """Begin a window; it is shorter than wanted if that is too wide."""
        start = wanted.start
        end = min(wanted.end, start + self.widest)
        self._take_out(start, end)
        window = wanted._replace(end=end)
        if end - start <= _SHORT_SECONDS:
            window = window._replace(max_pages=inf)
        self._in_flight[window] = 0.0
        return window

    def _take_out(self, start: int, end: int) -> None:
        """Take a part of one of the unread intervals out of what is unread."""
        place = bisect_right(self._unread, start, key=lambda each: each.start) - 1
        around = self._unread[place]
        parts = around._replace(end=start), around._replace(start=end)
        self._unread[place : place + 1] = [p for p in parts if p.start < p.end]

    def _put_back(self, window: Window, pages: float) -> None:
        """Note that a window is unread again, and the least pages that it holds."""
        self._in_flight.pop(window, None)
        start, end, *_ = window
        insort(self._unread, _Unread(start, end, pages / (end - start)))


def _spread_probes(start: int, end: int) -> list[Window]:
    """Spread short probes evenly over an interval."""
    seconds = max(1, (end - start) // _PROBE_SHARE)
    step = (end - start - seconds) / (_PROBES - 1)
    starts = sorted({start + int(step * n) for n in range(_PROBES)})
    return [Window(at, at + seconds, _PROBE_PAGES, is_probe=True) for at in starts]
