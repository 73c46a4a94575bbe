"""Cuts a step into windows of a few pages each, several of them read at once.

The length of an ordinary window follows from how dense the records just before it were.
A probe is a window that shows how dense records are, so no ordinary window begins while
it is read. There are four kinds of probes:

* eight short samples of the first interval of a history;
* all of an interval, if nothing was found before it, or if it is quiet, which means
  that it likely holds what came since the last run;
* the parts of a window that was much denser than expected;
* the parts of a quiet interval that holds more than a probe may.

A window is cut, and its parts are read instead, for one of three reasons: it holds more
pages than it may, it failed (`search.py`), or the API may have ended its query too
early (`caps.py`). All instants are in UTC seconds since 1970.
"""

from itertools import pairwise
from math import ceil, inf

from tap_leadintent.replication.caps import Caps, Verdict
from tap_leadintent.replication.density import Density, PageSizes, samples
from tap_leadintent.replication.intervals import Interval, equal_edges
from tap_leadintent.replication.ledger import Ledger, State, Wanted, Window
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.rounding import Rounding
from tap_leadintent.replication.search import Search

_PAGES = 8
"""Pages that a window should hold."""

_PROBE_PAGES = 2
"""Pages after which a probe is cut, unless it is a part of a quiet interval."""

_LONGEST_QUERY = 26
"""Pages after which an ordinary window is cut."""

_LONGEST_IDLE = 10
"""The same while other readers have nothing to do."""

_LONGEST_QUIET_QUERY = 64
"""Pages after which a part of a quiet interval is cut. It is long because shorter
windows cannot divide an import whose records all have the same time."""

_PARTS = 5
"""Parts that a window is cut into, if it was much denser than expected: at least so
many, and one for each reader."""

_MUCH_DENSER = 2
"""How many times denser than expected a window must be to be cut into probes."""

_FEW_PARTS = 3
"""Parts that a failed, capped or quiet window is cut into. As each may end with a page
that is not full, few parts cost few requests."""


class Windows:
    """The windows of a step, given to several readers, oldest first."""

    def __init__(self, step: Step, *, caps: Caps, widest: int, readers: int) -> None:
        """Create the windows of a step.

        Args:
            step: What to read.
            caps: What the queries of the stream have shown.
            widest: The most seconds of a window.
            readers: How many windows are read at once.
        """
        self.ledger = Ledger(Window(start, end) for start, end in step.intervals)
        """What is unread, being read, and waiting to be emitted."""
        self.capped = 0
        """The most records of a query that the API may have ended too early, and that
        could not be cut."""
        self.rounding = Rounding()
        """Learns whether the API rounds or ignores the range."""
        self.caps, self.widest = caps, widest
        self._readers, self._is_quiet = readers, step.is_quiet
        self._search = Search(self.ledger, widest)
        self._sizes, self._density = PageSizes(caps.page_size), Density()
        self._line: list[Wanted] = []
        """The windows that begin before any other."""
        for start, end in step.holes:
            if hole := self.ledger.carve(start, end):
                hole.is_known_hole = True
                self._line.append(Wanted(start, end, inf, is_probe=False))
        unread = [w for w in self.ledger.unread() if not w.is_known_hole]
        if step.is_quiet:
            self._line += [p for w in unread for p in self._probes(w.start, w.end, 1)]
        else:
            for window in unread[:1]:
                short = samples(window.start, window.end)
                self._line += [Wanted(*each, _PROBE_PAGES) for each in short]

    def next(self) -> Window | None:
        """Choose what is requested next, and begin it.

        Returns:
            A window to read, or a doubtful one to settle by a wider query. None when
            there is nothing to request now: nothing is unread, or something that is
            being read has to come back first.
        """
        doubtful = self._doubtful()
        is_first = doubtful is self.ledger.front
        window = None if is_first else self._next_unread()
        if doubtful and not window:
            doubtful.state, window = State.SETTLING, doubtful
        return window

    def begin_front(self) -> Window | None:
        """Begin the oldest window of all, or settle it, if nobody does so yet."""
        front = self.ledger.front
        if front and front is self._doubtful():
            return self.next()
        if not front or front.state is not State.UNREAD:
            return None
        # Where no density is known, the window is as long as it may be.
        density = max(self._density.before(front.start), front.least_density, 1e-9)
        return self._begin(self._ordinary(front, density))

    def _doubtful(self) -> Window | None:
        """Return the oldest doubtful window, if no other one is being settled."""
        if any(each.state is State.SETTLING for each in self.ledger):
            return None
        return next((w for w in self.ledger if w.state is State.DOUBTFUL), None)

    def _next_unread(self) -> Window | None:
        while self._line:
            if window := self._begin(self._line.pop(0)):
                return window
        if any(w.is_probe and w.state is State.READING for w in self.ledger):
            return None
        unread = next(self.ledger.unread(), None)
        if not unread or self._search.blocks(unread):
            return None
        density = self._density.before(unread.start)
        # A window that was cut has shown that it is denser than what was read before.
        if unread.least_density and unread.least_density >= _MUCH_DENSER * density:
            parts = max(_PARTS, self._readers)
            self._line = self._probes(unread.start, unread.end, parts)
        elif not density:
            # Nothing was found before these intervals, so each is probed completely.
            self._line = [
                probe
                for each in self.ledger.unread()
                if not self._density.before(each.start)
                for probe in self._probes(each.start, each.end, 1)
            ]
        else:
            self._line = [self._ordinary(unread, density)]
        return self._next_unread()

    def take(self, window: Window, *, records: int, total: int, has_more: bool) -> None:
        """Note that a page has arrived, and decide what becomes of its window.

        Args:
            window: The window.
            records: How many records the page holds.
            total: How many its query has returned, with this page.
            has_more: Whether another page is to come.
        """
        self._search.has_read = True
        self.caps.note_page(total=total, records=records, previous=window.last)
        window.last, window.records = records or window.last, total
        window.shares += self._sizes.share(records, has_more=has_more)
        if not has_more:
            window.state = State.DOUBTFUL
            self._density.note(window.start, window.end, window.shares)
        elif window.shares >= self._most_pages(window) and not self._is_short(window):
            self._cut_long(window)
        self.judge()

    def judge(self) -> None:
        """Decide what becomes of doubtful windows for which there is evidence now."""
        doubtful = {State.DOUBTFUL, State.SETTLING}
        for window in [w for w in self.ledger if w.state in doubtful]:
            verdict = self.caps.judge(window.records, window.last)
            if verdict is not Verdict.DOUBTFUL:
                self.settle(window, verdict)
            elif window.records == window.capped_total:
                # A wider query has not helped for the window that it is a part of.
                self.settle(window, Verdict.CAPPED)

    def settle(self, window: Window, verdict: Verdict) -> None:
        """Decide what becomes of a window whose query has ended.

        Args:
            window: The window.
            verdict: Whether its query is complete or capped.
        """
        if verdict is Verdict.CAPPED and not self._is_short(window):
            # A part that holds nearly all of it is cut soon.
            most = ceil(window.shares / _FEW_PARTS) + _PROBE_PAGES
            parts = self._equal_parts(window.start, window.end, _FEW_PARTS)
            self._line[:0] = [Wanted(*p, most, is_probe=False) for p in parts]
            window.capped_total = window.records
            self.ledger.cut(window, [window.start, window.end], 0.0)
        else:
            if verdict is Verdict.CAPPED:
                self.capped = max(self.capped, window.records)
            window.state = State.READ
            self._search.note_read(window)
        self._decide()

    def fail(self, window: Window, error: BaseException, *, may_cut: bool) -> None:
        """Note that a window cannot be read.

        Args:
            window: The window.
            error: Why it cannot be read.
            may_cut: Whether a part of it may be read.
        """
        window.state, window.error = State.FAILED, error
        window.is_final = not may_cut
        self._decide()

    def _decide(self) -> None:
        self._line[:0] = [
            Wanted(w.start, w.end, _LONGEST_QUERY, w.is_probe, w.max_retries)
            for w in self._search.decide()
        ]

    def _most_pages(self, window: Window) -> float:
        """Return after how many pages a window is cut now."""
        if window.is_probe or self._line or next(self.ledger.unread(), None):
            return window.max_pages
        # Readers that have nothing else to do read its parts.
        reading = sum(each.state is State.READING for each in self.ledger)
        if reading < self._readers:
            return min(window.max_pages, _LONGEST_IDLE)
        return window.max_pages

    def _is_short(self, window: Window) -> bool:
        return window.seconds <= self.rounding.shortest

    def _cut_long(self, window: Window) -> None:
        """Cut a window that holds more pages than it may."""
        start, end = window.start, window.end
        # At least one more page was to come.
        self.ledger.cut(window, [start, end], (window.shares + 1) / window.seconds)
        if window.is_probe:
            # The intervals of the other probes are still unread. They are cut into
            # ordinary windows, now that a density is known.
            self._line = []
            if self._is_quiet:
                self._is_quiet = False
                self._line = self._probes(start, end, _FEW_PARTS, _LONGEST_QUIET_QUERY)

    def _ordinary(self, unread: Window, density: float) -> Wanted:
        pages = density * sum(each.seconds for each in self.ledger.unread())
        # Where records come evenly, the last page would otherwise often be full, as if
        # the query had been capped.
        wanted = min(_PAGES, max(1, pages / self._readers)) - 0.15
        seconds = max(self.rounding.shortest, int(wanted / density) + 1)
        end = min(unread.end, unread.start + seconds)
        return Wanted(unread.start, end, _LONGEST_QUERY, is_probe=False)

    def _probes(
        self, start: int, end: int, count: int, max_pages: int = _PROBE_PAGES
    ) -> list[Wanted]:
        return [Wanted(*p, max_pages) for p in self._equal_parts(start, end, count)]

    def _equal_parts(self, start: int, end: int, count: int) -> list[Interval]:
        """Cut an interval into equal parts, or into more if they are too wide.

        While failures narrow the width, these are only the first of them.
        """
        count = max(count, ceil((end - start) / self._search.width))
        return [*pairwise(equal_edges(start, end, count))][: self._search.planned]

    def _begin(self, wanted: Wanted) -> Window | None:
        """Begin a window; it is shorter than wanted if that is too wide."""
        start, end, max_pages, is_probe, max_retries = wanted
        end = min(end, start + self._search.width)
        if window := self.ledger.carve(start, end):
            window.state, window.max_pages = State.READING, max_pages
            retries = self._search.retries_of(window.seconds)
            window.is_probe, window.max_retries = is_probe, min(max_retries, retries)
            if window.is_known_hole:
                window.max_retries = 0
        return window
