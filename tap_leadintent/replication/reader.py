"""Reads what a plan asks for: window by window and page by page, oldest first."""

import sys
from collections import Counter
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, Protocol

from tap_leadintent.api.client import Client
from tap_leadintent.api.page import Cursor, Page, Records
from tap_leadintent.api.pagination import Chain
from tap_leadintent.errors import IF_IT_GOES_ON, StreamError
from tap_leadintent.interruption import Interruption
from tap_leadintent.progress import Progress
from tap_leadintent.replication.coordinator import Coordinator, Fetch
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.ranges import RangeChain, RangeGuard
from tap_leadintent.replication.schedule import Schedule
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.times import format_instant

Row = dict[str, Any]


_MOST_KEYS = 130_000
"""Keys that are remembered, in about 16 MB. More take more memory; of those beyond, a
first load emits up to two versions that may be the same."""


class Deduplicator:
    """What was emitted last of each record, for the first 130,000 keys of a run.

    Two hashes of 64 bits are kept of each: a record would be left out by mistake only
    where both collide.
    """

    def __init__(self) -> None:
        """Begin without a record."""
        self._last: dict[int, int] = {}

    def take(self, key: Hashable, content: bytes) -> bool:
        """Take a record that is about to be emitted.

        Args:
            key: Which row of a target it is.
            content: Its JSON.

        Returns:
            Whether it is to be emitted. Not so if the same was emitted last of it.
        """
        row, said = hash(key), hash(content)
        if self._last.get(row) == said:
            return False
        if row in self._last or len(self._last) < _MOST_KEYS:
            self._last[row] = said
        return True


class Shaper(Protocol):
    """Shapes the records of a page for a target."""

    def keys(self, page: Records, /) -> Iterable[Hashable]:
        """Tell for each record of a page which row of a target it is."""

    def shape_page(self, page: Records, window_end: str | None, /) -> list[Row]:
        """Shape a page."""


@dataclass(eq=False, kw_only=True, repr=False)
class Reader:
    """Reads the endpoint of one stream."""

    client: Client
    """Sends the requests."""

    interruption: Interruption
    """Ends the run after a signal."""

    progress: Progress
    """Notes each window."""

    shaper: Callable[[], Shaper]
    """Gives what shapes records; discovery reads before the columns are known."""

    window_done: Callable[[int], None]
    """Called with the number of records when a window is complete and emitted."""

    concurrency: int
    """Number of windows that are read at once."""

    widest: int | None
    """The most seconds of a window; less once the API has refused some as too wide."""

    kinds: Counter[str] = field(init=False, default_factory=Counter)
    """How many rows were emitted, by what their step was read for."""

    def first_page(self, name: str = "") -> Records:
        """Read the first page of all records, or of the first second of 1970.

        Args:
            name: The time range whose first second is asked for, if any.

        Returns:
            Its records.

        Raises:
            StreamError: It cannot be read.
            SystemExit: A signal came.
        """

        def fetch(*request: Any) -> Page:
            # The next page is not asked for.
            return replace(self.client.fetch(*request), cursor=Cursor(has_more=False))

        windows = Windows([(0, 1)], page_size=self.client.page_size)
        with closing(self._pages(windows, name, fetch)) as pages:
            _, page = next(pages)
        return _decode(page, 1)

    def first_rows(self) -> list[Row]:
        """Read the first page of all records, and shape it.

        Returns:
            Its rows.

        Raises:
            StreamError: It cannot be read.
            SystemExit: A signal came.
        """
        return _shaped(self.shaper(), self.first_page(), None, 1)

    def read(self, steps: Iterable[Step], coverage: Coverage) -> Iterator[list[Row]]:
        """Read the steps of a plan.

        Args:
            steps: The steps.
            coverage: Notes each window that has been read whole.

        Yields:
            The rows of each page, oldest window first, without rows that were emitted
            before and are unchanged.

        Raises:
            StreamError: A range cannot be read.
            SystemExit: A signal came.
        """
        deduplicator = Deduplicator()
        for step in steps:
            self.progress.begin_range(step.name, step.stretches if step.name else ())
            windows = Windows(
                step.stretches,
                page_size=self.client.page_size,
                readers=self.concurrency,
                widest=self.widest,
                quiet=step.is_quiet,
                whole=not step.name,
            )
            with closing(self._pages(windows, step.name, self.client.fetch)) as pages:
                yield from self._rows(step, pages, deduplicator, coverage)
            if windows.widest < (self.widest or sys.maxsize):
                self.widest = windows.widest
                self.client.logger.warning(
                    "The API refused long windows of %s, so narrower ones were read; "
                    "set window_days to %.3g, which it accepts",
                    step.name,
                    windows.widest / 86400,
                )

    def _rows(
        self,
        step: Step,
        pages: Iterable[tuple[Window, Page]],
        deduplicator: Deduplicator,
        coverage: Coverage,
    ) -> Iterator[list[Row]]:
        shaper, guard = self.shaper(), RangeGuard(step.name, self.first_page)
        number = emitted = as_of = 0
        window_end = None
        for window, page in pages:
            number += 1
            records = _decode(page, number)
            if number == 1:
                # The first query is the earliest, so it decides what is complete.
                as_of = page.as_of
                guard.check(records)
                if step.covers:
                    window_end = f"{format_instant(window.end)[:-1]}.000000Z"
            if step.covers:
                contents = map(bytes, records.raw)
                are_new = map(deduplicator.take, shaper.keys(records), contents)
                records = records._replace(data=[*compress(records.data, are_new)])
            rows = _shaped(shaper, records, window_end, number)
            emitted += len(rows)
            self.kinds[step.kind] += len(rows)
            yield rows
            # A window counts as read after its last page.
            if page.cursor.has_more:
                continue
            if step.covers:
                self._note(step, window, as_of, coverage)
                self.window_done(emitted)
            number = emitted = 0

    def _pages(
        self, windows: Windows, name: str, fetch: Fetch
    ) -> Generator[tuple[Window, Page]]:
        def begin(window: Window) -> Chain:
            logger = self.client.logger
            return RangeChain(name, window, logger) if name else Chain({}, logger)

        coordinator = Coordinator(
            Schedule(windows, begin), fetch, self.interruption.check
        )
        if coordinator.readers < windows.readers:
            self.client.logger.warning(
                "Only %d of %d windows are read at once, as the system allows no more "
                "threads",
                coordinator.readers,
                windows.readers,
            )
        return iter(coordinator)

    def _note(self, step: Step, window: Window, as_of: int, coverage: Coverage) -> None:
        end = min(window.end, as_of)
        newest = window.end if step.is_in_order else None
        if window.start < end:
            for name in step.covers:
                coverage.add(name, (window.start, end), newest=newest)
        self.progress.reach(window.end)
        self.client.logger.debug(
            "%s from %s to %s",
            step.name or "everything",
            format_instant(window.start),
            format_instant(window.end),
        )


def _shaped(
    shaper: Shaper, records: Records, window_end: str | None, number: int
) -> list[Row]:
    try:
        return shaper.shape_page(records, window_end)
    except ValueError as error:
        msg = f"page {number}: {error}"
        raise StreamError(msg) from None


def _decode(page: Page, number: int) -> Records:
    try:
        return page.decode()
    except ValueError as error:
        msg = (
            f"page {number} holds records that cannot be decoded ({error}); the next "
            f"run reads it again; {IF_IT_GOES_ON}"
        )
        raise StreamError(msg) from None
