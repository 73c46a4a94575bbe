"""The records that the sandbox returns, which depend on its clock.

The life of a record is drawn from `Random(f"{seed}:{stream}:{number}")`. It is the same
in every process, and does not depend on the order in which records are read.
"""

import heapq
import json
import math
from collections.abc import Iterator, Mapping
from itertools import count, islice
from random import Random
from typing import TypeAlias

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS, Axis, Endpoint
from tap_leadintent.sandbox.histories import SHAPES
from tap_leadintent.sandbox.options import Options
from tap_leadintent.sandbox.records import Entry, RecordBuilder, draw_id
from tap_leadintent.sandbox.times import DAY, HOUR, MINUTE, SECOND, format_time

# The probabilities that a lead gets another signal, and that its first signal is old.
_NEXT_SIGNAL = 0.35
_OLD_SIGNAL = 0.05

# The averages of the times between a signal and its lead, and between two signals.
_USUAL_LAG = 12 * HOUR
_USUAL_GAP = 30 * DAY

_PRECISIONS = (SECOND, SECOND, 1000, 1)

Row: TypeAlias = tuple[int, str, Entry]
"""A time, an id and the record, so that rows are sorted by time and id."""

Event: TypeAlias = tuple[int, int, bool, Entry]
"""When a record arrives or changes, a number that orders events of one time, whether
the record arrives, and the record."""

Change: TypeAlias = tuple[int, int]
"""When the API begins to return a record with a new latest time, and this time."""


class StreamRecords:
    """The records of one stream that exist at the time of the clock.

    Attributes:
        endpoint: The endpoint of the stream.
        entries: The records by id.
        now: The time of the clock, in microseconds since 1970.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        options: Options,
    ) -> None:
        """Generate the records of the start."""
        self.endpoint = endpoint
        self.entries: dict[str, Entry] = {}
        self._seed = options.seed
        self._shape = SHAPES[options.history]
        self._begin = options.begin
        self._start = options.start
        self._span = self._start - self._begin
        self.now = self._start
        self._size = options.sizes.get(endpoint.stream, endpoint.size)
        self._interval = math.inf
        if self._size:
            self._interval = self._span / self._size
        if endpoint.stream == "leads":
            self._interval = min(DAY, self._interval)
        self._is_by_signal = "latest_signal" in endpoint.ranges
        self._rows: dict[Axis, list[Row]] = {}
        self._numbers = count()
        self._future: list[Event] = []
        for index in range(self._size):
            entry, changes = self._generate(index)
            self.entries[entry.id] = entry
            self._apply(entry, changes)
        self._schedule_arrival(self._size)

    def _generate(self, index: int) -> tuple[Entry, Iterator[Change]]:
        """Return a record as it first appears, and all its later changes."""
        stream = self.endpoint.stream
        rng = Random(f"{self._seed}:{stream}:{index}")
        name = draw_id(rng, stream)
        found = self._draw_found(index, rng)
        latest = self._draw_latest(found, rng)
        entry = Entry(name, index, found, latest)
        changes = self._changes(rng, found)
        return entry, changes

    def _draw_found(self, index: int, rng: Random) -> int:
        """Return when a record appears, within the history or after the start."""
        place = index + rng.random()
        if index < self._size:
            share = self._shape(place / self._size)
            found = self._begin + int(share * self._span)
            earliest = self._begin
        else:
            intervals = place - self._size
            found = self._start + int(intervals * self._interval)
            earliest = self._start + 1
        return max(earliest, _truncate(found, rng))

    def _draw_latest(self, found: int, rng: Random) -> int:
        """Return the latest time of a record that appears at an instant."""
        if not self._is_by_signal:
            return found
        lag = MINUTE + rng.expovariate(1 / _USUAL_LAG)
        if rng.random() < _OLD_SIGNAL:
            lag = rng.uniform(30, 60) * DAY
        return _truncate(found - int(lag), rng)

    def _changes(
        self,
        rng: Random,
        visible: int,
    ) -> Iterator[Change]:
        if "latest" not in self.endpoint.times:
            return
        while not self._is_by_signal or rng.random() < _NEXT_SIGNAL:
            gap = HOUR + rng.expovariate(1 / _USUAL_GAP)
            latest = _truncate(visible + int(gap), rng)
            visible = latest
            if self._is_by_signal:
                delay = int(rng.uniform(-30, 30) * MINUTE)
                visible += max(0, delay)
            yield visible, latest

    def rows(self, axis: Axis) -> list[Row]:
        """Return all records in ascending order of a time, and of their ids."""
        if axis not in self._rows:
            rows: list[Row] = []
            for entry in self.entries.values():
                time = getattr(entry, axis)
                row = (time, entry.id, entry)
                rows.append(row)
            self._rows[axis] = sorted(rows)
        return self._rows[axis]

    def body(self, entry: Entry) -> bytes:
        """Return the JSON of a record."""
        if entry.body is not None:
            return entry.body
        stream = self.endpoint.stream
        builder = RecordBuilder(
            stream,
            self._seed,
            entry,
            self.now,
        )
        body = msgspec.json.encode(builder.record)
        # The record of an agent depends on the clock.
        if stream != "signal_agents":
            entry.body = body
        return body

    def first_body(self, entry: Entry) -> bytes:
        """Return the JSON of a record as it first appeared."""
        if entry.index < 0:
            return self.body(entry)
        first, _ = self._generate(entry.index)
        return self.body(first)

    def times(self, entry: Entry) -> dict[str, str]:
        """Return the times of a record by their names, as ISO 8601."""
        times: dict[str, str] = {}
        for axis, name in self.endpoint.times.items():
            instant = getattr(entry, axis)
            times[name] = format_time(instant)
        return times

    def put(
        self,
        record: object,
        times: Mapping[str, int],
    ) -> str:
        """Insert or replace a record, which appears when the clock reaches its time.

        Args:
            record: Any JSON value. A text is taken as the JSON of the record.
            times: Its times, by their names.

        Returns:
            The id with which the record can be removed; its JSON if it has no id.
        """
        text = record
        if not isinstance(text, str):
            text = json.dumps(record)
        name = _id_of(text)
        known = self.entries.get(name)
        names = self.endpoint.times
        found = times.get(names["found"])
        if not found:
            found = known.found if known else self.now
        latest_name = names.get("latest", "")
        latest = times.get(latest_name) or found
        entry = Entry(
            name,
            -1,
            found,
            latest,
            body=text.encode(),
        )
        self._schedule(found, entry, arrives=True)
        self.advance(self.now)
        return name

    def remove(self, name: str) -> bool:
        """Remove a record by its id, and return whether it existed."""
        self._rows.clear()
        removed = self.entries.pop(name, None)
        return removed is not None

    def advance(self, now: int) -> None:
        """Move the clock to an instant, and apply what happens until then."""
        self.now = now
        while self._future:
            instant, _, arrives, entry = self._future[0]
            if instant > now:
                break
            heapq.heappop(self._future)
            self._rows.clear()
            if arrives:
                self.entries[entry.id] = entry
                if entry.index >= 0:
                    self._schedule_arrival(entry.index + 1)
            is_current = self.entries.get(entry.id) is entry
            if is_current and entry.index >= 0:
                _, changes = self._generate(entry.index)
                remaining = islice(changes, entry.version, None)
                self._apply(entry, remaining)

    def _schedule_arrival(self, index: int) -> None:
        if self._interval < math.inf:
            entry, _ = self._generate(index)
            self._schedule(entry.found, entry, arrives=True)

    def _apply(
        self,
        entry: Entry,
        changes: Iterator[Change],
    ) -> None:
        """Apply the changes of a record until now, and schedule the next one."""
        for visible, latest in changes:
            if visible > self.now:
                self._schedule(visible, entry, arrives=False)
                return
            entry.version += 1
            entry.latest = latest
            entry.body = None

    def _schedule(
        self,
        instant: int,
        entry: Entry,
        *,
        arrives: bool,
    ) -> None:
        number = next(self._numbers)
        event = (instant, number, arrives, entry)
        heapq.heappush(self._future, event)


def _id_of(text: str) -> str:
    """Return the id of a record, given as JSON; the JSON if it has no id."""
    content = json.loads(text)
    if not isinstance(content, dict):
        return text
    record_id = content.get("id")
    if record_id is None:
        return text
    return str(record_id)


def _truncate(instant: int, rng: Random) -> int:
    """Return an instant, rounded down to seconds, to milliseconds, or not at all."""
    place = int(rng.random() * len(_PRECISIONS))
    precision = _PRECISIONS[place]
    return instant - instant % precision


class World:
    """The records of all streams, at the time of one clock.

    Attributes:
        now: The time of the clock, in microseconds since 1970.
        streams: The records of each stream.
    """

    def __init__(self, options: Options) -> None:
        """Generate the records of the start."""
        self._options = options
        self._ahead = 0
        self.now = options.start
        self.streams: dict[str, StreamRecords] = {}
        for name, endpoint in ENDPOINTS.items():
            self.streams[name] = StreamRecords(endpoint, options)

    def tick(self) -> None:
        """Apply what happens until now. A clock that was set stands still."""
        self.now = self._options.start + self._ahead
        for records in self.streams.values():
            records.advance(self.now)

    def advance(self, microseconds: float) -> None:
        """Move the clock forward."""
        self._ahead += round(microseconds)
        self.tick()
