"""Reads what a plan asks for: window by window and page by page, oldest first."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from threading import Event

from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page, Records
from tap_leadintent.progress import Progress, describe
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.ranges import RangeChain, RangeGuard, range_fields
from tap_leadintent.replication.schedule import Schedule
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.times import format_instant


@dataclass(eq=False, kw_only=True, repr=False)
class Reader:
    """Reads the endpoint of one stream."""

    client: Client
    """Sends the requests."""

    progress: Progress
    """Notes each window."""

    window_done: Callable[[], None]
    """Called when a window is complete and emitted."""

    concurrency: int
    """Number of windows that are read at once."""

    widest: int | None
    """The most seconds of a window; less once the API has refused some as too wide."""

    def first_page(self, name: str = "") -> Records:
        """Read the first page of all records, or of the first second of 1970.

        Args:
            name: The time range whose first second is asked for, if any.

        Returns:
            Its records.

        Raises:
            StreamError: It cannot be read.
            SystemExit: A signal came before.
        """
        self.client.run_context.interruption.check()
        return self.client.fetch(range_fields(name, 0, 1), None, Event()).decode()

    def read(
        self, steps: Sequence[Step], coverage: Coverage
    ) -> Iterator[tuple[Records, str | None, str]]:
        """Read the steps of a plan.

        Args:
            steps: The steps.
            coverage: Notes each window that has been read whole.

        Yields:
            The records of each page, oldest window first; the end of their time window,
            None where nothing counts as covered; and what their step is read for.

        Raises:
            StreamError: A range cannot be read.
            SystemExit: A signal came.
        """
        parts = [(step.name, step.stretches) for step in steps]
        self.client.logger.info("%s", describe(parts))
        for step in steps:
            self.progress.begin_range(step.name)
            windows = Windows(
                step.stretches,
                page_size=self.client.page_size,
                readers=self.concurrency,
                widest=self.widest,
                quiet=step.is_quiet,
                whole=not step.name,
            )
            with closing(self._pages(step.name, windows)) as pages:
                for records, window_end in self._read_step(step, pages, coverage):
                    yield records, window_end, step.kind
            self.widest = windows.widest

    def _read_step(
        self, step: Step, pages: Iterable[tuple[Window, Page]], coverage: Coverage
    ) -> Iterator[tuple[Records, str | None]]:
        guard, logger = RangeGuard(step.name, self.first_page), self.client.logger
        as_of: int | None = None
        for window, page in pages:
            records = page.decode()
            if as_of is None:
                # The first query is the earliest, so it decides what is complete.
                as_of = page.as_of
                guard.check(records)
            window_end = f"{format_instant(window.end)[:-1]}.000000Z"
            yield records, window_end if step.covers else None
            # A window counts as read after its last page.
            if page.cursor.has_more:
                continue
            self.progress.reach(window.end)
            logger.debug("%s up to %s", step.name or "all", format_instant(window.end))
            end = min(window.end, as_of)
            as_of = None
            if window.start < end:
                until = window.end if step.is_in_order else None
                for name in step.covers:
                    coverage.add(name, (window.start, end), until=until)
            if step.covers:
                self.window_done()

    def _pages(self, name: str, windows: Windows) -> Generator[tuple[Window, Page]]:
        logger, check = self.client.logger, self.client.run_context.interruption.check
        schedule = Schedule(windows, partial(RangeChain, name, logger))
        return iter(Coordinator(schedule, self.client.fetch, check, logger))
