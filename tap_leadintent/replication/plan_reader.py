"""Reads what a plan asks for: window by window and page by page, oldest first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Event
from typing import Any, NamedTuple

from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Records
from tap_leadintent.api.pagination import Chain, FirstPage
from tap_leadintent.errors import StreamError
from tap_leadintent.progress import Pass, counted, describe_steps
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.intervals import Interval, overlap
from tap_leadintent.replication.plan import FullRead, RangeRead, Step
from tap_leadintent.replication.ranges import RangeChain, RangeGuard, find_accepted
from tap_leadintent.replication.schedule import Schedule
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.times import format_instant, format_interval, utc_timestamp

_YEAR = 365 * 86_400

_MAX_NAMED = 3
"""Intervals that the error of a stream names."""


class WindowPage(NamedTuple):
    """A page, with the window that it belongs to."""

    records: Records

    range_name: str
    """The time range, empty where all records are read."""

    covers: Sequence[str]
    """The time ranges of which the window is covered when its rows are written."""

    drops_later: bool
    """Whether everything after it is then taken out of the coverage."""

    window: Interval
    """The interval that was read, in UTC seconds since 1970."""

    window_end: str | None
    """Its end as `utc_timestamp` writes it; None where nothing is covered."""

    is_last: bool
    """Whether all records of the window have been read."""


class Hole(NamedTuple):
    """An interval that could not be read."""

    name: str
    """The time range."""

    interval: Interval
    """In UTC seconds since 1970."""

    reason: str


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

    holes: list[Hole] = field(default_factory=list)
    """What could not be read, except for rechecks."""

    _may_be_capped: bool = False

    def raise_for_holes(self) -> None:
        """Say which intervals could not be read.

        Raises:
            StreamError: There are some.
        """
        if not self.holes:
            return
        texts = [
            f"{hole.name} {format_interval(hole.interval)} ({hole.reason})"
            for hole in self.holes[:_MAX_NAMED]
        ]
        if more := len(self.holes) - len(texts):
            texts.append(f"{counted(more, 'interval')} more")
        raise StreamError(
            f"could not read {', '.join(texts)}; everything else was read, and each "
            "run tries this again"
        )

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

    def read(self, steps: Sequence[Step]) -> Iterator[WindowPage]:
        """Read the steps of a plan.

        Args:
            steps: The steps.

        Yields:
            Each page, oldest window first.

        Raises:
            StreamError: A range cannot be read.
            SystemExit: A signal came.
        """
        parts = [(_range_name(step), step.intervals) for step in steps]
        # There may be thousands of intervals.
        text = self.client.run_context.secret.summarize(describe_steps(parts))
        self.client.logger.info("%s", text)
        stats = self.client.stats
        for number, step in enumerate(steps, start=1):
            name, first = _range_name(step), step.intervals[0][0]
            seconds = sum(end - start for start, end in step.intervals)
            of = f"{number} of {len(steps)}"
            current = Pass(name, of, seconds, first, stats.fields())
            stats.passes.append(current)
            if isinstance(step, RangeRead) and step.newest_last:
                pages = self._read_newest_last(step)
            else:
                pages = self._read_step(step)
            for page in pages:
                if page.is_last:
                    start, current.read_to = page.window
                    current.read_seconds += current.read_to - start
                    self.client.logger.debug("%s", current)
                yield page

    def _read_newest_last(self, step: RangeRead) -> Iterator[WindowPage]:
        """Read the parts of a step; once one was read, read everything after it."""
        end = step.intervals[-1][1]
        for part in step.newest_last:
            has_read = False
            for page in self._read_step(step._replace(intervals=[part])):
                has_read = has_read or page.is_last
                yield page
            if has_read and part[1] < end:
                yield from self._read_step(step._replace(intervals=[(part[1], end)]))
                return

    def _read_step(self, step: Step) -> Iterator[WindowPage]:
        """Read a step, without its oldest time if the API refuses that."""
        has_begun = False
        try:
            for page in self._read_windows(step):
                has_begun = True
                yield page
        except StreamError as error:
            is_refused = error.may_be_range and error.may_be_split
            if isinstance(step, FullRead) and step.hint and is_refused:
                raise replace(error, message=f"{error}; {step.hint}") from None
            if has_begun or isinstance(step, FullRead) or not error.may_be_range:
                raise
            refusal = error
        else:
            return
        accepted = find_accepted(step.name, step.intervals, self.first_page)
        start, end = step.intervals[0][0], step.intervals[-1][1]
        has_newer = any(after > end for _, after in step.newest_last)
        if accepted is None and not (step.is_recheck or has_newer):
            raise refusal
        until = end if accepted is None else accepted
        for refused in overlap(step.intervals, (start, until)):
            advice = f"set start_date to {format_instant(refused[1])}"
            reason = f"{refusal}; if the API keeps no older records, {advice}"
            self._note_hole(step, refused, reason)
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
        windows, begin = self._windows_of(step, earliest)
        schedule, window, has_records = Schedule(windows, begin), None, False
        end = None
        name, covers = _range_name(step), step.covers
        drops_later = isinstance(step, RangeRead) and step.drops_later
        guard = RangeGuard(name, self.stream, self.first_page)
        with closing(iter(self._coordinate(schedule))) as pages:
            for its_window, page in pages:
                records = page.decode()
                if its_window != window:
                    window = its_window
                    end = utc_timestamp(format_instant(window.end)) if covers else None
                    if isinstance(step, RangeRead):
                        # Its request has threads of its own, beside the others.
                        guard.check_first_page(records)
                if records.data and not has_records:
                    has_records = True
                    self._note_first(step, window)
                is_last = not page.cursor.has_more
                interval = window.start, window.end
                yield WindowPage(
                    records, name, covers, drops_later, interval, end, is_last
                )
        self._note_problems(step, schedule, windows.capped)
        if isinstance(step, RangeRead):
            self.widest = windows.widest

    def _windows_of(
        self, step: Step, earliest: int | None
    ) -> tuple[Windows, Callable[[Window], Chain]]:
        """Return the windows of a step, and a function that begins their chains."""
        size, logger = self.client.page_size, self.client.logger
        if isinstance(step, FullRead):
            windows = Windows(step.intervals, page_size=size, one_chain=True)
            return windows, lambda _: Chain({}, logger)
        windows = Windows(
            step.intervals,
            page_size=size,
            readers=self.concurrency,
            widest=self.widest,
            quiet=step.is_quiet,
        )
        return windows, partial(RangeChain, step.name, logger, earliest)

    def _coordinate(self, schedule: Schedule) -> Coordinator:
        interruption = self.client.run_context.interruption
        return Coordinator(
            schedule, self.client.fetch, interruption.raise_if_interrupted, Event()
        )

    def _note_first(self, step: Step, window: Window) -> None:
        """Note where the first records of a first load are."""
        if isinstance(step, FullRead) or step.has_coverage or step.newest_last:
            return
        if window.start - step.intervals[0][0] > _YEAR:
            day = format_instant(window.start)[:10]
            text = (
                "No record of %s is older than %s; with start_date %s, no request is "
            )
            text += "made for the time before"
            self.client.logger.info(text, step.name, day, day)

    def _note_problems(self, step: Step, schedule: Schedule, capped: int) -> None:
        """Note what could not be read of a step, or not completely."""
        for interval, error in schedule.failed:
            self._note_hole(step, interval, str(error))
        if capped and not self._may_be_capped:
            self._may_be_capped = True
            hint = "if there are more, ask the API's support"
            if isinstance(step, FullRead) and step.covers:
                hint = "set start_date, so that it is read in several queries"
            self.client.logger.warning(
                "A query ended after %s with a page as full as the others, so the API "
                "may have left out further ones; %s",
                counted(capped, "record"),
                hint,
            )

    def _note_hole(self, step: Step, interval: Interval, reason: str) -> None:
        name = _range_name(step)
        if isinstance(step, RangeRead) and step.is_recheck:
            # It was read before.
            text = "%s %s could not be read again: %s"
            self.client.logger.info(text, name, format_interval(interval), reason)
        else:
            self.holes.append(Hole(name, interval, reason))


def _range_name(step: Step) -> str:
    """Return the time range of a step; empty where it reads all records."""
    return step.name if isinstance(step, RangeRead) else ""
