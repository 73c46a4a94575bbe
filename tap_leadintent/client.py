"""What a run reads of a stream, in which order, and what its bookmark then says."""

from __future__ import annotations

import logging
import sys
from contextlib import closing
from functools import cached_property
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import requests
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.exceptions import SingerSDKError
from singer_sdk.helpers.conform import TypeConformanceLevel
from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL
from singer_sdk.singerlib.schema import Schema
from singer_sdk.streams.rest import PageContext

from tap_leadintent.api.endpoint import Endpoint
from tap_leadintent.api.pagination import CursorPaginator
from tap_leadintent.api.retry import Sender, Tally
from tap_leadintent.config.validation import undocumented_filters
from tap_leadintent.errors import ConfigError, RefusedError, StreamError
from tap_leadintent.openapi import is_documented
from tap_leadintent.progress import Progress, counted
from tap_leadintent.records.exclusion import Exclusion, key_problems
from tap_leadintent.records.inference import infer
from tap_leadintent.records.keys import own_id
from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.records.shaper import RecordShaper
from tap_leadintent.redaction import Secret
from tap_leadintent.replication.bookmark import COVERAGE, Bookmark
from tap_leadintent.replication.overlap import Repeats
from tap_leadintent.replication.plan import SINCE_EVER, Asked, Plan
from tap_leadintent.replication.range_guard import RangeGuard
from tap_leadintent.replication.range_requests import RangeRequests
from tap_leadintent.replication.reader import Reader
from tap_leadintent.replication.source import (
    Source,
    filters_hash,
    key_mark,
    normalised,
)
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.singer.stream import SingerStream
from tap_leadintent.times import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Generator,
        Iterable,
        Iterator,
        Mapping,
    )

    from requests.adapters import HTTPAdapter
    from singer_sdk import Tap
    from singer_sdk.helpers.types import Context
    from singer_sdk.singerlib import Catalog

    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.api.rate_limit import Check, Pace
    from tap_leadintent.api.server_clock import Reading, ServerClock

    Record = dict[str, Any]

_MOVING = frozenset({"latest_signal", "latest_activity"})
"""Ranges on times that move, whose windows are read one after the other.

A record that moved from a window still to be read into one that has been read ahead
would be in neither, and nobody would read it again.
"""

_MOST_OF_NAMES = 1_000
"""Characters of a list of names that a server chose."""


class LeadIntentStream(SingerStream):
    """A stream that is read whole, or by the time ranges that its endpoint offers.

    Its state says which intervals of each range have been read and written. A run
    reads what is asked for and missing there, and again what lies up to
    `lookback_minutes` before the newest of it.
    """

    http_method = "POST"
    TYPE_CONFORMANCE_LEVEL = TypeConformanceLevel.NONE  # `RecordShaper` does it once

    entity: str
    """What a record is, singular; the record's own id may be named after it."""

    ranges: tuple[str, ...] = ()
    """Time ranges of the endpoint. The first load reads the first, later runs all."""

    promised_times: Mapping[str, Callable[[Record], str | None]] = MappingProxyType({})
    """Where a record shows the time that a range is about, for the ranges it does."""

    def __init__(
        self, tap: Tap, *, pace: Pace, adapter: HTTPAdapter, clock: ServerClock
    ) -> None:
        """Bind the stream to a run.

        Args:
            tap: The tap, with its settings and state.
            pace: Asked before each request.
            adapter: Keeps the connections, which all threads and streams share.
            clock: The server's clock, as all streams' answers tell it.
        """
        super().__init__(tap)
        self._pace = pace
        self._adapter = adapter
        self._clock = clock
        self.request_counter = self.get_http_request_counter()
        self.tally = Tally()
        self._now = tap.initialized_at // 1000
        self._repeats = Repeats()
        self._notes = RecordNotes(self.logger)
        if self._exclusion:
            # An instance's own value comes before that of its class's descriptor.
            vars(self)["schema"] = self._exclusion.schema(self.schema)
        if tap.input_catalog is None:
            self._refuse_excluded_keys()

    @cached_property
    def _secret(self) -> Secret:
        return Secret(self.config["api_key"])

    @cached_property
    def endpoint(self) -> Endpoint:
        """The API's side of the stream."""
        return Endpoint(
            name=self.name,
            sender=Sender(
                name=self.name,
                url=self.get_url(None),
                pace=self._pace,
                adapter=self._adapter,
                timeout=self.timeout,
                retries=int(self.config["max_retries"]),
                secret=self._secret,
                doubtful=[
                    f"filters.{field}"
                    for field in undocumented_filters(self.config)
                    if field.startswith(f"{self.name}.")
                ],
                clock=self._clock,
                counter=self.request_counter,
                tally=self.tally,
                logger=self.logger,
            ),
            prepare=self._prepare,
            body=self.prepare_request_payload,
            new_paginator=self.get_new_paginator,
            logger=self.logger,
        )

    @cached_property
    def _exclusion(self) -> Exclusion:
        return Exclusion(self.config["exclude_fields"].get(self.name, ()))

    def _refuse_excluded_keys(self) -> None:
        found = key_problems(self._exclusion, self.primary_keys, self.replication_key)
        if problems := [f"exclude_fields.{self.name}: {each}" for each in found]:
            raise ConfigError(problems)

    @property
    def selected_columns(self) -> list[str]:
        """The names of the columns that are not deselected."""
        columns = self.effective_schema["properties"]
        return [name for name in columns if self.mask["properties", name]]

    def is_left_out(self, field: str) -> bool:
        """Tell whether a field is deselected or excluded.

        Args:
            field: Its name, with a column or without.

        Returns:
            Whether it is.
        """
        return self._exclusion.takes(field) or not self.mask["properties", field]

    def note_unheld(self, fields: Collection[str]) -> None:
        """Note fields of a record that only `additional_properties` holds.

        Args:
            fields: Their names, dotted where they are nested.
        """
        self._notes.without_column(fields)

    def apply_catalog(self, catalog: Catalog) -> None:
        """Take over what a catalog says of the stream, but for what is excluded.

        Args:
            catalog: The catalog, which loses the excluded fields.

        Raises:
            ConfigError: One of them is a key.
        """
        entry = catalog.get_stream(self.name)
        if entry and self._exclusion:
            left = self._exclusion.schema(entry.schema.to_dict())
            entry.schema = Schema.from_dict(left)
        super().apply_catalog(catalog)
        self._refuse_excluded_keys()

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self._pace.check, self.logger)

    @cached_property
    def progress(self) -> Progress:
        """How far the reading has come, from when it is first asked."""
        return Progress(self.logger.info)

    @cached_property
    def _shaper(self) -> RecordShaper:
        return RecordShaper(
            columns=self.effective_schema["properties"],
            key_properties=self.primary_keys,
            entity=self.entity,
            mask=self.mask,
            notes=self._notes,
        )

    def infer_columns(self) -> None:
        """Add typed columns for the fields on the first page.

        A stream that the key may not read keeps its columns, and is deselected.

        Raises:
            StreamError: It could not be read.
        """
        check = self._pace.check
        try:
            page = next(self.endpoint.read({}, check))
        except RefusedError as error:
            if error.status != requests.codes.forbidden:
                raise
            self.selected_by_default = False
            self.logger.warning(
                "%s; it is deselected, and its columns are not inferred", error.message
            )
            return
        properties = self.schema["properties"]
        found = infer(self._left(self.endpoint.decode(page, check)), properties)
        if found.unsafe_names:
            self.logger.warning(
                "Fields whose names warehouses may not take, or not tell apart, stay "
                "in additional_properties: %s",
                self._secret.summarize(
                    ", ".join(map(repr, found.unsafe_names)), _MOST_OF_NAMES
                ),
            )
        # An instance's own value comes before that of its class's descriptor.
        vars(self)["schema"] = {
            **self.schema,
            "properties": {**properties, **found.columns},
        }

    @property
    def schema_problem(self) -> str:
        """What is wrong with the columns' schemas, which a catalog may have changed."""
        try:
            _ = self._shaper
        except ValueError as error:
            return str(error)
        return ""

    def stop_reading(self) -> None:
        """End all reading, whatever still waits to be handed over."""
        self._reader.stop()

    def log(
        self, message: str, *args: Any, level: int = logging.INFO, **options: Any
    ) -> None:
        """Log what the SDK has to say, but not what the tap says itself.

        That is that a stream begins, which is left to DEBUG, and that an error is
        unhandled, which is left out where the tap reports it.

        Args:
            message: As for `logging`, with `args` to be formatted into it.
            args: See `message`.
            level: As for `logging`.
            options: As for `logging`.
        """
        if level == logging.ERROR and isinstance(sys.exception(), SingerSDKError):
            return
        told = logging.DEBUG if level == logging.INFO else level
        super().log(message, *args, level=told, **options)

    @property
    def requests_session(self) -> requests.Session:
        """The session of this thread."""
        return self.endpoint.sender.session

    @property
    def url_base(self) -> str:
        """The setting `base_url`."""
        return str(self.config["base_url"]).rstrip("/")

    @property
    def authenticator(self) -> BearerTokenAuthenticator:
        """The setting `api_key` as a bearer token."""
        return BearerTokenAuthenticator(token=self.config["api_key"])

    @property
    def page_size(self) -> int:
        """The setting `page_size`: records in a full page."""
        return int(self.config["page_size"])

    @property
    def filters(self) -> dict[str, Any]:
        """The request fields that the setting `filters` has for this stream."""
        fields: dict[str, Any] = self.config["filters"].get(self.name, {})
        return fields

    @property
    def timeout(self) -> int:
        """Seconds for a connection, for each pause, and for the whole answer."""
        return self.config["request_timeout_seconds"]  # type: ignore[no-any-return]

    @cached_property
    def user_agent(self) -> str:
        """The setting `user_agent`, by default the tap's name and version."""
        return (
            self.config.get("user_agent")
            or f"tap-leadintent/{self._tap.plugin_version}"
        )

    def prepare_request_payload(
        self,
        context: Context | None,
        next_page_token: str | None,
    ) -> dict[str, Any]:
        """Build the request's body.

        Args:
            context: The request fields of the window that is read, if any.
            next_page_token: The `cursor.after` to send, absent on the first page.

        Returns:
            The stream's `filters`, the fields and the `cursor` object, the same for
            all pages of a chain but for `after`.
        """
        cursor: dict[str, Any] = {"limit": self.page_size}
        if next_page_token is not None:
            cursor["after"] = next_page_token
        return {**self.filters, **(context or {}), "cursor": cursor}

    def _prepare(self, fields: dict[str, Any]) -> requests.PreparedRequest:
        request = self.get_http_request(page=PageContext(fields, None))
        return self.build_prepared_request(
            method=request.method,
            url=request.url,
            headers=request.headers,
            json=request.data,
        )

    def get_new_paginator(self) -> CursorPaginator:
        """Begin a chain."""
        return CursorPaginator(self.name)

    @property
    def is_incremental(self) -> bool:
        """Whether the stream is read by time ranges and keeps a bookmark."""
        return self.replication_method == REPLICATION_INCREMENTAL and bool(self.ranges)

    @property
    def newest_covered(self) -> str | None:
        """The newest instant of the first range that its bookmark covers."""
        if not self.is_incremental:
            return None
        span = self._read_bookmark().coverage.span(self.ranges[0])
        return span and format_instant(span[1])

    def begin_state(self) -> None:
        """Make sure that the run's first STATE says what is covered, if only nothing.

        A loader may merge a run's states into those of former runs: were the stream
        absent, its old coverage would survive a full refresh that is cut short.
        """
        if self.is_incremental and not self.stream_state:
            self.stream_state[COVERAGE] = []

    def get_records(self, context: Context | None) -> Iterable[Record]:  # noqa: ARG002
        """Read what this run has to read.

        Args:
            context: Not used: the stream keeps its own partitions, by time.

        Yields:
            Records as the target gets them, oldest window first.

        Raises:
            StreamError: The stream cannot go on; the message says why.
        """
        pages = self._read_ranges() if self.is_incremental else self._read_all()
        progress = self.progress
        try:
            with self.request_counter, closing(pages):
                for page in pages:
                    yield from self.emit(page)
                    progress.page(self.tally.records)
        finally:
            self._notes.log(
                documented=is_documented(self.name),
                show=self._secret.summarize,
            )

    def _read_all(self) -> Generator[list[Record]]:
        versioned = (
            self.replication_method == REPLICATION_FULL_TABLE
            and self.config["emit_activate_version_messages"]
        )
        if versioned:
            # Private, for want of a public hook: records must carry the version.
            self._stream_version = self._now
        whole = Windows(
            [(SINCE_EVER, self._now)], page_size=self.page_size, length=self._now
        )
        for _, pages in self._reader.read(whole, self._read_unfiltered, readers=1):
            for number, page in enumerate(pages, start=1):
                records = self.endpoint.decode(page, self._pace.check)
                yield self._shape_page(records, number)
        if versioned:
            self.activate_version(self._now)

    @cached_property
    def bookmark(self) -> Bookmark:
        """What the stream's state says, from when it is first asked."""
        return self._read_bookmark()

    @property
    def key_mark(self) -> str:
        """What tells the setting `api_key` from others in a state."""
        return key_mark(self.config["api_key"], self.bookmark.source.address)

    def _read_bookmark(self) -> Bookmark:
        address = normalised(str(self.config.get("base_url", "")))
        source = Source(address, filters_hash(self.filters))
        since = self.asked.since
        return Bookmark.read(self.stream_state, source, self.ranges, since)

    def _seal(self, *, records: int = 0, at_once: bool = False) -> None:
        """Note in the state what is covered now; see `checkpoint`."""
        entries = self.bookmark.to_state(self.key_mark)
        self.checkpoint({COVERAGE: entries}, records=records, at_once=at_once)

    def _read_ranges(self) -> Generator[list[Record]]:
        bookmark = self.bookmark
        if bookmark.problem:
            self.logger.warning("The stream starts anew: %s", bookmark.problem)
        plan = Plan(self.asked, bookmark.coverage, self._now, self.logger)
        self._learn_clock(plan)
        self._seal(at_once=True)
        for name in plan.ranges:
            yield from self._read_range(plan, name)

    def _read_range(self, plan: Plan, name: str) -> Generator[list[Record]]:
        was_covered = plan.coverage.span(name) is not None
        stretches = plan.stretches(name)
        unfiltered = plan.is_everything(name, stretches)
        alone = unfiltered or name in _MOVING
        readers = 1 if alone else self.config["concurrency"]
        windows = Windows(
            stretches,
            page_size=self.page_size,
            readers=readers,
            length=plan.now if unfiltered else self._window_seconds,
            quiet=was_covered,
        )
        requests = RangeRequests(name, self.endpoint.read, self._clock)
        read_window = self._read_unfiltered if unfiltered else requests.read
        reading = self._reader.read(windows, read_window, readers=readers)
        self.progress.begin_range(name, [] if unfiltered else stretches)
        guard = RangeGuard(self.name, name, lambda: self._holds_1970(name))
        for window, pages in reading:
            self._repeats.next_window()
            count = 0
            clock: Reading | None = None
            for number, page in enumerate(pages, start=1):
                self._learn_clock(plan)
                records = self.endpoint.decode(page, self._pace.check)
                count += len(records.data)
                if number == 1:
                    clock = page.clock
                    guard.window_begins(records.raw if page.cursor.has_more else ())
                window_end = f"{format_instant(min(window.end, plan.now))[:-1]}.000000Z"
                rows = self._shape_page(records, number, window_end)
                yield self._take_news(rows, records, name, window, guard)
            self.progress.reach(window.end)
            self.logger.debug(
                "%s from %s to %s: %s",
                name,
                format_instant(window.start),
                format_instant(window.end),
                counted(count, "record"),
            )
            self._learn_clock(plan)
            # The first of its queries is the one that may have run too early.
            as_of = clock and self._clock.as_of(clock)
            plan.read(name, (window.start, window.end), as_of)
            self._seal(records=count)

    def _shape_page(
        self, records: Records, number: int, window_end: str | None = None
    ) -> list[Record]:
        """Shape a page's records; `number` says which page it is of its window."""
        try:
            for repair in records.repairs:
                self._notes.warn_once.warn(f"A record held {repair}")
            return self._shaper.shape(self._left(records), window_end)
        except ValueError as error:
            msg = f"{self.name}: page {number}: {error}"
            raise StreamError(msg) from None

    def _left(self, records: Records) -> list[Record]:
        """Give what is left of a page's records without what is excluded."""
        if not self._exclusion:
            return records.data
        return [self._exclusion.record(record) for record in records.data]

    def emit(self, records: Iterable[Record]) -> Iterator[Record]:
        """Hand a page's records over, unless a signal has come."""
        check = self._pace.check
        for record in records:
            check()
            self.tally.records += 1
            yield record
        # The next page may have to be waited for.
        self.flush()

    def _take_news(
        self,
        rows: list[Record],
        records: Records,
        name: str,
        window: Window,
        guard: RangeGuard,
    ) -> list[Record]:
        # With the record's own id, as a catalog may declare any key, or none.
        entity, columns = self.entity, self.primary_keys
        keys = [
            (own_id(record, entity) or hash(bytes(raw)), *map(row.get, columns))
            for row, record, raw in zip(rows, records.data, records.raw, strict=True)
        ]
        if time_of := self.promised_times.get(name):
            guard.page(window, records.data, time_of)
        news = self._repeats.news(keys, records.raw, records.read_at)
        return [*compress(rows, news)]

    def _read_unfiltered(self, _: Window, check: Check) -> Iterator[Page]:
        return self.endpoint.read({}, check)

    def _holds_1970(self, name: str) -> bool:
        fields = Window(0, 1).request_fields(name)
        try:
            return next(self.endpoint.read(fields, self._pace.check)).count > 0
        except RefusedError:
            # Who dislikes the range has at least looked at it.
            return False

    @property
    def _window_seconds(self) -> int | None:
        days = self.config.get("window_days")
        if days is None or "start_date" not in self.config:
            return None
        return max(1, int(days * 86400))

    @property
    def asked(self) -> Asked:
        """What the settings ask for."""
        start, end = self.config.get("start_date"), self.config.get("end_date")
        return Asked(
            ranges=self.ranges,
            start=None if start is None else parse_instant(start),
            end=None if end is None else parse_instant(end, round_up=True),
            lookback=int(self.config["lookback_minutes"]) * 60,
        )

    def _learn_clock(self, plan: Plan) -> None:
        before = plan.now
        plan.learn_clock(self._clock.began, self._clock.reached)
        if plan.now < before:
            self._reader.end_by(plan.now)
            self.progress.end_by(plan.now)
