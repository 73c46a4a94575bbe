"""Reads what a run has to read of a stream, and keeps its coverage.

A window counts as covered as soon as its rows have been written. What cannot be read is
a hole: newer windows are read all the same, and the stream fails at its end.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from tap_leadintent.api.endpoint import Endpoint
from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page
from tap_leadintent.config.scope import scope_of
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.holes import TOO_OLD, Holes
from tap_leadintent.progress import StepProgress
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.intervals import Interval, cut_off
from tap_leadintent.replication.plan import DAY, LIST, Step, make_plan
from tap_leadintent.replication.plan_reader import PlanReader
from tap_leadintent.replication.protocol import OVERLAP_SECONDS
from tap_leadintent.replication.reader import WindowPage
from tap_leadintent.replication.source import key_mark
from tap_leadintent.run_stream import RunStream
from tap_leadintent.singer.log import summarize
from tap_leadintent.times import format_instant
from tap_leadintent.words import counted

_LOAD_SCHEMA = "MELTANO_EXTRACT__LOAD_SCHEMA"
"""The variable in which Meltano names the schema that its loader writes to."""


@dataclass(kw_only=True)
class Reading:
    """What a run reads of one stream, and what it has read so far."""

    stream: RunStream
    """Gives the settings, writes STATEs and counts."""

    client: Client
    """Sends the requests."""

    bookmark: Bookmark
    """What earlier runs have read; this run extends it."""

    ranges: Sequence[str]
    """The time ranges that the stream is read by; none for a list of all records."""

    short_query: str = field(default="", init=False)
    """How many records a query has brought, if the API says that it has more."""

    _totals: set[int] = field(default_factory=set, init=False)
    """How many records the queries have, as the API says."""

    holes: Holes = field(default_factory=Holes, init=False)
    """What could not be read."""

    def __post_init__(self) -> None:
        """Read the settings that are needed all the time."""
        config = self.stream.config
        self._key_mark = key_mark(config["api_key"])
        self._load_schema = os.environ.get(_LOAD_SCHEMA) or self.bookmark.load_schema
        # A request asks for the window and the overlap.
        seconds = int(config["window_days"] * DAY) - OVERLAP_SECONDS
        self.plan_reader = PlanReader(
            api=Endpoint(self.client),
            readers=config["concurrency"],
            widest=max(1, seconds),
            caps=self.bookmark.caps,
            now=self.stream.run_began,
        )
        """Reads a step of a plan."""

    def pages(self) -> Generator[tuple[Page, str, Interval]]:
        """Read what the run has to read, step by step.

        Yields:
            Each page that was read, oldest window first, with the time range and the
            interval that were requested. When the next one is asked for, the rows of
            this one must have been emitted.

        Raises:
            StreamError: A step cannot be read.
            IgnoredRangeError: The API ignores a time range.
            NoThreadError: The system allows no further thread.
            SystemExit: A signal came.
        """
        steps = self._plan()
        for number, step in enumerate(steps, start=1):
            progress = self._begin(step, f"{number} of {len(steps)}")
            brought, has_read = 0, False
            try:
                with closing(self.plan_reader.read(step)) as pages:
                    for page in pages:
                        if page.page:
                            self._withhold_others()
                            brought += page.page.records
                            has_read = True
                            start, end = page.window
                            asked = (start - OVERLAP_SECONDS, end)
                            yield page.page, step.range_name, asked
                        else:
                            self.holes.add(step.range_name, page)
                        if page.is_last:
                            self._compare(page, brought)
                            brought = 0
                            progress.read_to = page.window[1]
                            self.stream.logger.debug("%s", progress)
                            self._commit(step, page)
            except StreamError as error:
                if not has_read:
                    self._add_hint(error)
                raise
        if self.ranges:
            is_bounded = steps and steps[-1].range_name != self.ranges[-1]
            if not self.holes and not is_bounded:
                self.bookmark.withheld = ()
            self.stream.checkpoint()

    def _withhold_others(self) -> None:
        """Write a STATE without what was read by the later ranges with other filters.

        The first range may bring older versions of these records. If the run ends
        before its later ranges have been read, going back to the other filters reads
        the records again.
        """
        later = self.ranges[1:]
        if self.bookmark.others and self.bookmark.withheld != later:
            self.bookmark.withheld = later
            self.stream.write_state()

    def _add_hint(self, error: StreamError) -> None:
        """Add to the error of a first page what to do if the API refuses the range."""
        is_oldest = self.ranges and not self.stream.newest_covered
        if is_oldest and Action.CHANGE_RANGE in error.actions:
            # Where access is refused, that is less likely the reason.
            if Action.LEAVE_STREAM in error.actions:
                error.detail += f"; {TOO_OLD}"
            else:
                error.message += f"; {TOO_OLD}"

    def _begin(self, step: Step, number: str) -> StepProgress:
        start, _ = step.intervals[0]
        stats = self.stream.stats
        begun = StepProgress(step.range_name, number, start, stats.fields())
        stats.passes.append(begun)
        return begun

    def first_page(self) -> Page | None:
        """Read one page, without a time range.

        Returns:
            The page, if there is one.

        Raises:
            StreamError: The page cannot be read.
            SystemExit: A signal came.
        """
        # Another thread sends the request, so that a signal need not wait for it.
        api = Endpoint(self.client, only_first=True)
        with closing(replace(self.plan_reader, api=api).read(LIST)) as pages:
            return next(pages).page

    def _plan(self) -> list[Step]:
        """Plan the run, and write a STATE of what counts as covered from now on."""
        stream, bookmark = self.stream, self.bookmark
        if not self.ranges:
            return [LIST]
        self._warn_of_state()
        plan = make_plan(
            scope_of(stream.config, self.ranges),
            bookmark.coverage,
            stream.run_began,
            holes=bookmark.holes,
            settled=bookmark.settled,
        )
        bookmark.coverage = plan.coverage
        for step in plan.steps:
            if step.first_gap is not None:
                # The first range may bring older versions of records that were read by
                # this one. If the run is killed then, the next one reads them again.
                cut_off(bookmark.coverage[step.range_name], step.first_gap)
        stream.write_state()
        return plan.steps

    def _warn_of_state(self) -> None:
        """Say what has changed since the state was written, and what it cannot say."""
        stream, bookmark = self.stream, self.bookmark
        former, source = bookmark.former, bookmark.source
        if former and former.address != source.address:
            stream.run_context.warn_once(
                "If base_url is wrong, stop the run and correct it. Everything is read "
                f"from scratch, as base_url was {former.address} in the last run and "
                f"is {source.address} now; what was covered before is kept"
            )
        elif former:
            stream.logger.warning(
                "If filters.%s is wrong, stop the run and correct it. It has changed "
                "since the last run, so the stream is read from scratch; what was "
                "covered before is kept",
                stream.name,
            )
        elif bookmark.problem:
            text = "There is nothing to do. The stream is read from scratch: %s"
            stream.logger.warning(text, summarize(bookmark.problem))
        if bookmark.load_schema not in {"", self._load_schema}:
            stream.run_context.warn_once(
                "Run once with --full-refresh to have all rows in the schema "
                f"{self._load_schema}: the rows of earlier runs are in "
                f"{bookmark.load_schema}"
            )
        ends = [end for covered in bookmark.coverage.values() for _, end in covered]
        if (newest := max(ends, default=0)) > stream.run_began:
            text = "The state covers a time in the future, up to %s, which is ignored"
            stream.logger.warning(text, format_instant(newest))

    def _compare(self, last: WindowPage[Page], brought: int) -> None:
        """Note that a query has fewer records than the API says, if that is so."""
        total = last.page.total if last.page else None
        if total is None:
            return
        # If it is the same for all ranges, it is about all records.
        self._totals.add(total)
        is_of_query = len(self._totals) > 1 or not self.ranges
        if is_of_query and total > brought:
            text = f"a query has brought {counted(brought, 'record')} of {total:,}"
            self.short_query = text

    def _commit(self, step: Step, page: WindowPage[Page]) -> None:
        """Cover a window, as all of its rows have been written, or note a hole."""
        name = step.range_name
        if not name:
            return
        if page.page is None:
            self.bookmark.leave(name, page.window)
        else:
            # A key that got no page may be mistyped.
            if self.bookmark.key_mark not in {"", self._key_mark}:
                self.stream.run_context.warn_once(
                    "If the key is of another organization, stop the run and use "
                    "another state; if it may read more, forget the coverage "
                    "(tap-leadintent-state forget): api_key has changed since the last "
                    "run"
                )
            self.bookmark.key_mark = self._key_mark
            self.bookmark.load_schema = self._load_schema
            now = self.stream.complete_to()
            lookback = int(self.stream.config["lookback_days"] * DAY)
            self.bookmark.cover(
                name,
                page.window,
                until=now,
                settled_to=now - lookback,
                drops_later=step.read_again_to is not None,
            )
        self.stream.checkpoint()
