"""The streams' base class: what a stream is, and what the SDK calls."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from tap_leadintent.api.http import Client
from tap_leadintent.api.run_context import RunContext
from tap_leadintent.errors import StreamError
from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import Record
from tap_leadintent.reading import Reading
from tap_leadintent.records.contradictions import Contradictions
from tap_leadintent.records.duplicates import Duplicates
from tap_leadintent.records.exclusion import Exclusion
from tap_leadintent.records.pages import PageShaper
from tap_leadintent.records.shaper import RecordShaper, describe_left_out
from tap_leadintent.replication.bookmark import COVERAGE, FIELDS, Bookmark
from tap_leadintent.replication.source import Source
from tap_leadintent.run_stream import RunStream
from tap_leadintent.singer.log import summarize
from tap_leadintent.times import format_instant, parse_instant
from tap_leadintent.words import counted

_MANY_RECORDS = 100
"""If no record of so many has an excluded field, its name is likely misspelled."""


class LeadIntentStream(RunStream):
    """A stream that is read completely, or by the time ranges of its endpoint.

    The state of a stream says which intervals of each time range have been read and
    written. A run reads the intervals that the settings ask for and that are not in the
    state. It also reads an instant again when its age has about doubled, up to
    `lookback_days`.
    """

    TYPE_CONFORMANCE_LEVEL = TypeConformanceLevel.NONE  # `RecordShaper` does it once
    extra_column = openapi.ADDITIONAL_PROPERTIES

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
        if self.exclusion:
            self.schema = self.exclusion.prune(self.schema)

    @override
    def apply_catalog(self, catalog: Catalog) -> None:
        entry = catalog.get_stream(self.name)
        if entry and self.exclusion:
            schema = self.exclusion.prune(entry.schema.to_dict())
            entry.schema = Schema.from_dict(schema)
        super().apply_catalog(catalog)

    @property
    def is_incremental(self) -> bool:
        """Whether the stream is read by time ranges, with a bookmark."""
        return self.replication_method == REPLICATION_INCREMENTAL and bool(self.ranges)

    @cached_property
    def client(self) -> Client:
        """Sends the stream's requests."""
        config, path = self.config, openapi.PATHS[self.name]
        return Client(
            url=f"{config['base_url'].rstrip('/')}{path}",
            tags={Tag.STREAM: self.name, Tag.ENDPOINT: path},
            filters=self.filters,
            page_size=config["page_size"],
            timeout=config["request_timeout_seconds"],
            retries=config["max_retries"],
            run_context=self.run_context,
            logger=self.logger,
            stats=self.stats,
        )

    @cached_property
    def reading(self) -> Reading:
        """Reads the stream's pages, and keeps its bookmark."""
        state = self.stream_state if self.is_incremental else {}
        source = Source.of(self.config, self.filters)
        return Reading(
            stream=self,
            client=self.client,
            bookmark=Bookmark.read(state, source, self.config["page_size"]),
            ranges=self.ranges if self.is_incremental else (),
        )

    @property
    @override
    def newest_covered(self) -> str | None:
        first = next(iter(self.ranges), "")
        covered = self.reading.bookmark.coverage.get(first)
        return format_instant(covered[-1][1]) if covered else None

    @cached_property
    def findings(self) -> Findings:
        """Collects what is worth a line."""
        known = self.stream_state.get(FIELDS)
        return Findings(
            self.logger,
            is_documented=openapi.is_documented(self.name),
            known=[*map(str, known if isinstance(known, list) else ())],
        )

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
    def current_state(self) -> dict[str, Any]:
        state: dict[str, Any] = {}
        if self.is_incremental:
            state[COVERAGE] = self.reading.bookmark.to_state()
        if named := self.findings.named_once:
            state[FIELDS] = named
        return state

    @override
    def get_records(self, context: Context | None) -> Iterable[Record]:
        self._warn_of_settings()
        is_first = not self.newest_covered
        try:
            with closing(self.reading.pages()) as pages:
                for page in pages:
                    rows = self._shaper.rows(*page)
                    yield from rows
                    self.stats.records += len(rows)
                    # The next page may take long; the target need not wait for it.
                    self.flush()
                    self.stats.log_progress(self.logger, self.name)
            if is_first and self.filters and not self.stats.records:
                self.logger.warning(
                    "Check filters.%s, as no record matches: %s",
                    self.name,
                    summarize(json.dumps(self.filters)),
                )
            if self.stats.records >= (1 if is_first else _MANY_RECORDS):
                # A misspelled name would let through what it was to keep out.
                self.findings.note(Finding.NOT_EXCLUDED, self.exclusion.unused)
            self._raise_for_missing()
        finally:
            with http_request_counter(self.name, openapi.PATHS[self.name]) as counter:
                counter.increment(self.stats.requests)
            if short_query := self.reading.short_query:
                self.findings.note(Finding.TOTAL, [short_query])
            if capped := self.reading.bookmark.caps.capped:
                self.findings.note(Finding.CAPPED, [counted(capped, "record")])
            if self.stats.records:
                self.findings.note(Finding.ABSENT_FIELDS, self._shaper.shaper.absent)
            self.findings.log()

    def _warn_of_settings(self) -> None:
        for name in self.filters.keys() - openapi.request_fields(self.name).keys():
            text = "The filter %s is sent, though the API description does not show it"
            self.logger.warning(text, name)
        if self.replication_method == REPLICATION_INCREMENTAL and not self.ranges:
            self.logger.warning(
                "Unset its replication-method INCREMENTAL: the API has no time range "
                "for this stream, so it is read as FULL_TABLE"
            )

    @cached_property
    def _shaper(self) -> PageShaper:
        shaper = RecordShaper(
            columns=self.effective_schema["properties"],
            key_properties=self.primary_keys,
            computed_columns=self.computed_columns,
            mask=self.mask,
            findings=self.findings,
            exclusion=self.exclusion,
        )
        return PageShaper(
            shaper=shaper,
            duplicates=Duplicates(
                self.primary_keys, self.computed_columns, self.findings
            ),
            contradictions=Contradictions(
                self.time_fields, self.filtered_fields, self.filters
            ),
            findings=self.findings,
            leaves_out_repeated=self.is_incremental,
        )

    @override
    def shaper_for(self, columns: Record) -> Callable[[list[Record]], list[Record]]:
        mask, findings = SelectionMask(), self.findings
        return RecordShaper(columns=columns, mask=mask, findings=findings).shape

    def _raise_for_missing(self) -> None:
        """Say what is missing, after everything else has been written.

        Raises:
            StreamError: Records have no key, or windows could not be read.
        """
        start = parse_instant(self.config["start_date"])
        left_out = describe_left_out(self.findings, self._shaper.without_key)
        problems = [*left_out, *self.reading.holes.describe(start)]
        if problems:
            raise StreamError("; ".join(problems))

    def check(self) -> None:
        """Read a page, map its first record, and log "ok", for `--test`.

        Raises:
            StreamError: The page cannot be read.
            SystemExit: A signal came.
        """
        page = self.reading.first_page()
        rows = self._shaper.rows(page, "", (0, self.run_began)) if page else []
        for row in rows[:1]:
            self.messages_for(row)
        self._raise_for_missing()
        self.logger.info("ok")
