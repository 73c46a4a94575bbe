"""What a run reads of a stream, in which order, and what its bookmark then says."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from itertools import compress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from singer_sdk.singerlib.catalog import REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL

from tap_leadintent.errors import RefusedError, StreamError
from tap_leadintent.records.keys import own_id
from tap_leadintent.replication.coverage import SINCE_EVER, Coverage, filters_hash
from tap_leadintent.replication.overlap import Repeats
from tap_leadintent.replication.range_guard import RangeGuard
from tap_leadintent.replication.reading import ReadingStream
from tap_leadintent.replication.windows import Window, Windows
from tap_leadintent.singer.stream import COVERAGE
from tap_leadintent.times import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from requests.adapters import HTTPAdapter
    from singer_sdk import Tap
    from singer_sdk.helpers.types import Context

    from tap_leadintent.api.page import Records
    from tap_leadintent.api.rate_limit import Pace
    from tap_leadintent.replication.intervals import Interval

    Record = dict[str, Any]

_METHODS = (REPLICATION_FULL_TABLE, REPLICATION_INCREMENTAL)

_MOVING = frozenset({"latest_signal", "latest_activity"})
"""Ranges on times that move, whose windows are read one after the other.

A record that moved from a window still to be read into one that has been read ahead
would be in neither, and nobody would read it again.
"""

_SKEW = timedelta(minutes=1)
"""Clocks that differ by more are worth a warning."""


class LeadIntentStream(ReadingStream):
    """A stream that is read whole, or by the time ranges that its endpoint offers.

    Its state says which intervals of each range have been read and written. A run
    reads what is asked for and missing there, and again what lies up to
    `lookback_minutes` before the newest of it.
    """

    ranges: tuple[str, ...] = ()
    """Time ranges of the endpoint. The first load reads the first, later runs all."""

    promised_times: Mapping[str, Callable[[Record], str | None]] = MappingProxyType({})
    """Where a record shows the time that a range is about, for the ranges it does."""

    def __init__(self, tap: Tap, *, pace: Pace, adapter: HTTPAdapter) -> None:
        """Bind the stream to a run.

        Args:
            tap: The tap, with its settings and state.
            pace: See `EndpointStream`.
            adapter: Likewise.
        """
        super().__init__(tap, pace=pace, adapter=adapter)
        self._now = tap.initialized_at // 1000
        self._repeats = Repeats()

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
        pages = self._read_ranges() if self.is_incremental else self._read_all()
        with self.request_counter, closing(pages):
            for page in pages:
                yield from self.emit(page)

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
        for _, pages in self.read(whole, lambda _: {}, readers=1):
            for number, page in enumerate(pages, start=1):
                records = self.decode(page)
                yield self.shape_page(records, number)
        if versioned:
            self.activate_version(self._now)

    def _read_ranges(self) -> Generator[list[Record]]:
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
    ) -> Generator[list[Record]]:
        was_covered = coverage.span(name) is not None
        stretches = coverage.to_read(name, asked, self._lookback)
        unfiltered = (
            stretches == [(SINCE_EVER, self._now)] and "end_date" not in self.config
        )
        alone = unfiltered or name in _MOVING
        readers = 1 if alone else self.config["concurrency"]
        windows = Windows(
            stretches,
            page_size=self.page_size,
            readers=readers,
            length=self._now if unfiltered else self._window_seconds,
            quiet=was_covered,
        )
        reading = self.read(
            windows,
            lambda window: {} if unfiltered else window.request_fields(name),
            readers=readers,
        )
        guard = RangeGuard(self.name, name, lambda: self._holds_1970(name))
        for window, pages in reading:
            self._repeats.next_window()
            count = 0
            for number, page in enumerate(pages, start=1):
                self._learn_clock(coverage)
                records = self.decode(page)
                count += len(records.data)
                if number == 1:
                    guard.window_begins(records.raw if page.cursor.has_more else ())
                yield self._read_page(records, number, name, window, guard)
            end = min(window.end, self._now)
            if end > window.start:
                coverage.add(name, (window.start, end))
            self.checkpoint(coverage.to_state(), records=count)

    def _read_page(
        self,
        records: Records,
        number: int,
        name: str,
        window: Window,
        guard: RangeGuard,
    ) -> list[Record]:
        end = f"{format_instant(min(window.end, self._now))[:-1]}.000000Z"
        shaped = self.shape_page(records, number, end)
        # With the record's own id, as a catalog may declare any key, or none.
        entity, columns = self.entity, self.primary_keys
        keys = [
            (own_id(record, entity) or hash(bytes(raw)), *map(row.get, columns))
            for row, record, raw in zip(shaped, records.data, records.raw, strict=True)
        ]
        if time_of := self.promised_times.get(name):
            guard.page(window, records.data, time_of)
        news = self._repeats.news(keys, records.raw, records.read_at)
        return [*compress(shaped, news)]

    def _holds_1970(self, name: str) -> bool:
        fields = Window(0, 1).request_fields(name)
        try:
            return next(self.request_pages(fields)).count > 0
        except RefusedError:
            # Who dislikes the range has at least looked at it.
            return False

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

    def _learn_clock(self, coverage: Coverage) -> None:
        shown = self.sender.server_time
        if shown is not None and shown < self._now:
            behind = timedelta(seconds=self._now - shown)
            if behind > _SKEW:
                self.logger.warning(
                    "By the server's clock it is %s, %s behind ours; the run reads up "
                    "to there",
                    format_instant(shown),
                    behind,
                )
            self._now = shown
            coverage.clip(self._now)
            self.read_no_further(self._now)

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
