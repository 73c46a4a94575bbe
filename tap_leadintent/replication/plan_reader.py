"""Reads what a plan asks for: window by window and page by page, oldest first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any

from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Records
from tap_leadintent.api.pagination import Chain, FirstPage
from tap_leadintent.progress import describe_steps
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.intervals import Coverage, overlap, union
from tap_leadintent.replication.plan import FullRead, RangeRead, Step
from tap_leadintent.replication.ranges import RangeChain, RangeGuard
from tap_leadintent.replication.schedule import Schedule
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.times import EARLIEST, format_instant, utc_timestamp


@dataclass(eq=False, kw_only=True, repr=False)
class PlanReader:
    """Reads the endpoint of one stream, for the main thread.

    The threads of a `Coordinator` send the requests.
    """

    client: Client
    """Sends the requests."""

    window_done: Callable[[], None]
    """Called when a window is complete and emitted."""

    concurrency: int
    """Number of windows that are read at once."""

    widest: int | None
    """The most seconds of a window, if there is a limit; less once the API has refused
    windows as too wide."""

    def first_page(self, fields: Mapping[str, Any] | None = None) -> Records:
        """Read the first page of a request.

        Args:
            fields: The request fields; without them, all records are requested.

        Returns:
            Its records.

        Raises:
            StreamError: It cannot be read.
            SystemExit: A signal came.
        """
        chain = FirstPage(dict(fields or {}), self.client.logger)
        # Other threads read even this page: while the main thread hangs in a DNS
        # look-up, Python does not handle signals.
        windows = Windows([(0, 1)], page_size=self.client.page_size, one_chain=True)
        coordinator = self._coordinate(Schedule(windows, lambda _: chain))
        with closing(iter(coordinator)) as pages:
            _, page = next(pages)
        return page.decode()

    def read(
        self, steps: Sequence[Step], coverage: Coverage
    ) -> Iterator[tuple[Records, str | None]]:
        """Read the steps of a plan.

        Args:
            steps: The steps.
            coverage: Notes each window that has been read completely.

        Yields:
            The records of each page, oldest window first; and the end of their time
            window as `utc_timestamp` writes it, None where nothing counts as covered.

        Raises:
            StreamError: A range cannot be read.
            SystemExit: A signal came.
        """
        parts = [(_range_name(step), step.intervals) for step in steps]
        # There may be thousands of intervals.
        text = self.client.run_context.secret.summarize(describe_steps(parts))
        self.client.logger.info("%s", text)
        for step in steps:
            windows, begin, check_first_page = self._prepare(step)
            coordinator = self._coordinate(Schedule(windows, begin))
            window = end = None
            with closing(iter(coordinator)) as pages:
                for its_window, page in pages:
                    records = page.decode()
                    if its_window != window:
                        window = its_window
                        check_first_page(records)
                        if step.covers:
                            end = utc_timestamp(format_instant(window.end))
                    yield records, end
                    # The caller goes on when all rows of the page have been written.
                    if not page.cursor.has_more:
                        self._note(step, window, page.as_of, coverage)
            if isinstance(step, RangeRead):
                self.widest = windows.widest

    def _prepare(
        self, step: Step
    ) -> tuple[Windows, Callable[[Window], Chain], Callable[[Records], None]]:
        """Return the windows of a step, and two functions.

        One begins the chain of a window, the other checks the window's first page.
        """
        size, logger = self.client.page_size, self.client.logger
        if isinstance(step, FullRead):
            windows = Windows(step.intervals, page_size=size, one_chain=True)
            return windows, lambda _: Chain({}, logger), lambda _: None
        windows = Windows(
            step.intervals,
            page_size=size,
            readers=self.concurrency,
            widest=self.widest,
            quiet=step.is_quiet,
        )
        # Its request has threads of its own, beside those that read the windows.
        guard = RangeGuard(step.name, self.first_page)
        return windows, partial(RangeChain, step.name, logger), guard.check_first_page

    def _coordinate(self, schedule: Schedule) -> Coordinator:
        interruption = self.client.run_context.interruption
        return Coordinator(
            schedule, self.client.fetch, interruption.raise_if_interrupted, Event()
        )

    def _note(self, step: Step, window: Window, as_of: int, coverage: Coverage) -> None:
        """Note that a window has been read completely and emitted."""
        name = _range_name(step) or "everything"
        reached = f"{name} is read up to {format_instant(window.end)}"
        self.client.stats.reached = reached
        self.client.logger.debug("%s", reached)
        complete = (window.start, min(window.end, as_of))
        if complete[0] < complete[1]:
            for covers in step.covers:
                covered = coverage.get(covers, [])
                if isinstance(step, RangeRead) and step.drops_later:
                    covered = overlap(covered, (EARLIEST, window.end))
                coverage[covers] = union([*covered, complete])
        if step.covers:
            self.window_done()


def _range_name(step: Step) -> str:
    """Return the time range of a step; empty where it reads all records."""
    return step.name if isinstance(step, RangeRead) else ""
