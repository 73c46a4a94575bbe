"""The streams' base class: what a stream is, and what the SDK calls."""

import json
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import cached_property
from types import MappingProxyType
from typing import Any

import requests
from singer_sdk import Tap
from singer_sdk.helpers.conform import TypeConformanceLevel
from singer_sdk.helpers.types import Context
from singer_sdk.metrics import Tag, http_request_counter
from singer_sdk.singerlib import Catalog, SelectionMask
from singer_sdk.singerlib.catalog import REPLICATION_INCREMENTAL
from singer_sdk.singerlib.schema import Schema
from typing_extensions import override

from tap_leadintent import openapi
from tap_leadintent.api.endpoint import Endpoint
from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page
from tap_leadintent.api.retries import Retries
from tap_leadintent.api.run_context import RunContext
from tap_leadintent.api.siblings import Siblings
from tap_leadintent.config.scope import scope_of
from tap_leadintent.config.settings import Settings
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import Record
from tap_leadintent.progress import PassProgress
from tap_leadintent.records.contradictions import Contradictions
from tap_leadintent.records.duplicates import Duplicates
from tap_leadintent.records.exclusion import Exclusion
from tap_leadintent.records.pages import PageShaper
from tap_leadintent.records.shaper import RecordShaper, describe_left_out
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.protocol import OVERLAP_SECONDS
from tap_leadintent.replication.reader import read_list
from tap_leadintent.replication.run import ReplicationRun
from tap_leadintent.singer.log import summarize
from tap_leadintent.streams.base import RunStream
from tap_leadintent.streams.holes import TOO_OLD, describe_holes
from tap_leadintent.streams.state import (
    COVERAGE,
    ENVELOPE,
    LIST,
    NOT_REACHED,
    REMEMBERED,
    read_bookmark,
)
from tap_leadintent.streams.state_checks import check_state, describe_move
from tap_leadintent.times import format_instant
from tap_leadintent.words import counted

_MANY_RECORDS = 100
"""If this many records lack an excluded field, its name is likely misspelled."""


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

    time_column: str = ""
    """The column of that time."""

    filtered_fields: Mapping[str, Sequence[str]] = MappingProxyType({})
    """For the filters that restrict a documented field, the path of that field."""

    ranges: tuple[str, ...] = ()
    """The time ranges of the endpoint, by which an incremental stream is read; the
    replication key is only a label. Runs with `end_date` read only the first range."""

    def __init__(
        self,
        tap: Tap,
        run_context: RunContext,
        settings: Settings,
    ) -> None:
        """Create the stream for a run.

        Args:
            tap: The tap, with its catalog and state.
            run_context: What the requests of all streams share.
            settings: The settings.
        """
        super().__init__(tap, run_context)
        self.settings = settings
        """The settings."""
        self.filters = settings.filters.get(self.name, {})
        """The request fields that the setting `filters` holds for this stream."""
        excluded = settings.exclude_fields.get(self.name, ())
        self.exclusion = Exclusion(excluded)
        """The fields that `exclude_fields` removes from each record."""
        if self.exclusion:
            self.schema = self.exclusion.prune(self.schema)
        self._runs_not_reached = 0
        self.has_read_all = False
        """Whether the run has requested everything that it had to read. The stream may
        still fail because of a hole, or of records without a key."""

    @override
    def apply_catalog(self, catalog: Catalog) -> None:
        entry = catalog.get_stream(self.name)
        if entry and self.exclusion:
            schema = entry.schema.to_dict()
            pruned = self.exclusion.prune(schema)
            entry.schema = Schema.from_dict(pruned)
        super().apply_catalog(catalog)

    @property
    def runs_not_reached(self) -> int:
        """How many runs in a row have ended before they could read the stream."""
        runs = self.stream_state.get(NOT_REACHED)
        if not isinstance(runs, int):
            return 0
        return runs

    def note_not_reached(self) -> None:
        """Let the next run read the stream earlier, as this one cannot read it."""
        runs = max(self._runs_not_reached, self.runs_not_reached)
        self.stream_state[NOT_REACHED] = runs + 1

    @property
    def is_incremental(self) -> bool:
        """Whether the stream is read by time ranges, with a bookmark."""
        return self.replication_method == REPLICATION_INCREMENTAL and bool(self.ranges)

    @cached_property
    def client(self) -> Client:
        """Sends the stream's requests."""
        settings = self.settings
        base_url = settings.base_url.rstrip("/")
        path = openapi.PATHS[self.name]
        known_pages = self.stream_state.get(ENVELOPE)
        return Client(
            url=f"{base_url}{path}",
            tags={
                Tag.STREAM: self.name,
                Tag.ENDPOINT: path,
            },
            filters=self.filters,
            page_size=settings.page_size,
            timeout=settings.request_timeout,
            retries=Retries(
                most=settings.max_retries,
                run_context=self.run_context,
                logger=self.logger,
            ),
            run_context=self.run_context,
            logger=self.logger,
            stats=self.stats,
            siblings=Siblings.read(known_pages),
        )

    @cached_property
    def bookmark(self) -> Bookmark:
        """What has been read of the stream; the run extends it."""
        state = self.stream_state if self.is_incremental else {}
        return read_bookmark(state, self.settings.page_size)

    @cached_property
    def replication(self) -> ReplicationRun[Page]:
        """Reads the time ranges of the stream, and keeps its bookmark."""
        return ReplicationRun(
            api=Endpoint(self.client),
            bookmark=self.bookmark,
            scope=scope_of(self.settings, self.ranges),
            now=self.run_began,
            complete_to=self.complete_to,
            save=self.write_state,
            readers=self.settings.concurrency,
            at_once=self.run_context.traffic.at_once,
            # A request asks for the window and the overlap.
            widest=max(1, self.settings.window - OVERLAP_SECONDS),
            may_be_too_new=_may_be_too_new,
            has_strays=self._has_strays,
            budget=self.run_context.traffic.budget,
        )

    def _has_strays(self, range_name: str) -> bool:
        """Return whether a record lies far outside what was requested of a range."""
        return range_name in self._page_shaper.contradictions.far_outside

    @override
    def may_delete_others(self, records: int) -> bool:
        last = self.stream_state.get(LIST)
        self.stream_state[LIST] = records
        is_short = isinstance(last, int) and 2 * records < last
        if is_short:
            self.logger.warning(
                "Check whether records are missing: the list has %s, and the last one "
                "had %s. No ACTIVATE_VERSION is sent, so the loader deletes no rows; "
                "the next run sends it, unless its list is much shorter again",
                counted(records, "record"),
                f"{last:,}",
            )
        return not is_short

    @property
    @override
    def newest_covered(self) -> str | None:
        if not self.ranges:
            return None
        first = self.ranges[0]
        covered = self.bookmark.coverage.get(first)
        if not covered:
            return None
        _, end = covered[-1]
        return format_instant(end)

    @cached_property
    def findings(self) -> Findings:
        """Collects what to log about the stream at its end."""
        known = self.stream_state.get(REMEMBERED)
        if not isinstance(known, list):
            known = []
        return Findings(
            self.logger,
            is_documented=openapi.is_documented(self.name),
            known=list(map(str, known)),
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
            state[COVERAGE] = self.bookmark.to_state()
        names = self.findings.remembered_names
        if names:
            state[REMEMBERED] = names
        envelope = self.client.siblings.to_state()
        if envelope:
            state[ENVELOPE] = envelope
        return state

    @override
    def get_records(self, context: Context | None) -> Iterable[Record]:
        self._warn_of_settings()
        self._runs_not_reached = self.runs_not_reached
        if self._runs_not_reached:
            # A loader may merge states, so a key that is missing would stay.
            self.stream_state[NOT_REACHED] = 0
        is_first_load = self.bookmark.is_empty
        if self.settings.load_receipts:
            self.count_rows(self.time_column)
        try:
            with closing(self._pages()) as pages:
                for page, range_name, interval in pages:
                    rows = self._page_shaper.rows(page, range_name, interval)
                    yield from rows
                    self.stats.records += len(rows)
                    # The next page may take long; the target need not wait for it.
                    self.flush()
                    self.stats.log_progress(self.logger, self.name)
            self._note_unused_settings(is_first_load=is_first_load)
            self._raise_for_missing()
        finally:
            self._log_findings()

    def _pages(self) -> Generator[tuple[Page, str, Interval]]:
        """Read what the run has to read.

        Yields:
            Each page, oldest window first, with the time range and the interval that
            were requested. When the next one is asked for, the rows of this one must
            have been emitted.

        Raises:
            StreamError: The stream cannot be read.
            IgnoredRangeError: The API ignores a time range.
            NoThreadError: The system allows no further thread.
            SystemExit: A signal came.
        """
        if not self.is_incremental:
            yield from self._pages_of_list()
            self.has_read_all = True
            return
        check_state(
            self.name,
            self.bookmark,
            self.settings,
            self.run_began,
            self.logger,
        )
        self.replication.begin()
        names = self.replication.scope.ranges_to_read
        with closing(self.replication.passes()) as passes:
            for name in passes:
                number = f"{names.index(name) + 1} of {len(names)}"
                progress = self._begin_pass(name, number)
                yield from self._pages_of(name, progress)
        self.has_read_all = True
        self.checkpoint()

    def _pages_of_list(self) -> Generator[tuple[Page, str, Interval]]:
        """Read all records; see `_pages`."""
        self._begin_pass("", "1 of 1")
        endpoint = Endpoint(self.client)
        with closing(read_list(endpoint, self.bookmark.caps)) as pages:
            for page in pages:
                yield page, "", (0, self.run_began)

    def _pages_of(
        self,
        range_name: str,
        progress: PassProgress,
    ) -> Generator[tuple[Page, str, Interval]]:
        """Read one time range; see `_pages`."""
        has_read = False
        try:
            with closing(self.replication.read(range_name)) as items:
                for item in items:
                    start, end = item.window
                    if item.page:
                        has_read = True
                        # What was requested, see `range_fields`.
                        interval = (start - OVERLAP_SECONDS, end)
                        yield item.page, range_name, interval
                    if item.is_last:
                        self.replication.commit(range_name, item)
                        progress.read_to = end
                        self.logger.debug("%s", progress)
                        self._save_window()
        except StreamError as error:
            if has_read:
                raise
            raise self._with_hint(error) from None

    def _save_window(self) -> None:
        """Write a STATE after a window if one is due, or if the run may be ended soon.

        Where runs have been killed again and again, a STATE that waits for more windows
        might never come.
        """
        if self.replication.has_short_windows:
            self.write_state()
        else:
            self.checkpoint()

    def _begin_pass(self, range_name: str, number: str) -> PassProgress:
        progress = PassProgress(
            range_name,
            number,
            self.settings.start,
            self.stats.fields(),
        )
        self.stats.passes.append(progress)
        return progress

    @property
    def place_problem(self) -> str:
        """Why the state belongs to another address, environment or schema; else empty.

        Other filters are about this stream alone, so the other streams can be read.
        """
        return describe_move(self.name, self.bookmark, self.settings)

    def _with_hint(self, error: StreamError) -> StreamError:
        """Add to the error of a first page what to do if the API refuses the range."""
        is_refused = Action.CHANGE_RANGE in error.actions
        if not self.bookmark.is_empty or not is_refused:
            return error
        # Where access is refused, that is less likely the reason.
        if Action.LEAVE_STREAM in error.actions:
            return error.changed(detail=f"{error.detail}; {TOO_OLD}")
        return error.changed(message=f"{error.message}; {TOO_OLD}")

    def _note_unused_settings(self, *, is_first_load: bool) -> None:
        """Note which settings look misspelled, because no record matches them."""
        if is_first_load and self.filters and not self.stats.records:
            self.logger.warning(
                "Check filters.%s, as no record matches: %s",
                self.name,
                summarize(json.dumps(self.filters)),
            )
        enough = 1 if is_first_load else _MANY_RECORDS
        if self.stats.records >= enough:
            # A misspelled name would let through what it was to keep out.
            self.findings.note(Finding.NOT_EXCLUDED, self.exclusion.unused)

    def _log_findings(self) -> None:
        with http_request_counter(self.name, openapi.PATHS[self.name]) as counter:
            counter.increment(self.stats.requests)
        uncut = self.bookmark.caps.uncut
        if uncut:
            finding = Finding.CAPPED if self.is_incremental else Finding.CAPPED_LIST
            self.findings.note(finding, [counted(uncut, "record")])
        if self.stats.records:
            self.findings.note(Finding.ABSENT_FIELDS, self._page_shaper.shaper.absent)
        newest = self.unreadable_from
        if newest is not None:
            self.findings.note(Finding.UNREADABLE, [newest])
        self.findings.note(Finding.ODD_PAGES, self.client.siblings.odd_names)
        if self.client.empty_pages.were_many:
            self.findings.note(Finding.EMPTY_PAGES)
        if self.client.empty_pages.repeated_cursor:
            self.findings.note(Finding.REPEATED_CURSOR)
        self.findings.log()

    @property
    def unreadable_from(self) -> str | None:
        """The start of the newest minutes, if the API could not return them yet."""
        if not self.is_incremental:
            return None
        instant = self.replication.unreadable_from
        if instant is None:
            return None
        return format_instant(instant)

    def _warn_of_settings(self) -> None:
        documented = openapi.request_fields(self.name)
        for name in self.filters.keys() - documented.keys():
            self.logger.warning(
                "The filter %s is sent, though the API description does not show it",
                name,
            )
        if self.replication_method == REPLICATION_INCREMENTAL and not self.ranges:
            self.logger.warning(
                "Unset its replication-method INCREMENTAL: the API has no time range "
                "for this stream, so it is read as FULL_TABLE"
            )

    @cached_property
    def _page_shaper(self) -> PageShaper:
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
                self.primary_keys,
                self.computed_columns,
                self.findings,
            ),
            contradictions=Contradictions(
                self.time_fields,
                self.filtered_fields,
                self.filters,
            ),
            findings=self.findings,
            leaves_out_repeated=self.is_incremental,
        )

    @override
    def shaper_for(self, columns: Record) -> Callable[[list[Record]], list[Record]]:
        shaper = RecordShaper(
            columns=columns,
            mask=SelectionMask(),
            findings=self.findings,
        )
        return shaper.shape

    def _raise_for_missing(self) -> None:
        """Say what is missing, after everything else has been written.

        Raises:
            StreamError: Records have no key, or windows could not be read.
        """
        left_out = describe_left_out(self.findings, self._page_shaper.left_out)
        problems = list(left_out)
        if self.is_incremental and self.replication.holes:
            holes = describe_holes(self.replication.holes, self.settings.start)
            problems.append(holes)
        if problems:
            raise StreamError("; ".join(problems))

    def check(self) -> None:
        """Read a page, map its first record, and log "ok", for `--test`.

        Raises:
            StreamError: The page cannot be read.
            SystemExit: A signal came.
        """
        # Another thread sends the request, so that a signal need not wait for it.
        api = Endpoint(self.client, only_first=True)
        with closing(read_list(api, self.bookmark.caps)) as pages:
            page = next(pages)
        rows = self._page_shaper.rows(page, "", (0, self.run_began))
        for row in rows[:1]:
            self.messages_for(row)
        self._raise_for_missing()
        self.logger.info("ok")


def _may_be_too_new(error: BaseException | None) -> bool:
    """Return whether a later run may read what failed: missing access would stay."""
    if not isinstance(error, StreamError):
        return False
    refused = {requests.codes.unauthorized, requests.codes.forbidden}
    return error.status not in refused
