"""What a run reads of a stream, in which order, and what its bookmark then says."""

from __future__ import annotations

from functools import cached_property
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from singer_sdk.helpers.conform import TypeConformanceLevel
from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL

from tap_leadintent.client import CursorRefusedError
from tap_leadintent.coverage import SINCE_EVER, Coverage, filters_hash
from tap_leadintent.emission import COVERAGE, EmittingStream
from tap_leadintent.errors import StreamError
from tap_leadintent.records import RecordShaper
from tap_leadintent.safeguards import RangeGuard, Repeats
from tap_leadintent.times import format_instant, parse_instant
from tap_leadintent.windows import Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from singer_sdk import Tap
    from singer_sdk.helpers.types import Context

    from tap_leadintent.decoding import Page
    from tap_leadintent.intervals import Interval
    from tap_leadintent.pacing import Pace
    from tap_leadintent.windows import Window

    Record = dict[str, Any]

_METHODS = (REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL)
_RESTARTS = 3


class LeadIntentStream(EmittingStream):
    """A stream that is read whole, or by the time ranges that its endpoint offers.

    Its state says which intervals of each range have been read and written. A run
    reads what is asked for and missing there, and again what lies up to
    `lookback_minutes` before the newest of it.
    """

    TYPE_CONFORMANCE_LEVEL = TypeConformanceLevel.NONE  # `RecordShaper` does it once

    entity: str
    """What a record is, singular; the record's own id may be named after it."""

    ranges: tuple[str, ...] = ()
    """Time ranges of the endpoint. The first load reads the first, later runs all."""

    promised_times: Mapping[str, Callable[[Record], str | None]] = MappingProxyType({})
    """Where a record shows the time that a range is about, for the ranges it does."""

    def __init__(self, tap: Tap, *, pace: Pace) -> None:
        """Bind the stream to a run.

        Args:
            tap: The tap, with its settings and state.
            pace: Asked before each request.
        """
        super().__init__(tap, pace=pace)
        self._now = tap.initialized_at // 1000
        self._repeats = Repeats()

    @cached_property
    def _shaper(self) -> RecordShaper:
        return RecordShaper(
            columns=self.effective_schema["properties"],
            key_properties=self.primary_keys,
            entity=self.entity,
            mask=self.mask,
            logger=self.logger,
        )

    def add_columns(self, columns: dict[str, dict[str, Any]]) -> None:
        """Declare more columns than the stream's class does.

        Args:
            columns: The schema of each, by name.
        """
        properties = {**self.schema["properties"], **columns}
        # An instance's own value comes before that of its class's descriptor.
        vars(self)["schema"] = {**self.schema, "properties": properties}

    @property
    def is_incremental(self) -> bool:
        """Whether the stream is read by time ranges and keeps a bookmark."""
        return self.replication_method == REPLICATION_INCREMENTAL and bool(self.ranges)

    @property
    def newest_covered(self) -> str | None:
        """The newest instant of the first range that its bookmark covers."""
        first = self.ranges[:1]
        try:
            entries = self.stream_state.get(COVERAGE, [])
            return max((e["to"] for e in entries if e["range"] in first), default=None)
        except (KeyError, TypeError):
            # A state that somebody wrote by hand; reading it says what is wrong.
            return None

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
        if self.replication_method not in _METHODS:
            msg = (
                f"{self.name}: replication method {self.replication_method} is not "
                f"possible; choose one of {', '.join(_METHODS)}"
            )
            raise StreamError(msg)
        with self.request_counter:
            if self.is_incremental:
                yield from self._read_ranges()
            else:
                yield from self._read_all()

    def _read_all(self) -> Iterator[Record]:
        versioned = (
            self.replication_method == REPLICATION_FULL_TABLE
            and self.config["emit_activate_version_messages"]
        )
        if versioned:
            # Private, for want of a public hook: records must carry the version.
            self._stream_version = self._now
        for number, page in enumerate(self._chain({}), start=1):
            yield from self._emitted(self._shape_page(page, number, None))
        if versioned:
            self.activate_version(self._now)

    def _read_ranges(self) -> Iterator[Record]:
        coverage = self._load_coverage()
        first, *others = self.ranges
        begun = [name for name in others if coverage.span(name)]
        for name in others:
            if name not in begun:
                coverage.add(name, (self._now, self._now))
        self.checkpoint(coverage.to_state(), at_once=True)
        yield from self._read_range(coverage, first, self._asked())
        for name in begun:
            oldest, newest = coverage.span(name) or (self._now, self._now)
            asked = (min(oldest, newest - self._lookback), self._now)
            yield from self._read_range(coverage, name, asked)

    def _read_range(
        self, coverage: Coverage, name: str, asked: Interval
    ) -> Iterator[Record]:
        stretches = coverage.to_read(name, asked, self._lookback)
        unfiltered = (
            stretches == [(SINCE_EVER, self._now)] and "end_date" not in self.config
        )
        windows = Windows(
            stretches,
            page_size=self.page_size,
            length=self._now if unfiltered else self._window_seconds,
        )
        guard = RangeGuard(self.name, name)
        while window := windows.next():
            pages = self._pages(
                {} if unfiltered else window.request_fields(name), window
            )
            if pages is None:
                windows.give_up(window)
                continue
            self._repeats.next_window()
            requests = records = 0
            for requests, page in enumerate(pages, start=1):
                self._learn_clock(coverage, windows)
                records += len(page.data)
                yield from self._read_page(page, requests, name, window, guard)
            windows.done(window, records=records, requests=requests)
            end = min(window.end, self._now)
            if end > window.start:
                coverage.add(name, (window.start, end))
            self.checkpoint(coverage.to_state(), records=records)

    def _read_page(
        self,
        page: Page,
        number: int,
        name: str,
        window: Window,
        guard: RangeGuard,
    ) -> Iterator[Record]:
        end = f"{format_instant(min(window.end, self._now))[:-1]}.000000Z"
        shaped = self._shape_page(page, number, end)
        keys = [tuple(record[key] for key in self.primary_keys) for record in shaped]
        if number == 1:
            guard.window_begins(keys)
        if time_of := self.promised_times.get(name):
            guard.page(window, page.data, time_of)
        fresh = (
            record
            for record, key, raw in zip(shaped, keys, page.data, strict=True)
            if self._repeats.is_new(key, raw)
        )
        yield from self._emitted(fresh)

    def _pages(self, fields: dict[str, Any], window: Window) -> Iterable[Page] | None:
        chain = self._chain(fields)
        if window.most_pages is None:
            return chain
        trial = list(islice(chain, window.most_pages))
        return None if trial[-1].cursor.has_more else trial

    def _chain(self, fields: dict[str, Any]) -> Iterator[Page]:
        for restart in range(_RESTARTS + 1):
            try:
                yield from self.request_pages(fields)
            except CursorRefusedError as error:
                if restart == _RESTARTS:
                    raise
                self.logger.warning(
                    "The API refused its cursor; the window starts again: %s", error
                )
            else:
                return

    def _emitted(self, records: Iterable[Record]) -> Iterator[Record]:
        for record in records:
            self._pace.check()
            self.tally.records += 1
            yield record

    def _shape_page(
        self, page: Page, number: int, window_end: str | None
    ) -> list[Record]:
        try:
            for repair in page.repairs:
                self._shaper.notices.tell(repair, "A record held %s", repair)
            return [self._shaper.shape(record, window_end) for record in page.data]
        except ValueError as error:
            msg = f"{self.name}: page {number}: {error}"
            raise StreamError(msg) from None

    @property
    def _lookback(self) -> int:
        return int(self.config["lookback_minutes"]) * 60

    @property
    def _window_seconds(self) -> int | None:
        days = self.config.get("window_days")
        if days is None or "start_date" not in self.config:
            return None
        return max(1, int(days * 86400))

    def _asked(self) -> Interval:
        start, end = self.config.get("start_date"), self.config.get("end_date")
        return (
            SINCE_EVER if start is None else parse_instant(start),
            self._now
            if end is None
            else min(self._now, parse_instant(end, round_up=True)),
        )

    def _learn_clock(self, coverage: Coverage, windows: Windows) -> None:
        if self.server_time is not None and self.server_time < self._now:
            self._now = self.server_time
            coverage.clip(self._now)
            windows.end_by(self._now)

    def _load_coverage(self) -> Coverage:
        filters = filters_hash(self.filters)
        try:
            coverage = Coverage.from_stream_state(
                self.stream_state, filters, self.ranges, self._asked()[0]
            )
        except ValueError as error:
            self.logger.warning("The stream starts anew: %s", error)
            return Coverage(filters)
        coverage.clip(self._now)
        return coverage
