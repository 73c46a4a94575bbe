"""The streams' base class: puts client, plan, reader and shaper together.

The file is named as in the SDK's template; the client itself is in `api/http.py`.
"""

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
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
from tap_leadintent.api.page import Records
from tap_leadintent.errors import StreamError, replication_command
from tap_leadintent.older import MONTH, with_older
from tap_leadintent.progress import StreamStats
from tap_leadintent.records.contradictions import Contradictions
from tap_leadintent.records.duplicates import Duplicates
from tap_leadintent.records.exclusion import Exclusion
from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.records.shaper import RecordShaper
from tap_leadintent.replication.bookmark import COVERAGE, Bookmark
from tap_leadintent.replication.incomplete import Incomplete
from tap_leadintent.replication.plan import (
    BEGINNING,
    Plan,
    Scope,
    Step,
    make_plan,
)
from tap_leadintent.replication.plan_reader import PlanReader, WindowPage
from tap_leadintent.replication.ranges import range_fields
from tap_leadintent.replication.source import Source, key_mark
from tap_leadintent.replication.windows import OVERLAP_SECONDS
from tap_leadintent.singer.log import summarize
from tap_leadintent.singer.stream import SingerStream
from tap_leadintent.times import format_instant

Record = dict[str, Any]

_REPAIRED = (
    "A record contained what no warehouse can store: U+0000 or a lone surrogate became "
    "U+FFFD, NaN or an infinity null, and a number beyond 1e308 its text"
)


class LeadIntentStream(SingerStream):
    """A stream that is read completely, or by the time ranges of its endpoint.

    The state of a stream says which intervals of each time range have been read and
    written. A run reads the intervals that the settings ask for and that are not in the
    state. It also reads the last `lookback_minutes` before the newest covered instant
    again.
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
        super().__init__(tap)
        self.run_context = run_context
        """What the requests of all streams share."""
        self.stats = StreamStats(monotonic=run_context.limits.monotonic)
        """Counts the records and requests of the stream."""
        # The SDK gives milliseconds.
        self.run_began = tap.initialized_at // 1000
        """When the run began, in UTC seconds since 1970."""
        self.notes = RecordNotes(self.logger)
        """Collects what to log about the records."""
        self.filters: dict[str, Any] = self.config["filters"].get(self.name, {})
        """The request fields that the setting `filters` holds for this stream."""
        self.exclusion = Exclusion(self.config["exclude_fields"].get(self.name, ()))
        """The fields that `exclude_fields` removes from each record."""
        if self.exclusion:
            self.schema = self.exclusion.prune(self.schema)

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
    def plan_reader(self) -> PlanReader:
        """Reads the stream's pages."""
        # A request asks for the window and the overlap.
        seconds = int(self.config["window_days"] * 86_400) - OVERLAP_SECONDS
        return PlanReader(
            stream=self.name,
            client=self.client,
            concurrency=self.config["concurrency"],
            widest=max(1, seconds),
            incomplete=Incomplete(self.logger),
        )

    @cached_property
    def _shaper(self) -> RecordShaper:
        return RecordShaper(
            columns=self.effective_schema["properties"],
            key_properties=self.primary_keys,
            computed_columns=self.computed_columns,
            mask=self.mask,
            notes=self.notes,
            exclusion=self.exclusion,
        )

    @override
    def shaper_for(self, columns: Record) -> Callable[[list[Record]], list[Record]]:
        mask = SelectionMask()
        return RecordShaper(columns=columns, mask=mask, notes=self.notes).shape

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
        return Bookmark.read(self.stream_state, source)

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
            with closing(self._pages()) as pages:
                for page in pages:
                    rows = self._shape(page)
                    yield from rows
                    self.stats.records += len(rows)
                    # The next page may take long, and the target need not wait for it.
                    self.flush()
                    self.stats.log_progress(self.logger, self.name)
                    if page.is_last:
                        self._commit(page)
            if is_first and self.filters and not self.stats.records:
                self.logger.warning(
                    "Check filters.%s, as no record matches: %s",
                    self.name,
                    summarize(json.dumps(self.filters)),
                )
            self.plan_reader.incomplete.raise_for_holes()
            self._shaper.raise_for_left_out()
        finally:
            with http_request_counter(self.name, openapi.PATHS[self.name]) as counter:
                counter.increment(self.stats.requests)
            self.notes.log(documented=openapi.is_documented(self.name))

    def _pages(self) -> Generator[WindowPage]:
        """Read what the run has to read of the stream, page by page."""
        reader = self.plan_reader
        duplicates = Duplicates(self.primary_keys, self.computed_columns, self.notes)
        if not self.is_incremental:
            hint = replication_command(self.name, REPLICATION_INCREMENTAL)
            hint = f"if it demands a time range: {hint}" if self.ranges else ""
            everything = Step("", [(BEGINNING, self.run_began)], hint=hint)
            for page in reader.read([everything]):
                duplicates.check(page.records)
                yield page
            return
        mark = key_mark(self.config["api_key"])
        for text in self.bookmark.warnings(mark, self.run_began):
            self.logger.warning("%s", text)
        plan = self._plan()
        match plan.steps:
            case [Step(name="") as everything]:
                pages = with_older(
                    reader, everything, duplicates, self.notes, self.time_fields
                )
            case _:
                pages = reader.read(plan.steps)
        for page in pages:
            self.bookmark.key_mark = mark
            yield page._replace(records=duplicates.leave_out(page.records))
        if reader.incomplete.has_rechecked:
            self.bookmark.rechecked = plan.rechecked_after
        self.checkpoint()

    def _plan(self) -> Plan:
        """Plan the run, and write a STATE of what counts as covered from now on."""
        bookmark, scope = self.bookmark, Scope.of(self.config, self.ranges)
        plan = make_plan(scope, bookmark.coverage, bookmark.rechecked, self.run_began)
        bookmark.coverage, bookmark.rechecked = plan.coverage, plan.rechecked_before
        self.write_state()
        return plan

    def _shape(self, page: WindowPage) -> list[Record]:
        """Shape the records of a page, and note what it says about the API."""
        records, (start, end) = page.records, page.window
        if records.is_repaired:
            self.notes.warn_once(_REPAIRED)
        if records.other_fields:
            self.notes.note_envelope(records.other_fields)
        asked = (start - OVERLAP_SECONDS, end)
        self._contradictions.check(records.data, page.step.name, asked, self.notes)
        return self._shaper.shape(records.data, page.window_end)

    def _commit(self, page: WindowPage) -> None:
        """Cover a window, as all of its rows have been written."""
        if page.step.covers:
            self.bookmark.cover(
                page.step.covers,
                page.window,
                until=self.run_context.clock.earliest,
                left_out=page.left_out,
                drops_later=page.step.drops_later,
            )
            self.checkpoint()

    @override
    def current_state(self) -> dict[str, Any]:
        return {COVERAGE: self.bookmark.to_state()} if self.is_incremental else {}

    def sample(self) -> Records:
        """Read a page of the stream.

        Raises:
            StreamError: The page cannot be read.
            SystemExit: A signal came.
        """
        try:
            return self.plan_reader.first_page()
        except StreamError as error:
            if not (self.ranges and error.may_be_range and error.may_be_split):
                raise
        # The API may demand a time range.
        month = (self.run_began - MONTH, self.run_began)
        return self.plan_reader.first_page(range_fields(self.ranges[0], *month))

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
