"""Reads what a plan asks for: window by window and page by page, oldest first."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import StreamError
from tap_leadintent.progress import counted
from tap_leadintent.replication.overlap import Repeats
from tap_leadintent.replication.plan import SINCE_EVER
from tap_leadintent.replication.prefetch import Prefetch
from tap_leadintent.replication.range_guard import RangeGuard
from tap_leadintent.replication.range_requests import RangeRequests
from tap_leadintent.replication.windows import OVERLAP_SECONDS, Window, Windows
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from tap_leadintent.api.endpoint import Endpoint
    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.api.server_clock import ClockReading, ServerClock
    from tap_leadintent.progress import Progress
    from tap_leadintent.replication.intervals import Interval
    from tap_leadintent.replication.plan import Plan
    from tap_leadintent.replication.time_range import TimeRange

    Row = dict[str, Any]


@dataclass(eq=False, kw_only=True, repr=False)
class Reader:
    """Reads the endpoint of one stream."""

    endpoint: Endpoint
    """What is read."""

    clock: ServerClock
    """The server's clock; the endpoint updates it with each response."""

    check: Check
    """Called while waiting; raises to end the run."""

    progress: Progress
    """Notes each window."""

    logger: logging.Logger
    """Gets a line for each window at DEBUG."""

    shape_page: Callable[[Records, str | None], tuple[list[Row], Iterable[Hashable]]]
    """Shapes a page with its `window_end`; gives the rows and the key of each."""

    window_done: Callable[[int], None]
    """Called with the number of records when a window is complete and emitted."""

    page_size: int
    """Number of records in a full page."""

    concurrency: int
    """Number of windows that are read at once."""

    window_seconds: int | None
    """How many seconds a window asks for, with its overlap; None for windows that are
    sized by their number of pages."""

    _repeats: Repeats = field(init=False, default_factory=Repeats)
    _prefetch: Prefetch | None = field(init=False, default=None)

    def read_everything(self, now: int) -> Iterator[list[Row]]:
        """Read all records in one unfiltered chain.

        Args:
            now: When the run began, in UTC seconds since 1970.

        Yields:
            The rows of each page.

        Raises:
            StreamError: The chain cannot go on.
            SystemExit: A signal came.
        """
        whole = Windows([(SINCE_EVER, now)], page_size=self.page_size, length=now)
        for _, pages in self._read_windows(whole, self._read_unfiltered, readers=1):
            for number, page in enumerate(pages, start=1):
                rows, _ = self._shape(self._decode(page), number)
                yield rows
                self._check_before_next(page)

    def read_range(self, plan: Plan, time_range: TimeRange) -> Iterator[list[Row]]:
        """Read a time range by the plan.

        Args:
            plan: The plan; it notes each window that has been read whole.
            time_range: One of its ranges.

        Yields:
            The rows of each page, oldest window first, without rows that were emitted
            before and are unchanged.

        Raises:
            StreamError: The range cannot be read.
            SystemExit: A signal came.
        """
        for stretches in plan.passes(time_range.name):
            yield from self._read_stretches(plan, time_range, stretches)

    def _read_stretches(
        self, plan: Plan, time_range: TimeRange, stretches: list[Interval]
    ) -> Iterator[list[Row]]:
        name = time_range.name
        unfiltered = plan.is_everything(name, stretches)
        readers = 1 if unfiltered else self.concurrency
        length = self.window_seconds and max(1, self.window_seconds - OVERLAP_SECONDS)
        windows = Windows(
            stretches,
            page_size=self.page_size,
            readers=readers,
            length=plan.now if unfiltered else length,
            quiet=plan.coverage.span(name) is not None,
        )
        requests = RangeRequests(name, self.endpoint.read, self.clock, self.logger)
        read_window = self._read_unfiltered if unfiltered else requests.read
        guard = RangeGuard(time_range, lambda: requests.is_ignored(self.check))
        self.progress.begin_range(name, [] if unfiltered else stretches)
        for window, pages in self._read_windows(windows, read_window, readers=readers):
            yield from self._read_window(plan, window, pages, guard)

    def learn_clock(self, plan: Plan) -> None:
        """End the reading at the time that the server's clock has reached.

        Args:
            plan: The plan to adjust.
        """
        before = plan.now
        plan.learn_clock(self.clock.began, self.clock.reached)
        if plan.now < before:
            self.progress.end_by(plan.now)
            if self._prefetch is not None:
                self._prefetch.end_by(plan.now)

    def stop(self) -> None:
        """End all reading, also of pages that wait to be emitted."""
        if self._prefetch is not None:
            self._prefetch.stop()

    def _read_windows(
        self,
        windows: Windows,
        read_window: Callable[[Window, Check], Iterator[Page]],
        *,
        readers: int,
    ) -> Iterator[tuple[Window, Iterator[Page]]]:
        with Prefetch(
            windows, read_window, readers=readers, check=self.check
        ) as prefetch:
            self._prefetch = prefetch
            if prefetch.readers < readers:
                self.logger.warning(
                    "Only %d of %d windows are read at once, as the system allows no "
                    "more threads",
                    prefetch.readers,
                    readers,
                )
            yield from prefetch

    def _read_window(
        self, plan: Plan, window: Window, pages: Iterator[Page], guard: RangeGuard
    ) -> Iterator[list[Row]]:
        count, end = 0, ""
        clock: ClockReading | None = None
        for number, page in enumerate(pages, start=1):
            records = self._decode(page)
            count += len(records.data)
            if number == 1:
                self.learn_clock(plan)
                end = format_instant(min(window.end, plan.now))
                clock = page.clock
            guard.check(window, number, records)
            window_end = f"{end[:-1]}.000000Z"
            news, is_settled = self._news(records, number, window_end)
            yield news
            if not is_settled:
                # A record moved between this window and one that was emitted before.
                again = self.endpoint.read_again(page, self.check)
                news, _ = self._news(self._decode(again), number, window_end)
                yield news
            self._check_before_next(page)
        self.learn_clock(plan)
        # The window's first query is the earliest, so it decides what is complete.
        as_of = clock and self.clock.as_of(clock)
        plan.read(guard.range_name, (window.start, window.end), as_of)
        self.progress.reach(window.end)
        self.logger.debug(
            "%s from %s to %s: %s",
            guard.range_name,
            format_instant(window.start),
            format_instant(window.end),
            counted(count, "record"),
        )
        self.window_done(count)

    def _decode(self, page: Page) -> Records:
        try:
            return page.decode()
        except ValueError as error:
            return self.endpoint.decode_again(page, error, self.check)

    def _check_before_next(self, page: Page) -> None:
        # After its last page, a window first counts as read.
        if page.cursor.has_more:
            self.check()

    def _news(
        self, records: Records, number: int, window_end: str
    ) -> tuple[list[Row], bool]:
        rows, keys = self._shape(records, number, window_end)
        news = self._repeats.news(keys, records)
        return [*compress(rows, news)], None not in news

    def _shape(
        self, records: Records, number: int, window_end: str | None = None
    ) -> tuple[list[Row], Iterable[Hashable]]:
        try:
            return self.shape_page(records, window_end)
        except ValueError as error:
            msg = f"page {number}: {error}"
            raise StreamError(msg) from None

    def _read_unfiltered(self, _: Window, check: Check) -> Iterator[Page]:
        return self.endpoint.read({}, check)
