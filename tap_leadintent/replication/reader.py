"""Reads what a plan asks for: window by window and page by page, oldest first."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol

from tap_leadintent.api.chain import Chain
from tap_leadintent.errors import IF_IT_GOES_ON, RefusedError, StreamError
from tap_leadintent.replication import intervals
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.deduplicator import Deduplicator
from tap_leadintent.replication.ranges import RangeChain, RangeGuard
from tap_leadintent.replication.schedule import Schedule
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
    from threading import Event

    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.interruption import Interruption
    from tap_leadintent.progress import Progress
    from tap_leadintent.replication.coverage import Coverage
    from tap_leadintent.replication.plan import Step

    Fields = dict[str, Any]
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

    fetch: Callable[[Fields, str | None, Event], Page]
    """Sends a request; see `Client`."""

    interruption: Interruption
    """Ends the run after a signal."""

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

    kinds: Counter[str] = field(init=False, default_factory=Counter)
    """How many rows were emitted, by why their window was read; see `_kind`."""

    _deduplicator: Deduplicator = field(init=False, default_factory=Deduplicator)

    def first_page(self) -> Records:
        """Read the first page of all records.

        Returns:
            Its records.

        Raises:
            StreamError: It cannot be read.
            SystemExit: A signal came.
        """
        return _decode(self._first(self._unfiltered), 1)

    def first_rows(self) -> list[Row]:
        """Read the first page of all records, and shape it.

        Returns:
            Its rows.

        Raises:
            StreamError: It cannot be read.
            SystemExit: A signal came.
        """
        return _shaped(self.shaper(), self.first_page(), None, 1)

    def read(self, step: Step, coverage: Coverage) -> Iterator[list[Row]]:
        """Read a step of a plan.

        Args:
            step: The step.
            coverage: Notes each window that has been read whole.

        Yields:
            The rows of each page, oldest window first, without rows that were emitted
            before and are unchanged.

        Raises:
            StreamError: The range cannot be read.
            SystemExit: A signal came.
        """
        begin = (
            self._unfiltered if step.is_unfiltered else partial(self._ranged, step.name)
        )
        guard = RangeGuard(step.name, partial(self._is_ignored, begin))
        readers = 1 if step.is_unfiltered else self.concurrency
        windows = Windows(
            step.stretches,
            page_size=self.page_size,
            readers=readers,
            widest=None if step.is_unfiltered else self.widest,
            quiet=step.is_quiet,
            whole=step.is_unfiltered,
        )
        self.progress.begin_range(
            step.name, [] if step.is_unfiltered else step.stretches
        )
        with closing(self._pages(windows, begin, readers)) as pages:
            yield from self._rows(step, pages, guard, coverage)
        if not step.is_unfiltered and windows.widest < (self.widest or sys.maxsize):
            self.widest = windows.widest
            self.logger.warning(
                "The API refused long windows of %s, so narrower ones were read; set "
                "window_days to %.3g, which it accepts",
                step.name,
                windows.widest / 86400,
            )

    def _rows(
        self,
        step: Step,
        pages: Iterable[tuple[Window, Page | None]],
        guard: RangeGuard,
        coverage: Coverage,
    ) -> Iterator[list[Row]]:
        shaper, window_end, kind = self.shaper(), None, ""
        number = emitted = as_of = 0
        for window, page in pages:
            if page is None:
                if step.covers:
                    read_to = as_of if number else window.start
                    self._note(step, window, read_to, coverage)
                    self.window_done(emitted)
                number = emitted = 0
                continue
            number += 1
            records = _decode(page, number)
            if number == 1:
                # The first query is the earliest, so it decides what is complete.
                as_of = page.as_of
                guard.check(records)
                if step.covers:
                    window_end = f"{format_instant(window.end)[:-1]}.000000Z"
                    kind = _kind(step, window, coverage)
            if step.covers:
                records = self._new(records, shaper)
            rows = _shaped(shaper, records, window_end, number)
            emitted += len(rows)
            self.kinds[kind] += len(rows)
            yield rows
            # After its last page, a window first counts as read.
            if page.cursor.has_more:
                self.interruption.check()

    def forget(self) -> None:
        """Forget what was emitted: the next stream needs the memory."""
        self._deduplicator = Deduplicator()

    def _pages(
        self, windows: Windows, begin: Callable[[Window], Chain], readers: int
    ) -> Generator[tuple[Window, Page | None]]:
        coordinator = Coordinator(
            Schedule(windows, begin, readers=readers),
            lambda reading, stopped: self.fetch(
                reading.chain.fields, reading.chain.after, stopped
            ),
            readers=readers,
            check=self.interruption.check,
        )
        if coordinator.readers < readers:
            self.logger.warning(
                "Only %d of %d windows are read at once, as the system allows no more "
                "threads",
                coordinator.readers,
                readers,
            )
        return iter(coordinator)

    def _first(self, begin: Callable[[Window], Chain]) -> Page:
        """Read the first page of a time that cannot have records, or of all."""

        def begin_short(window: Window) -> Chain:
            chain = begin(window)
            chain.ends_early = True
            return chain

        windows = Windows([(0, 1)], page_size=self.page_size, whole=True)
        with closing(self._pages(windows, begin_short, 1)) as pages:
            for _, page in pages:
                if page is not None:
                    return page
        raise AssertionError  # Each chain has a page or fails.

    def _is_ignored(self, begin: Callable[[Window], Chain]) -> bool:
        try:
            return self._first(begin).count > 0
        except RefusedError:
            # A server that refuses the range does not ignore it.
            return False

    def _unfiltered(self, _: Window) -> Chain:
        return Chain({}, self.logger)

    def _ranged(self, name: str, window: Window) -> Chain:
        return RangeChain(name, window, self.logger)

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

    def _new(self, records: Records, shaper: Shaper) -> Records:
        """Leave out what was emitted before as it is."""
        contents = map(bytes, records.raw)
        are_new = map(self._deduplicator.take, shaper.keys(records), contents)
        return records._replace(data=[*compress(records.data, are_new)])


def _shaped(
    shaper: Shaper, records: Records, window_end: str | None, number: int
) -> list[Row]:
    try:
        return shaper.shape_page(records, window_end)
    except ValueError as error:
        msg = f"page {number}: {error}"
        raise StreamError(msg) from None


def _kind(step: Step, window: Window, coverage: Coverage) -> str:
    """Tell why a window is read: a window that covers both has "new or lookback"."""
    if step.is_recheck:
        return "recheck"
    whole = window.start, window.end
    left = intervals.missing(whole, coverage.pieces(step.name))
    kinds = ["new"] if left else []
    if left != [whole]:
        kinds.append("lookback")
    return " or ".join(kinds)


def _decode(page: Page, number: int) -> Records:
    try:
        return page.decode()
    except ValueError as error:
        msg = (
            f"page {number} holds records that cannot be decoded ({error}); the next "
            f"run reads it again; {IF_IT_GOES_ON}"
        )
        raise StreamError(msg) from None
