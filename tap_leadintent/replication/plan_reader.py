"""Reads what a plan asks for: window by window and page by page, oldest first."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from threading import Event
from typing import Any, NamedTuple

from tap_leadintent.api.chain import Chain, FirstPage, read_chain
from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page, Records
from tap_leadintent.errors import StreamError
from tap_leadintent.progress import StepProgress, describe_steps
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.density import FEW_RECORDS
from tap_leadintent.replication.incomplete import Incomplete
from tap_leadintent.replication.intervals import Interval, overlap
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.ranges import RangeChain, RangeGuard, find_accepted
from tap_leadintent.replication.schedule import Schedule
from tap_leadintent.replication.windows import Windows
from tap_leadintent.singer.log import summarize
from tap_leadintent.times import format_instant, utc_timestamp

_YEAR = 365 * 86_400


class WindowPage(NamedTuple):
    """A page, with the window that it belongs to."""

    records: Records

    step: Step
    """What the window is a part of."""

    window: Interval
    """The interval that was read, in UTC seconds since 1970."""

    window_end: str | None
    """Its end as `utc_timestamp` writes it; None where nothing is covered."""

    is_last: bool
    """Whether all records of the window have been read."""

    left_out: Sequence[Interval] = ()
    """What could not be read between the last window that was read and this one."""


@dataclass(eq=False, kw_only=True, repr=False)
class PlanReader:
    """Reads the endpoint of one stream, for the main thread.

    The threads of a `Coordinator` send the requests.
    """

    stream: str
    """The name of the stream."""

    client: Client
    """Sends the requests."""

    concurrency: int
    """Number of windows that are read at once."""

    widest: int
    """The most seconds of a window; less once the API has refused windows as too wide.
    """

    incomplete: Incomplete
    """Notes what could not be read, or perhaps not completely."""

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
        with closing(self._read_chain(chain)) as pages:
            return next(pages).decode()

    def read(self, steps: Sequence[Step]) -> Generator[WindowPage]:
        """Read the steps of a plan.

        Args:
            steps: The steps.

        Yields:
            Each page, oldest window first.

        Raises:
            StreamError: A range cannot be read.
            SystemExit: A signal came.
        """
        parts = [(step.name, step.intervals) for step in steps]
        # There may be thousands of intervals.
        text = summarize(describe_steps(parts))
        self.client.logger.info("%s", text)
        stats = self.client.stats
        for number, step in enumerate(steps, start=1):
            first, _ = step.intervals[0]
            seconds = sum(end - start for start, end in step.intervals)
            of = f"{number} of {len(steps)}"
            current = StepProgress(step.name, of, seconds, first, stats.fields())
            stats.passes.append(current)
            if not step.name:
                pages = self._read_all(step)
            elif step.unread:
                pages = self._read_newest_last(step)
            else:
                pages = self._read_range(step)
            for page in pages:
                if not page.is_last:
                    yield page
                    continue
                ended = _note_end(step, page, current)
                self.client.logger.debug("%s", current)
                yield ended

    def _read_newest_last(self, step: Step) -> Iterator[WindowPage]:
        """Read the parts of a step; once one was read, read everything after it."""
        end = step.intervals[-1][1]
        for part in step.unread:
            has_read = False
            for page in self._read_range(step._replace(intervals=[part])):
                # A window that cannot be read may have given its first pages.
                has_read = has_read or page.is_last or bool(page.records.data)
                yield page
            if has_read and part[1] < end:
                yield from self._read_range(step._replace(intervals=[(part[1], end)]))
                return

    def _read_all(self, step: Step) -> Iterator[WindowPage]:
        """Read all records in one chain."""
        chain, (interval,) = Chain({}, self.client.logger), step.intervals
        most, is_full = 0, False
        end = utc_timestamp(format_instant(interval[1])) if step.covers else None
        try:
            with closing(self._read_chain(chain)) as pages:
                for page in pages:
                    is_last = not page.cursor.has_more
                    yield WindowPage(page.decode(), step, interval, end, is_last)
                    is_full = len(page.raw) >= (most or self.client.page_size)
                    most = max(most, len(page.raw))
        except StreamError as error:
            if step.hint and error.may_be_range and error.may_be_split:
                raise replace(error, message=f"{error.message}; {step.hint}") from None
            raise
        if is_full and most >= FEW_RECORDS:
            self.incomplete.warn_of_a_cap(chain.records, has_range=bool(step.covers))

    def _read_range(self, step: Step) -> Iterator[WindowPage]:
        """Read a step, without its oldest time if the API refuses that."""
        has_begun = False
        try:
            for page in self._read_windows(step):
                has_begun = True
                yield page
        except StreamError as error:
            if has_begun or not error.may_be_range:
                raise
            refusal = error
        else:
            return
        start, end = step.intervals[0][0], step.intervals[-1][1]
        monotonic = self.client.run_context.limits.monotonic
        began = monotonic()
        accepted = find_accepted(step.name, step.intervals, self.first_page)
        has_newer = any(after > end for _, after in step.unread)
        if accepted is None and not (step.is_recheck or has_newer):
            raise refusal
        # An API that keeps the last days has dropped some more during the search, and
        # drops more until the oldest window has been read.
        passed = ceil(2 * (monotonic() - began))
        until = end if accepted is None else accepted + passed
        # What a recheck reads has been read before.
        for refused in overlap(
            [] if step.is_recheck else step.intervals, (start, until)
        ):
            advice = f"set start_date to {format_instant(refused[1])}"
            reason = f"{refusal.why}; if the API keeps no older records, {advice}"
            self.incomplete.note_hole(step, refused, reason)
        if later := overlap(step.intervals, (until, end)):
            yield from self._read_windows(step._replace(intervals=later), until)

    def _read_windows(
        self, step: Step, earliest: int | None = None
    ) -> Iterator[WindowPage]:
        """Read a step.

        Args:
            step: The step.
            earliest: The earliest instant that the API accepts, if it is known.
        """
        windows = Windows(
            step.intervals,
            page_size=self.client.page_size,
            concurrency=self.concurrency,
            widest=self.widest,
            quiet=step.is_quiet,
        )
        begin = partial(RangeChain, step.name, self.client.logger, earliest)
        # The API may keep no records of the oldest time.
        schedule = Schedule(windows, begin, raises_refusal=earliest is None)
        window = end = None
        has_records = False
        guard = RangeGuard(step.name, self.stream, self.first_page)
        interruption = self.client.run_context.interruption
        coordinator = Coordinator(
            schedule, self.client.fetch, interruption.raise_if_interrupted, Event()
        )
        with closing(iter(coordinator)) as pages:
            for its_window, page in pages:
                records = page.decode()
                if its_window != window:
                    window = its_window
                    end = utc_timestamp(format_instant(window.end))
                    # Its request has a thread of its own, beside the others.
                    guard.check_first_page(records)
                if records.data and not has_records:
                    has_records = True
                    self._note_first(step, window.start)
                is_last = not page.cursor.has_more
                interval = window.start, window.end
                yield WindowPage(records, step, interval, end, is_last)
        for failed, error in schedule.failed:
            self.incomplete.note_hole(step, failed, error.why)
        if windows.capped:
            self.incomplete.warn_of_a_cap(windows.capped)
        self.widest = windows.widest

    def _note_first(self, step: Step, instant: int) -> None:
        """Log where the first records of a first load are, if that is late."""
        is_first_load = not (step.has_coverage or step.unread)
        if is_first_load and instant - step.intervals[0][0] > _YEAR:
            day = format_instant(instant)[:10]
            self.client.logger.info(
                "No record of %s is older than %s; with start_date %s, no request is "
                "made for the time before",
                *(step.name, day, day),
            )

    def _read_chain(self, chain: Chain) -> Generator[Page]:
        interruption = self.client.run_context.interruption
        return read_chain(chain, self.client.fetch, interruption.raise_if_interrupted)


def _note_end(step: Step, page: WindowPage, progress: StepProgress) -> WindowPage:
    """Note that a window has been read, and what was left out before it."""
    start, end = page.window
    left_out: list[Interval] = []
    # What a recheck reads has been read before.
    if progress.read_to < start and not step.is_recheck:
        needed = step.unread or step.intervals
        left_out = overlap(needed, (progress.read_to, start))
    progress.read_to = end
    progress.read_seconds += end - start
    return page._replace(left_out=left_out)
