"""Reads what a plan asks for: window by window and page by page, oldest first."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol

from tap_leadintent.api.chain import Chain
from tap_leadintent.errors import RefusedError, StoppedError, StreamError
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.emitted import Emitted
from tap_leadintent.replication.plan import SINCE_EVER
from tap_leadintent.replication.range_guard import RangeGuard
from tap_leadintent.replication.range_requests import RangeRequests
from tap_leadintent.replication.schedule import Schedule
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
    from contextlib import AbstractContextManager
    from threading import Event

    from tap_leadintent.api.endpoint import Endpoint
    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.progress import Progress
    from tap_leadintent.replication.coverage import Coverage
    from tap_leadintent.replication.plan import Step
    from tap_leadintent.replication.schedule import Reading
    from tap_leadintent.replication.time_range import TimeRange

    Row = dict[str, Any]


class Shaper(Protocol):
    """Shapes the records of a page for a target."""

    def keys(self, page: Records, /) -> Iterable[Hashable]:
        """Tell for each record of a page which row of a target it is."""

    def shape_page(self, page: Records, window_end: str | None, /) -> list[Row]:
        """Shape a page."""


@dataclass(eq=False, kw_only=True, repr=False)
class Reader:
    """Reads the endpoint of one stream."""

    endpoint: Endpoint
    """What is read."""

    check: Check
    """Called between two pages; raises to end the run."""

    waiting: Callable[[], AbstractContextManager[None]]
    """Gives a context for a wait, which a signal may end."""

    progress: Progress
    """Notes each window."""

    logger: logging.Logger
    """Gets a line for each window at DEBUG."""

    shaper: Callable[[], Shaper]
    """Gives what shapes records; discovery reads before the columns are known."""

    window_done: Callable[[int], None]
    """Called with the number of records when a window is complete and emitted."""

    page_size: int
    """Number of records in a full page."""

    concurrency: int
    """Number of windows that are read at once."""

    widest: int | None
    """The most seconds of a window; less once the API has refused some as too wide."""

    _emitted: Emitted = field(init=False, default_factory=Emitted)

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
        number = 0
        for _, page in self._read(whole, self._unfiltered):
            if page is not None:
                number += 1
                yield self._shape(self._decode(page), number)
                self._check_before_next(page)

    def first_page(self) -> Records:
        """Read the first page of all records.

        Returns:
            Its records.

        Raises:
            StreamError: It cannot be read.
            SystemExit: A signal came.
        """
        whole = Windows([(SINCE_EVER, 1)], page_size=self.page_size, whole=True)
        return self._decode(self._first(whole, self._unfiltered))

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
        requests = RangeRequests(step.name, self.logger)
        guard = RangeGuard(time_range, lambda: self._is_ignored(requests))
        self.progress.begin_range(step.name, [] if unfiltered else step.stretches)
        begin = self._unfiltered if unfiltered else requests.begin
        number = emitted = as_of = 0
        for window, page in self._read(windows, begin, readers=readers):
            if page is None:
                self._note(step, window, as_of if number else window.start, coverage)
                self.window_done(emitted)
                number = emitted = 0
                continue
            number += 1
            # The first query is the earliest, so it decides what is complete.
            as_of = page.as_of if number == 1 else as_of
            records = self._decode(page)
            guard.check(window, number, records)
            end = f"{format_instant(window.end)[:-1]}.000000Z"
            rows = self._new_rows(records, number, end)
            emitted += len(rows)
            yield rows
            self._check_before_next(page)
        self.widest = windows.widest

    def forget(self) -> None:
        """Forget what was emitted: the next stream needs the memory."""
        self._emitted = Emitted()

    def _read(
        self, windows: Windows, begin: Callable[[Window], Chain], *, readers: int = 1
    ) -> Generator[tuple[Window, Page | None]]:
        schedule = Schedule(windows, begin, readers=readers)
        coordinator = Coordinator(
            schedule, self._send, readers=readers, waiting=self.waiting
        )
        if coordinator.readers < readers:
            self.logger.warning(
                "Only %d of %d windows are read at once, as the system allows no more "
                "threads",
                coordinator.readers,
                readers,
            )
        return iter(coordinator)

    def _first(self, windows: Windows, begin: Callable[[Window], Chain]) -> Page:
        with closing(self._read(windows, begin)) as pages:
            for _, page in pages:
                if page is not None:
                    return page
        raise AssertionError  # Each chain has a page or fails.

    def _is_ignored(self, requests: RangeRequests) -> bool:
        """Tell whether the API shows records of a time that cannot have any."""
        window = Windows([(0, 1)], page_size=self.page_size, whole=True)
        try:
            return self._first(window, requests.begin).count > 0
        except RefusedError:
            # A server that refuses the range does not ignore it.
            return False

    def _unfiltered(self, _: Window) -> Chain:
        return Chain({}, self.logger)

    def _send(self, reading: Reading, stopped: Event) -> Page:
        def check() -> None:
            if stopped.is_set():
                raise StoppedError

        chain = reading.chain
        return self.endpoint.fetch(chain.fields, chain.after, check)

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
        are_new = [*map(self._emitted.take, self.shaper().keys(records), contents)]
        if not all(are_new):
            data, raw = compress(records.data, are_new), compress(records.raw, are_new)
            records = records._replace(data=[*data], raw=[*raw])
        return self._shape(records, number, end)

    def _shape(
        self, records: Records, number: int, end: str | None = None
    ) -> list[Row]:
        try:
            return self.shaper().shape_page(records, end)
        except ValueError as error:
            msg = f"page {number}: {error}"
            raise StreamError(msg) from None
