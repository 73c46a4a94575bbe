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
read in other windows. All instants are in UTC seconds since 1970.
"""

import sys
from bisect import bisect_left, insort
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, inf
from typing import NamedTuple

from tap_leadintent.replication.intervals import Interval

OVERLAP_SECONDS = 1
"""How many seconds before its start a window is requested, because the API description
does not show whether a range includes its ends. The records of this second are read
twice."""

NARROWEST = 3600 - OVERLAP_SECONDS
"""Seconds of a window that is not narrowed any more when the API refuses it. A lower
value would repeat more requests that the API refuses for other reasons. A higher value
would fail with an API that allows an hour at most."""

_PAGES = 8
"""Pages that a window should hold, and over which the density is measured. With more,
fewer requests get a last page that is not full. With fewer, a change of the density is
noticed sooner, and all readers finish at about the same time."""

_PROBE_PAGES = 2
"""Pages after which a probe is abandoned, unless it is a part of a quiet interval. With
more, more pages are wasted where records are dense. With fewer, more probes are
abandoned shortly before their end."""

_LONGEST_CHAIN = 28
"""Pages after which an ordinary window is abandoned. With more, one reader reads alone
for longer, and more is read again after an interruption. With fewer, more windows are
abandoned shortly before their end."""

_LONGEST_QUIET_CHAIN = 64
"""Pages after which a part of a quiet interval is abandoned. With more, one reader
reads alone for longer. With fewer, imports whose records all have the same time would
be abandoned, although shorter windows cannot divide them."""

_PROBES = 8
"""Samples of a history. More cost requests where the history is empty; with fewer,
readers are idle at first."""

_PROBE_SHARE = 365
"""Each sample covers this part of the history: a 365th, such as a day of a year. Longer
samples are abandoned more often; shorter ones would see only a day or only a night."""

_PARTS = 5
"""Parts that an abandoned window is cut into, if it was much denser than expected. More
parts cost more requests, as some are empty. With fewer, it takes longer to find where
the records are."""

_MUCH_DENSER = 2
"""How many times denser than expected an abandoned window must be, so that it is cut
into probes. With a higher value, more windows are abandoned once more. With a lower
value, more probes are sent that were not needed."""

_QUIET_PARTS = 3
"""Parts that an abandoned quiet interval is cut into. More parts are read in less time.
Fewer cost fewer requests, because each part may end with a page that is not full."""

_INDIVISIBLE_SECONDS = 10
"""No ordinary window is shorter than so many seconds, and a window of that length is
never abandoned. A lower value would read more seconds twice, because windows overlap by
one. A higher value makes longer cursor chains where many records share a second."""


class Window(NamedTuple):
    """An interval of a time range that is read in one chain."""

    start: int
    end: int
    max_pages: float = inf
    """After so many full pages it is abandoned, if more are to come. It is infinite if
    the window is never abandoned."""

    is_probe: bool = False
    """Whether no ordinary window begins while it is read."""


class _Unread(NamedTuple):
    """An interval that is in no window."""

    start: int
    end: int
    least_density: float
    """The least number of pages a second that it holds, as far as that is known."""


class _Done(NamedTuple):
    """A window that has been read completely, or cannot be read."""

    start: int
    end: int
    pages: float


class Windows:
    """The windows of a time range, given to several readers, oldest first."""

    def __init__(  # noqa: PLR0913
        self,
        requested: Sequence[Interval],
        *,
        page_size: int,
        readers: int = 1,
        widest: int | None = None,
        quiet: bool = False,
        one_chain: bool = False,
    ) -> None:
        """Begin with everything unread.

        Args:
            requested: The intervals to read, oldest first.
            page_size: Records in a full page.
            readers: How many windows are read at once.
            widest: The most seconds of a window.
            quiet: Whether each interval is likely to hold very little.
            one_chain: Whether each interval is one window, however long it is and
                however much it holds; then one reader reads it.
        """
        self.readers = 1 if one_chain else readers
        """How many windows are read at once."""
        self.widest = sys.maxsize if one_chain or not widest else widest
        """The most seconds of a window; less once the API has refused a wider one."""
        self._is_quiet = quiet
        self._indivisible = sys.maxsize if one_chain else _INDIVISIBLE_SECONDS
        """The length in seconds up to which a window is never abandoned."""
        self._full_page = page_size / 2
        """Records that count as a full page: the most that one page has held so far, as
        the API may return fewer than it is asked for. It begins with half of that."""
        self._unread = [_Unread(start, end, 0.0) for start, end in requested]
        self._in_flight: dict[Window, float] = {}
        """The windows that are being read, with the pages that have arrived of each."""
        self._done: list[_Done] = []
        self._probes: list[Window] = []
        """What is probed next."""
        if quiet:
            self._probes = [p for each in requested for p in self._cut(*each, 1)]
        elif not one_chain:
            self._probes = [p for each in requested[:1] for p in _spread_probes(*each)]

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
            self._probes = []
        elif self._probes:
            return self._begin(self._probes.pop(0))
        elif any(window.is_probe for window in self._in_flight):
            return None
        if not self._unread:
            return None
        start, end, least_density = self._unread[0]
        density = self._density(start)
        # An abandoned window has shown that it is denser than what was read before.
        if least_density and least_density >= _MUCH_DENSER * density:
            self._probes = self._cut(start, end, _PARTS)
        elif not density:
            # Nothing was found before these intervals, so each is probed completely.
            empty = [(a, b) for a, b, _ in self._unread if not self._density(a)]
            self._probes = [probe for each in empty for probe in self._cut(*each, 1)]
        if self._probes:
            return self._begin(self._probes.pop(0))
        pages = density * sum(end - start for start, end, _ in self._unread)
        wanted = min(_PAGES, max(1, pages / self.readers))
        seconds = max(_INDIVISIBLE_SECONDS, int(wanted / density) + 1)
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
        self._full_page = max(self._full_page, records)
        # A page before another one counts at least half. An empty page says nothing
        # about how dense records are.
        page = max(0.5, records / self._full_page) if records else 0.0
        arrived = self._in_flight[window] = self._in_flight[window] + page
        if not may_abandon or arrived < window.max_pages:
            return True
        self._put_back(window, arrived + 1)  # At least one more page was to come.
        if window.is_probe:
            # The intervals of the other probes are still unread. They are cut into
            # ordinary windows, now that a density is known.
            self._probes = []
            if self._is_quiet:
                start, end, *_ = window
                self._probes = self._cut(start, end, _QUIET_PARTS, _LONGEST_QUIET_CHAIN)
                self._is_quiet = False
        return False

    def done(self, window: Window, *, records: int) -> None:
        """Note that a window has been read completely, or cannot be read.

        Args:
            window: The window.
            records: How many records its last page held.
        """
        pages = self._in_flight.pop(window) + records / self._full_page
        insort(self._done, _Done(window.start, window.end, pages))

    def narrow(self, window: Window) -> None:
        """Note that the API refused a window, which may be too wide for it.

        Its interval is unread again, and no window is longer than half of it from now
        on.

        Args:
            window: The window, of more than `NARROWEST`.
        """
        half = (window.end - window.start) // 2
        self.widest = min(self.widest, max(NARROWEST, half))
        self._put_back(window, 0.0)
        seconds = [end - start for start, end, *_ in self._in_flight]
        is_tried = any(self.widest // 2 < each <= self.widest for each in seconds)
        if not is_tried:
            # One alone tries whether the API accepts this length.
            start, end, _ = self._unread[0]
            self._probes = [Window(start, end, _PROBE_PAGES, is_probe=True)]

    def _cut(
        self, start: int, end: int, count: int, max_pages: int = _PROBE_PAGES
    ) -> list[Window]:
        """Cut an interval into equal probes, or into more if they are too wide."""
        count = max(count, ceil((end - start) / self.widest))
        edges = sorted({start + (end - start) * n // count for n in range(count + 1)})
        return [Window(a, b, max_pages, is_probe=True) for a, b in pairwise(edges)]

    def _density(self, instant: int) -> float:
        """Estimate the pages a second from what was read last before an instant.

        The mean is taken over the last window before the instant, over the last two,
        and so on, until they hold enough pages. The highest of these means counts. It
        is 0 if nothing was found.
        """
        seconds = pages = density = 0.0
        for n in range(bisect_left(self._done, (instant,)) - 1, -1, -1):
            start, end, held = self._done[n]
            # A crowded moment must not make all windows short that come after it.
            seconds, pages = seconds + end - start, pages + min(held, 2 * _PAGES)
            density = max(density, pages / seconds)
            if pages > _PAGES:
                break
        return density

    def _begin(self, wanted: Window) -> Window:
        """Begin a window; it is shorter than wanted if that is too wide."""
        start = wanted.start
        end = min(wanted.end, start + self.widest)
        self._take_out(start, end)
        window = wanted._replace(end=end)
        if end - start <= self._indivisible:
            window = window._replace(max_pages=inf)
        self._in_flight[window] = 0.0
        return window

    def _take_out(self, start: int, end: int) -> None:
        """Take an interval out of what is unread."""
        unread = self._unread
        self._unread = [
            x._replace(end=min(x.end, start)) for x in unread if x.start < start
        ]
        self._unread += [
            x._replace(start=max(x.start, end)) for x in unread if x.end > end
        ]

    def _put_back(self, window: Window, pages: float) -> None:
        """Note that a window is unread again, and the least pages that it holds."""
        del self._in_flight[window]
        start, end, *_ = window
        insort(self._unread, _Unread(start, end, pages / (end - start)))


def _spread_probes(start: int, end: int) -> list[Window]:
    """Spread short probes evenly over an interval."""
    seconds = max(1, (end - start) // _PROBE_SHARE)
    step = (end - start - seconds) / (_PROBES - 1)
    starts = sorted({start + int(step * n) for n in range(_PROBES)})
    return [Window(at, at + seconds, _PROBE_PAGES, is_probe=True) for at in starts]
