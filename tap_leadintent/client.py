"""The streams' base class: puts client, plan, reader and shaper together.

The file is named as in the SDK's template; the client itself is in `api/http.py`.

This is the way of a page. A reader thread sends one request (`api/http.py`) as soon as
the rate limit allows it (`api/limits.py`). `api/clock.py` keeps the server's time,
which `times.py` parses, and `api/health.py` knows that a request has succeeded.
`api/failures.py` knows which statuses are a success. `api/page.py` decodes everything
except the records. `api/chain.py` and `api/pagination.py` follow the cursor;
`ranges.py` does so for a time range. `replication/reader.py` keeps the page until its
window has been read, and `replication/windows.py` decides, with
`replication/ledger.py`, whether it is cut.

The main thread emits the records in the order of time. `replication/plan_reader.py`
takes the page, and `api/page.py` decodes its records. `records/contradictions.py`
compares them with the request. `records/duplicates.py` leaves out what was already
emitted and has not changed. `records/shaper.py` makes rows with
`records/column_types.py` and the computed columns that `streams.py` declares, and
`findings.py` collects what to log. `client.py` passes the rows to the SDK, which calls
`singer/stream.py` and `singer/writer.py`.
"""

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from singer_sdk import Tap
from singer_sdk.helpers.conform import TypeConformanceLevel
from singer_sdk.helpers.types import Context
from singer_sdk.metrics import Tag, http_request_counter
from singer_sdk.singerlib import Catalog, SelectionMask
from singer_sdk.singerlib.catalog import REPLICATION_INCREMENTAL
from singer_sdk.singerlib.schema import Schema
from typing_extensions import override

from tap_leadintent import openapi
from tap_leadintent.api.http import Client, RunContext
from tap_leadintent.api.page import Page, Records
from tap_leadintent.config.scope import scope_of
from tap_leadintent.errors import StreamError, replication_command
from tap_leadintent.findings import Finding, Findings
from tap_leadintent.holes import KEPT, Holes
from tap_leadintent.progress import StepProgress, counted
from tap_leadintent.ranges import Endpoint, range_fields
from tap_leadintent.records.contradictions import Contradictions
from tap_leadintent.records.duplicates import Duplicates
from tap_leadintent.records.exclusion import Exclusion
from tap_leadintent.records.shaper import RecordShaper
from tap_leadintent.replication.bookmark import COVERAGE, FIELDS, Bookmark
from tap_leadintent.replication.plan import DAY, Step, make_plan
from tap_leadintent.replication.plan_reader import PlanReader, StepPage
from tap_leadintent.replication.protocol import IgnoredRangeError, NoThreadError
from tap_leadintent.replication.rounding import OVERLAP_SECONDS
from tap_leadintent.replication.source import Source, key_mark
from tap_leadintent.run_stream import RunStream
from tap_leadintent.singer.log import summarize
from tap_leadintent.state_warnings import run_warnings, stream_warnings
from tap_leadintent.times import format_instant, parse_instant, utc_timestamp

Record = dict[str, Any]

_MONTH = 30 * DAY


class LeadIntentStream(RunStream):
    """A stream that is read completely, or by the time ranges of its endpoint.

    The state of a stream says which intervals of each time range have been read and
    written. A run reads the intervals that the settings ask for and that are not in the
    state. It also reads an instant again when its age has about doubled, up to
    `lookback_days`.
    """

    TYPE_CONFORMANCE_LEVEL = TypeConformanceLevel.NONE  # `RecordShaper` does it once
    extra_column = openapi.ADDITIONAL_PROPERTIES
    how_to_leave_out = "name it in `exclude_fields`"

    schema: dict[str, Any]
    """The stream's schema, before a catalog changes it."""

    primary_keys: tuple[str, ...] = (openapi.RECORD_KEY,)
    """The key, before a catalog changes it."""

    computed_columns: tuple[openapi.ComputedColumn, ...] = ()
    """Columns that the stream makes itself."""

    time_fields: Mapping[str, Sequence[str]] = MappingProxyType({})
    """For the time ranges that a field of a record must lie in, the path of that field.
    """

    filtered_fields: Mapping[str, Sequence[str]] = MappingProxyType({})
    """For the filters that restrict a documented field, the path of that field."""

    ranges: tuple[str, ...] = ()
    """The time ranges of the endpoint, by which an incremental stream is read; the
    replication key is only a label. Runs with `end_date` read only the first range."""

    def __init__(self, tap: Tap, run_context: RunContext) -> None:
        """Create the stream for a run.

        Args:
            tap: The tap, with its settings and state.
            run_context: What the requests of all streams share.
        """
        super().__init__(tap, run_context)
        self.filters: dict[str, Any] = self.config["filters"].get(self.name, {})
        """The request fields that the setting `filters` holds for this stream."""
        self.exclusion = Exclusion(self.config["exclude_fields"].get(self.name, ()))
        """The fields that `exclude_fields` removes from each record."""
        self._holes = Holes()
        if self.exclusion:
            self.schema = self.exclusion.prune(self.schema)

    @cached_property
    def findings(self) -> Findings:
        """Collects what is worth a line."""
        known = self.stream_state.get(FIELDS, [])
        names = known if isinstance(known, list) else []
        return Findings(self.logger, {each for each in names if isinstance(each, str)})

    @cached_property
    def client(self) -> Client:
        """Sends the stream's requests."""
        config = self.config
        return Client(
            url=f"{config['base_url'].rstrip('/')}{openapi.PATHS[self.name]}",
            tags={Tag.STREAM: self.name, Tag.ENDPOINT: openapi.PATHS[self.name]},
            filters=self.filters,
            page_size=config["page_size"],
            timeout=config["request_timeout_seconds"],
            retries=config["max_retries"],
            run_context=self.run_context,
            logger=self.logger,
            stats=self.stats,
        )

    @override
    def apply_catalog(self, catalog: Catalog) -> None:
        entry = catalog.get_stream(self.name)
        if entry and self.exclusion:
            schema = self.exclusion.prune(entry.schema.to_dict())
            entry.schema = Schema.from_dict(schema)
        super().apply_catalog(catalog)

    @cached_property
    def plan_reader(self) -> PlanReader[Page]:
        """Reads the stream's pages."""
        # A request asks for the window and the overlap.
        seconds = int(self.config["window_days"] * DAY) - OVERLAP_SECONDS
        return PlanReader(
            api=Endpoint(self.client),
            readers=self.config["concurrency"],
            widest=max(1, seconds),
            caps=self.bookmark.caps,
            now=self.run_began,
        )

    @cached_property
    def _shaper(self) -> RecordShaper:
        return RecordShaper(
            columns=self.effective_schema["properties"],
            key_properties=self.primary_keys,
            computed_columns=self.computed_columns,
            mask=self.mask,
            findings=self.findings,
            unknown_fields=self._unknown_fields,
            exclusion=self.exclusion,
        )

    @override
    def shaper_for(self, columns: Record) -> Callable[[list[Record]], list[Record]]:
        mask = SelectionMask()
        return RecordShaper(
            columns=columns,
            mask=mask,
            findings=self.findings,
            unknown_fields=self._unknown_fields,
        ).shape

    @property
    def _unknown_fields(self) -> Finding:
        is_documented = self.name in openapi.PATHS and openapi.is_documented(self.name)
        return Finding.UNKNOWN_FIELDS if is_documented else Finding.UNTYPED_FIELDS

    @cached_property
    def _contradictions(self) -> Contradictions:
        return Contradictions(self.time_fields, self.filtered_fields, self.filters)

    @property
    def is_incremental(self) -> bool:
        """Whether the stream is read by time ranges, with a bookmark."""
        return self.replication_method == REPLICATION_INCREMENTAL and bool(self.ranges)

    @cached_property
    def bookmark(self) -> Bookmark:
        """What earlier runs have read of the stream; this run extends it."""
        source = Source.of(self.config, self.filters)
        state = self.stream_state if self.is_incremental else {}
        return Bookmark.read(state, source, self.config["page_size"])

    @property
    def newest_covered(self) -> str | None:
        """The newest covered instant of the stream's first range."""
        if not self.is_incremental:
            return None
        covered = self.bookmark.coverage.get(self.ranges[0])
        return format_instant(covered[-1][1]) if covered else None

    @override
    def begin_state(self) -> None:
        """Begin with an empty coverage if there is no state.

        In a full refresh, Meltano gives no state, but merges the new STATEs into the
        old one. The empty list in the first STATE replaces the old coverage. Otherwise
        that would survive a full refresh that is interrupted.
        """
        if self.is_incremental and not self.stream_state:
            self.stream_state[COVERAGE] = []

    @override
    def get_records(self, context: Context | None) -> Iterable[Record]:
        for name in self.filters.keys() - openapi.request_fields(self.name).keys():
            text = "The filter %s is sent, though the API description does not show it"
            self.logger.warning(text, name)
        if self.replication_method == REPLICATION_INCREMENTAL and not self.ranges:
            self.logger.warning(
                "Read as FULL_TABLE: the API has no time range for this stream, so it "
                "cannot be INCREMENTAL"
            )
        is_first = not self.newest_covered
        try:
            yield from self._read_steps()
            if is_first and self.filters and not self.stats.records:
                self.logger.warning(
                    "Check filters.%s, as no record matches: %s",
                    self.name,
                    summarize(json.dumps(self.filters)),
                )
            self._holes.raise_if_any(parse_instant(self.config["start_date"]))
            self._shaper.raise_for_left_out()
        finally:
            with http_request_counter(self.name, openapi.PATHS[self.name]) as counter:
                counter.increment(self.stats.requests)
            if self.plan_reader.capped:
                names = [counted(self.plan_reader.capped, "record")]
                self.findings.note(Finding.CAPPED, names)
            self.findings.log()

    def _read_steps(self) -> Iterator[Record]:
        """Read what the run has to read of the stream, step by step."""
        duplicates = Duplicates(self.primary_keys, self.computed_columns, self.findings)
        steps = self._plan()
        for number, step in enumerate(steps, start=1):
            progress = self._begin_step(step, f"{number} of {len(steps)}")
            brought = 0
            with closing(self._pages(step)) as pages:
                for page in pages:
                    if page.page:
                        brought += page.page.records
                        yield from self._shape(page, duplicates)
                        # The next page may take long; the target need not wait for it.
                        self.flush()
                        self.stats.log_progress(self.logger, self.name)
                    else:
                        self._holes.add(page)
                    if page.is_last:
                        self._note_total(page, brought)
                        brought = 0
                        progress.note_read(page.window)
                        self.logger.debug("%s", progress)
                        self._commit(page)
        if self.is_incremental:
            self.checkpoint()

    def _begin_step(self, step: Step, number: str) -> StepProgress:
        first, _ = step.intervals[0]
        seconds = sum(end - start for start, end in step.intervals)
        stats = self.stats
        current = StepProgress(step.range_name, number, seconds, first, stats.fields())
        stats.passes.append(current)
        return current

    def _plan(self) -> list[Step]:
        """Plan the run, and write a STATE of what counts as covered from now on."""
        if not self.is_incremental:
            return [Step(range_name="", intervals=[(0, self.run_began)])]
        bookmark = self.bookmark
        mark = key_mark(self.config["api_key"])
        for text in run_warnings(bookmark, mark):
            self.run_context.warn_once(text)
        for text in stream_warnings(bookmark, self.run_began):
            self.logger.warning("%s", text)
        bookmark.key_mark = mark
        plan = make_plan(
            scope_of(self.config, self.ranges),
            bookmark.coverage,
            self.run_began,
            holes=bookmark.holes,
            settled=bookmark.settled,
        )
        bookmark.coverage = plan.coverage
        self.write_state()
        return plan.steps

    def _pages(self, step: Step) -> Generator[StepPage[Page]]:
        """Read a step, and say what to do if it cannot be read at all."""
        has_read = False
        try:
            for page in self.plan_reader.read(step):
                has_read = has_read or page.page is not None
                yield page
        except NoThreadError:
            raise StreamError(
                "lower concurrency, or raise the limit: the operating system allows no "
                "thread"
            ) from None
        except IgnoredRangeError as error:
            raise StreamError(
                "load the stream completely in each run: "
                f"{replication_command(self.name, 'FULL_TABLE')}; the API returns "
                f"records of {error} for times that cannot have any, so it ignores the "
                "range"
            ) from None
        except StreamError as error:
            if has_read or self.newest_covered or not error.may_be_range:
                raise
            hint = KEPT
            if not self.is_incremental:
                hint = replication_command(self.name, REPLICATION_INCREMENTAL)
                hint = f"if it demands a time range: {hint}"
            if self.ranges:
                raise replace(error, message=f"{error.message}; {hint}") from None
            raise

    def _shape(self, page: StepPage[Page], duplicates: Duplicates) -> Iterator[Record]:
        """Shape the records of a page, and note what it says about the API."""
        if page.page is None:
            return
        records = page.page.decode()
        if records.is_repaired:
            self.findings.note(Finding.REPAIRED)
        self.findings.note(Finding.ENVELOPE, records.other_fields)
        start, end = page.window
        asked = (start - OVERLAP_SECONDS, end)
        name = page.step.range_name
        # Before repeated records are left out, or nothing may be left to compare.
        self._contradictions.check(records.data, name, asked, self.findings)
        if self.is_incremental:
            records = duplicates.leave_out(records)
        else:
            duplicates.check(records)
        window_end = utc_timestamp(format_instant(end)) if name else None
        rows = self._shaper.shape(records.data, window_end)
        yield from rows
        self.stats.records += len(rows)

    def _note_total(self, last: StepPage[Page], brought: int) -> None:
        """Note that a query has fewer records than the API says, if that is so."""
        total = last.page.total if last.page else None
        if total is not None and total > brought:
            text = f"a query has brought {counted(brought, 'record')} of {total:,}"
            self.findings.note(Finding.TOTAL, [text])

    def _commit(self, page: StepPage[Page]) -> None:
        """Cover a window, as all of its rows have been written, or note a hole."""
        step, bookmark = page.step, self.bookmark
        if not step.range_name:
            return
        if page.page is None:
            bookmark.leave(step.range_name, page.window)
        else:
            now = self.run_context.clock.complete_to(self.run_began)
            bookmark.cover(
                step.range_name,
                page.window,
                until=now,
                settled_to=now - int(self.config["lookback_days"] * DAY),
                drops_later=step.read_again_to is not None,
            )
        self.checkpoint()

    @override
    def current_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {}
        if self.is_incremental:
            state[COVERAGE] = self.bookmark.to_state()
        # They are worth a line once, and not in each run.
        if fields := self.findings.fields:
            state[FIELDS] = fields
        return state

    def sample(self) -> Records:
        """Read one page of the stream, without a time range if the API allows that.

        Returns:
            Its records.

        Raises:
            StreamError: The page cannot be read.
            SystemExit: A signal came.
        """
        try:
            return self._first_page({})
        except StreamError as error:
            if not (self.ranges and error.may_be_range and error.may_be_split):
                raise
        # The API may demand a time range.
        month = (self.run_began - _MONTH, self.run_began)
        return self._first_page(range_fields(self.ranges[0], month))

    def _first_page(self, fields: Record) -> Records:
        api = Endpoint(self.client, fields, only_first=True)
        step = Step(range_name="", intervals=[(0, self.run_began)])
        with closing(replace(self.plan_reader, api=api).read(step)) as pages:
            page = next(pages).page
        return page.decode() if page else Records([], [])

    def check(self) -> None:
        """Read a page, map its first record, and log "ok", for `--test`.

        Raises:
            StreamError: The page cannot be read.
            SystemExit: A signal came.
        """
        rows = self._shaper.shape(self.sample().data)
        for row in rows[:1]:
            self.messages_for(row)
        self._shaper.raise_for_left_out()
        self.logger.info("ok")
