"""Reads what a plan asks for: window by window and page by page, oldest first."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import StreamError
from tap_leadintent.replication.emitted import Emitted
from tap_leadintent.replication.plan import SINCE_EVER
from tap_leadintent.replication.prefetch import Prefetch
from tap_leadintent.replication.range_guard import RangeGuard
from tap_leadintent.replication.range_requests import RangeRequests
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from tap_leadintent.api.endpoint import Endpoint
    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.progress import Progress
    from tap_leadintent.replication.coverage import Coverage
    from tap_leadintent.replication.plan import Step
    from tap_leadintent.replication.time_range import TimeRange

    Row = dict[str, Any]


@dataclass(eq=False, kw_only=True, repr=False)
class Reader:
    """Reads the endpoint of one stream."""

    endpoint: Endpoint
    """What is read."""

    check: Check
    """Called while waiting; raises to end the run."""

    progress: Progress
    """Notes each window."""

    logger: logging.Logger
    """Gets a line for each window at DEBUG."""

    keys: Callable[[Records], Iterable[Hashable]]
    """Tells for each record of a page which row of a target it is."""

    shape: Callable[[Records, str | None], list[Row]]
    """Shapes a page with its `window_end`."""

    window_done: Callable[[int], None]
    """Called with the number of records when a window is complete and emitted."""

    page_size: int
    """Number of records in a full page."""

    concurrency: int
    """Number of windows that are read at once."""

    widest: int | None
    """The most seconds of a window; less once the API has refused some as too wide."""

    _emitted: Emitted = field(init=False, default_factory=Emitted)
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
        whole = Windows([(SINCE_EVER, now)], page_size=self.page_size, whole=True)
        for _, pages in self._read_windows(whole, self._read_unfiltered, readers=1):
            for number, page in enumerate(pages, start=1):
                yield self._shape(self._decode(page), number)
                self._check_before_next(page)

    def read_step(
        self, step: Step, time_range: TimeRange, coverage: Coverage
    ) -> Iterator[list[Row]]:
        """Read a step of a plan.

        Args:
            step: The step.
            time_range: Its range.
            coverage: Notes each window that has been read whole.

        Yields:
            The rows of each page, oldest window first, without rows that were emitted
            before and are unchanged.

        Raises:
            StreamError: The range cannot be read.
            SystemExit: A signal came.
        """
        unfiltered = step.is_unfiltered
        readers = 1 if unfiltered else self.concurrency
        windows = Windows(
            step.stretches,
            page_size=self.page_size,
            readers=readers,
            widest=self.widest,
            quiet=step.is_quiet,
            whole=unfiltered,
        )
        requests = RangeRequests(step.name, self.endpoint.read, self.logger)
        read_window = self._read_unfiltered if unfiltered else requests.read
        guard = RangeGuard(time_range, lambda: requests.is_ignored(self.check))
        self.progress.begin_range(step.name, [] if unfiltered else step.stretches)
        for window, pages in self._read_windows(windows, read_window, readers=readers):
            emitted, as_of = 0, window.start
            end = f"{format_instant(window.end)[:-1]}.000000Z"
            for number, page in enumerate(pages, start=1):
                # The first query is the earliest, so it decides what is complete.
                as_of = page.as_of if number == 1 else as_of
                records = self._decode(page)
                guard.check(window, number, records)
                rows = self._new_rows(records, number, end)
                emitted += len(rows)
                yield rows
                self._check_before_next(page)
            self._note(step, window, as_of, coverage)
            self.window_done(emitted)
        self.widest = windows.widest

    def stop(self) -> None:
        """End all reading, also of pages that wait to be emitted."""
        if self._prefetch is not None:
            self._prefetch.stop()
        self._emitted = Emitted()  # The next stream needs the memory.

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

    def _note(self, step: Step, window: Window, as_of: int, coverage: Coverage) -> None:
        end = min(window.end, as_of)
        newest = window.end if step.is_in_order else None
        if window.start < end:
            for name in step.covers:
                coverage.add(name, (window.start, end), newest=newest)
        self.progress.reach(window.end)
        self.logger.debug(
            "%s from %s to %s",
            step.name,
            format_instant(window.start),
            format_instant(window.end),
        )

    def _decode(self, page: Page) -> Records:
        try:
            return page.decode()
        except ValueError as error:
            return self.endpoint.decode_again(page, error, self.check)

    def _check_before_next(self, page: Page) -> None:
        # After its last page, a window first counts as read.
        if page.cursor.has_more:
            self.check()

    def _new_rows(self, records: Records, number: int, end: str) -> list[Row]:
        """Shape what was not emitted before as it is."""
        contents = map(bytes, records.raw)
        are_new = [*map(self._emitted.take, self.keys(records), contents)]
        if not all(are_new):
            data, raw = compress(records.data, are_new), compress(records.raw, are_new)
            records = records._replace(data=[*data], raw=[*raw])
        return self._shape(records, number, end)

    def _shape(
        self, records: Records, number: int, end: str | None = None
    ) -> list[Row]:
        try:
            return self.shape(records, end)
        except ValueError as error:
            msg = f"page {number}: {error}"
            raise StreamError(msg) from None

    def _read_unfiltered(self, _: Window, check: Check) -> Iterator[Page]:
        return self.endpoint.read({}, check)
