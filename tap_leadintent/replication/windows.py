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
early (`comparisons.py`). A question is a query that decides about other windows. All
instants are in UTC seconds since 1970.
"""

from collections.abc import Sequence
from math import ceil, inf

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.comparisons import FEW_PARTS, Comparisons
from tap_leadintent.replication.density import Density, samples
from tap_leadintent.replication.ledger import Ledger, Question, State, Window
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.protocol import CutError, IgnoredRangeError, Page
from tap_leadintent.replication.rounding import Rounding
from tap_leadintent.replication.search import Search
from tap_leadintent.times import LATEST

PAGES = 8
"""Pages that a window should hold."""

MOST_PAGES = 26
"""Pages after which an ordinary window is cut."""

_YEAR = 365 * 86_400

_NEARLY_NOTHING = 1e-9
"""Pages a second, where no density is known: a window is as long as it may be."""

_PROBE_PAGES = 2
"""Pages after which a probe is cut, unless it is a part of a quiet interval."""

_LONGEST_IDLE = 10
"""Pages after which an ordinary window is cut while other readers are idle, so that
they can read its parts."""

_LONGEST_QUIET_QUERY = 64
"""Pages after which a part of a quiet interval is cut. It is long because shorter
windows cannot divide an import whose records all have the same time."""

_PARTS = 5
"""The least number of parts that a window is cut into if it was much denser than
expected. There is at least one part for each reader."""

_MUCH_DENSER = 2
"""How many times denser than expected a window must be to be cut into probes."""


class Windows:
    """Decides which window of a step is requested next, and what becomes of each."""

    def __init__(  # noqa: PLR0913 - each bounds the windows
        self,
        step: Step,
        *,
        caps: Caps,
        widest: int,
        readers: int,
        now: int,
        most_pages: int = MOST_PAGES,
    ) -> None:
        """Create the windows of a step.

        Args:
            step: What to read.
            caps: What the queries of the stream have shown.
            widest: The most seconds of a window.
            readers: How many windows are read at once in the beginning.
            now: When the run began.
            most_pages: Pages after which an ordinary window is cut.
        """
        self.range_name = step.range_name
        """The time range; empty for a list without one."""
        self.ledger = Ledger(step.intervals, most_pages)
        """In which state each interval is."""
        self.rounding = Rounding(self.ledger, now)
        self._limit = inf
        """Pages after which any window is cut, if windows must be short."""
        self._are_short = most_pages < MOST_PAGES
        if self._are_short:
            # So that a run with few requests can complete one.
            self.rounding.shortest = 1
            self._limit = most_pages
        self.error: IgnoredRangeError | None = None
        """Why nothing more is requested of the step: the API ignores its range."""
        self._caps = caps
        self.readers = readers
        """How many windows are read at once; it may change while they are read."""
        self._most_pages = most_pages
        self._is_quiet = not step.is_first_load
        self._search = Search(self.ledger, widest)
        self._comparisons = Comparisons(
            range_name=step.range_name,
            ledger=self.ledger,
            caps=caps,
            search=self._search,
            rounding=self.rounding,
            now=now,
            limit=self._limit,
        )
        self._density = Density(caps.page_size)
        self._search.plan_holes(step.holes)
        unread = list(self.ledger.of(State.UNREAD))
        if not unread:
            return
        first = unread[0]
        if self._are_short and step.pages_per_year:
            # Too few requests are left to find out how dense the records are.
            self._is_quiet = False
            pages_per_second = step.pages_per_year / _YEAR
            self._density.expect(first.start, pages_per_second)
        elif self._is_quiet:
            for window in unread:
                self._probe(window, 1)
        else:
            short = samples(
                first.start,
                first.end,
                widest,
            )
            self.ledger.cut(
                first,
                short,
                is_probe=True,
                max_pages=min(_PROBE_PAGES, self._limit),
            )

    def pages_per_year(self) -> int:
        """Return how many pages a year there are where the reading has come to.

        Returns:
            The pages, at least 1 if any records were found; 0 if nothing is known.
        """
        front = self.ledger.front
        if front:
            before = self._density.before(front.start)
            so_far = front.fullness / front.seconds
            density = max(before, front.least_density, so_far)
        else:
            density = self._density.before(LATEST)
        return ceil(density * _YEAR)

    @property
    def has_read(self) -> bool:
        """Whether a page has arrived."""
        return self._search.has_read

    @property
    def is_all_requested(self) -> bool:
        """Whether all windows have been requested, and the newest one has answered."""
        windows = list(self.ledger)
        if not windows or not _has_begun(windows[-1]):
            # An API may not return the newest minutes yet, which then are left in the
            # end. The run ends before them in all ranges, and what it has read of
            # another range is useless.
            return False
        on_its_way = {State.REQUESTED, State.DOUBTFUL, State.READ}
        return all(window.state in on_its_way for window in windows)

    def next(self, *, is_full: bool = False) -> Window | None:
        """Choose what is requested next.

        What is ready comes first, see `_order`. If nothing is, the first of these that
        applies makes something ready:

        * the oldest window is doubtful, so it is compared with a wider query;
        * something is unread, and nothing has to come back first;
        * another window is doubtful.

        Args:
            is_full: Whether so much waits that only the oldest window is read on.

        Returns:
            A window, or a question. None when there is nothing to request now: nothing
            is unread, or something that is being read has to come back first.
        """
        while True:
            front = self.ledger.front
            if not front or front.state is State.FATAL or self.error:
                return None
            windows = [front] if is_full else self._to_read()
            self.ledger.close_questions()
            ready = self._first_ready(windows)
            # The pages of a list are emitted as they arrive, so room is made anyway.
            if ready and (self.range_name or not is_full):
                if not ready.query:
                    ready.max_retries = self._search.retries_of(ready)
                    ready.limit = ready.limit or self._caps.limit
                ready.state = State.REQUESTED
                return ready
            doubtful = self._comparisons.next(windows)
            # The oldest window is needed before anything else can be emitted.
            if doubtful and doubtful is windows[0]:
                self._comparisons.ask(doubtful)
            elif self._plan(windows, is_full=is_full):
                continue
            elif doubtful:
                self._comparisons.ask(doubtful)
            else:
                return None

    def _to_read(self) -> Sequence[Window]:
        """Return the windows of which something may be requested now, oldest first.

        What others return may never be emitted.
        """
        if self._are_short:
            oldest = self.ledger.oldest_undecided
            if oldest and oldest.state is State.DOUBTFUL:
                # The run may end before it is known whether that one is complete.
                return [oldest]
        # The run ends with an error there.
        return self.ledger.before(State.FATAL)

    def _first_ready(self, windows: Sequence[Window]) -> Window | None:
        """Return what is requested first of these windows and of the questions."""
        candidates = [*self.ledger.questions, *windows]
        ready = [each for each in candidates if each.state is State.READY]
        return min(ready, key=_order, default=None)

    def _plan(
        self,
        windows: Sequence[Window],
        *,
        is_full: bool,
    ) -> bool:
        """Choose what becomes ready of what is unread; return whether anything does.

        Args:
            windows: The windows that may be read.
            is_full: Whether only the oldest window is read on.
        """
        all_unread = (each for each in windows if each.state is State.UNREAD)
        unread = next(all_unread, None)
        if not unread:
            return False
        density = self._density.before(unread.start)
        if is_full:
            density = max(density, unread.least_density, _NEARLY_NOTHING)
            self._plan_ordinary(unread, density)
            return True
        if self._must_wait(unread):
            return False
        # A window that was cut has shown that it is denser than what was read before.
        if unread.least_density and unread.least_density >= _MUCH_DENSER * density:
            self._probe(unread, max(_PARTS, self.readers))
            return True
        if self._search.is_untried(unread.seconds):
            density = density or _NEARLY_NOTHING
        if density:
            # Otherwise a window that was cut could be planned again as it was.
            density = max(density, unread.least_density)
            self._plan_ordinary(unread, density)
        else:
            self._probe_where_nothing_was_found()
        return True

    def _probe_where_nothing_was_found(self) -> None:
        """Probe each unread interval completely before which nothing was found."""
        for unread in list(self.ledger.of(State.UNREAD)):
            if self._search.is_untried(unread.seconds):
                continue
            if not self._density.before(unread.start):
                self._probe(unread, 1)

    def _must_wait(self, unread: Window) -> bool:
        """Return whether something that is read has to come back first."""
        for probe in self.ledger.of(State.REQUESTED):
            if probe.is_probe:
                return True
        oldest_failed = self.ledger.oldest(State.FAILED)
        if not oldest_failed:
            return False
        return oldest_failed.start < unread.start

    def _plan_ordinary(
        self,
        unread: Window,
        density: float,
    ) -> None:
        """Let the beginning of what is unread be an ordinary window.

        Args:
            unread: The oldest interval that is unread.
            density: The pages a second that are expected there.
        """
        seconds_left = 0
        for each in self.ledger.of(State.UNREAD):
            seconds_left += each.seconds
        pages = density * seconds_left
        # Where records come evenly, the last page would otherwise often be full, as if
        # the query had been capped.
        most = min(PAGES, max(1, self._most_pages / 2))
        pages_of_each = max(1, pages / self.readers)
        wanted = min(most, pages_of_each) - 0.15
        seconds = int(wanted / density) + 1
        seconds = max(self.rounding.shortest, seconds)
        seconds = min(self._search.width, seconds)
        end = min(unread.end, unread.start + seconds)
        # One window shows whether all may be so long.
        is_probe = self._search.is_untried(end - unread.start)
        self.ledger.cut(
            unread,
            [(unread.start, end)],
            is_probe=is_probe,
        )

    def _probe(
        self,
        window: Window,
        count: int,
        max_pages: int = _PROBE_PAGES,
    ) -> None:
        """Cut a window into probes.

        Args:
            window: The window.
            count: The least number of probes.
            max_pages: Pages after which each is cut.
        """
        parts = self._search.equal_parts(
            window.start,
            window.end,
            count,
        )
        self.ledger.cut(
            window,
            parts,
            is_probe=True,
            max_pages=min(max_pages, self._limit),
        )

    def note_page(
        self,
        window: Window,
        page: Page,
        total: int,
    ) -> None:
        """Note that a page has arrived, and decide what becomes of its window.

        Args:
            window: The window, or a question.
            page: The page.
            total: How many records its query has returned, with this page.
        """
        records = page.records
        has_more = page.has_more
        self._search.has_read = True
        self._caps.note_page(
            total=total,
            records=records,
            previous=window.last,
            limit=window.limit,
        )
        window.last = records or window.last
        window.records = total
        window.state = State.READY if has_more else State.DOUBTFUL
        if isinstance(window, Question):
            self._answer(window)
        else:
            window.fullness += self._density.fullness(records, has_more=has_more)
            if records and total == records:
                self.rounding.note_first_page(window, page.fingerprint)
            if not has_more:
                self._density.note(
                    window.start,
                    window.end,
                    window.fullness,
                )
            elif self._is_too_long(window):
                self._cut_long(window)
        self._comparisons.judge()

    def note_failure(
        self,
        window: Window,
        error: BaseException,
    ) -> None:
        """Note that a request has failed, and decide what becomes of its window.

        Args:
            window: The window, or a question.
            error: Why it failed.
        """
        if isinstance(error, CutError):
            window.state = State.FAILED
            window.error = error.reason
        else:
            window.state = State.FATAL
            window.error = error
        if isinstance(window, Question):
            self._answer(window)
            self._comparisons.judge()
        self._search.decide()

    def _answer(self, question: Question) -> None:
        """Decide what follows from a page of a question, or from its failure."""
        about = question.about
        if about and about.state is State.DOUBTFUL:
            self._comparisons.answer(question, about)
            return
        # Of others, one page is enough.
        question.state = State.READ
        if not about and question.records:
            self.error = IgnoredRangeError(self.range_name)
            return
        if about and about.state is State.FAILED and question.error:
            self._search.note_failed_minute(about, question)
        self._search.decide()

    def _is_too_long(self, window: Window) -> bool:
        """Return whether a window is cut although another page is to come."""
        most = window.max_pages
        if not window.is_probe and self._has_idle_readers():
            # They read its parts.
            most = min(most, _LONGEST_IDLE)
        if window.fullness < most:
            return False
        return not self.rounding.is_too_short_to_cut(window)

    def _has_idle_readers(self) -> bool:
        """Return whether readers have nothing to request."""
        if self.ledger.oldest(State.UNREAD):
            return False
        reading = list(self.ledger.of(State.READY, State.REQUESTED))
        return len(reading) < self.readers

    def _cut_long(self, window: Window) -> None:
        """Cut a window that holds more pages than it may."""
        # At least one more page was to come.
        least_pages = window.fullness + 1
        window.least_density = least_pages / window.seconds
        if window.is_probe:
            # Now that a density is known, the rest is read by ordinary windows.
            self.ledger.release()
        if not window.is_probe or not self._is_quiet:
            self.ledger.cut(window)
            return
        self._is_quiet = False
        self._probe(
            window,
            FEW_PARTS,
            _LONGEST_QUIET_QUERY,
        )


def _has_begun(window: Window) -> bool:
    """Return whether a page of a window has arrived."""
    return window.records > 0 or window.state in {State.DOUBTFUL, State.READ}


def _order(window: Window) -> int:
    """Return the rank of a window among those that can be requested."""
    # A question about no window decides whether any window makes sense.
    if isinstance(window, Question) and not window.about:
        return 0
    # What has begun is read to its end before another window begins.
    return 1 if window.query else 2
