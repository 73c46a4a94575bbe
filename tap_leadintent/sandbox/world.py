"""All records that the sandbox shows, as of its clock.

What becomes of a record is drawn from `Random(f"{seed}:{stream}:{number}")`, so it is
the same in every process, and in whichever order records are asked for.
"""

import heapq
import json
import math
from collections.abc import Callable, Iterator, Mapping
from itertools import count, islice
from random import Random
from typing import TypeAlias

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS, Axis, Endpoint
from tap_leadintent.sandbox.options import Options
from tap_leadintent.sandbox.records import Draft, Entry, draw_id
from tap_leadintent.sandbox.times import DAY, HOUR, MINUTE, SECOND, format_time

# Probabilities: that a signal moves, and that a first signal is old.
_MOVING = 0.35
_OLD = 0.05

_GRAINS = (SECOND, SECOND, 1000, 1)

_IN_BURSTS = 0.9
_IMPORTED = 0.8


def _office(share: float) -> float:
    days, hour = divmod(share * 365 / 7 * 5 * 8, 8)
    weeks, day = divmod(days, 5)
    return min(0.999999, (weeks * 7 + day + (9 + hour) / 24) / 365)


def _bursts(share: float) -> float:
    burst, inside = divmod(share * 10, 1)
    spent = inside / 9 if inside < _IN_BURSTS else 0.1 + (inside - _IN_BURSTS) * 9
    return (burst + spent) / 10


def _import(share: float) -> float:
    if share < _IMPORTED:
        return 0.3 + share / _IMPORTED * 0.0005
    return 0.3005 + (share - _IMPORTED) * 3.4


SHAPES: Mapping[str, Callable[[float], float]] = {
    "uniform": float,
    "growing": lambda share: share**0.33,
    "office": _office,
    "head": lambda share: 0.75 + share / 4,
    "bursts": _bursts,
    "import": _import,
}
"""By which part of a year's history a share of the records has come.

Office: eight hours, five days of seven. Head: nothing in the first three quarters.
Bursts: nine tenths in ten bursts of less than four days each. Import: nothing for four
months, then four fifths in four hours.
"""

Row: TypeAlias = tuple[int, str, Entry]
"""A record with its time and id; rows sort by these two."""

Change: TypeAlias = tuple[int, int]
"""When the API begins to show a record's new `latest` time, and that time."""


class Shelf:
    """The records of one stream that are visible at the clock.

    Attributes:
        endpoint: The stream's endpoint.
        entries: The records by id.
    """

    def __init__(self, endpoint: Endpoint, options: Options) -> None:
        """Fill with the initial records."""
        self.endpoint = endpoint
        self.entries: dict[str, Entry] = {}
        self._seed, self._shape = options.seed, SHAPES[options.history]
        self._begin, self._start = options.begin, options.start
        self._now, self._span = self._start, self._start - self._begin
        self._size = options.sizes.get(endpoint.stream, endpoint.size)
        self._interval = self._span / self._size if self._size else math.inf
        if endpoint.stream == "leads":
            self._interval = min(DAY, self._interval)
        self._is_by_signal = "latest_signal" in endpoint.ranges
        self._rows: dict[Axis, list[Row]] = {}
        self._tickets = count()
        self._future: list[tuple[int, int, bool, Entry]] = []
        for index in range(self._size):
            entry, changes = self.life(index)
            self.entries[entry.id] = entry
            self._follow(entry, changes)
        self._await_arrival(self._size)

    def life(self, index: int) -> tuple[Entry, Iterator[Change]]:
        """Give a generated record as it first appears, and all that becomes of it."""
        stream = self.endpoint.stream
        rng = Random(f"{self._seed}:{stream}:{index}")
        name = draw_id(rng, stream)
        place = index + rng.random()
        if index < self._size:
            found = self._begin + int(self._shape(place / self._size) * self._span)
            found = max(self._begin, _grained(found, rng))
        else:
            found = self._start + int((place - self._size) * self._interval)
            found = max(self._start + 1, _grained(found, rng))
        latest = found
        if self._is_by_signal:
            lag = MINUTE + rng.expovariate(1 / (12 * HOUR))
            if rng.random() < _OLD:
                lag = rng.uniform(30, 60) * DAY
            latest = _grained(found - int(lag), rng)
        return Entry(name, index, found, latest), self._changes(rng, found)

    def _changes(self, rng: Random, shown: int) -> Iterator[Change]:
        if "latest" not in self.endpoint.times:
            return
        while not self._is_by_signal or rng.random() < _MOVING:
            gap = HOUR + rng.expovariate(1 / (30 * DAY))
            shown = latest = _grained(shown + int(gap), rng)
            if self._is_by_signal:
                shown += max(0, int(rng.uniform(-30, 30) * MINUTE))
            yield shown, latest

    def rows(self, axis: Axis) -> list[Row]:
        """Give all records in ascending order of a time, ties by id."""
        if axis not in self._rows:
            rows = [(getattr(e, axis), e.id, e) for e in self.entries.values()]
            self._rows[axis] = sorted(rows)
        return self._rows[axis]

    def body(self, entry: Entry) -> bytes:
        """Give a record's JSON."""
        if entry.body is not None:
            return entry.body
        stream = self.endpoint.stream
        made = msgspec.json.encode(Draft(stream, self._seed, entry, self._now).record)
        # What an agent says depends on the clock.
        if stream != "signal_agents":
            entry.body = made
        return made

    def times(self, entry: Entry) -> dict[str, str]:
        """Give a record's times by their names, as ISO 8601."""
        named = self.endpoint.times.items()
        return {name: format_time(getattr(entry, axis)) for axis, name in named}

    def put(self, record: object, told: Mapping[str, int]) -> str:
        """Insert or replace a record, visible once the clock reaches its `found`.

        Args:
            record: Any JSON value; a text is its JSON.
            told: Its times, by their names.

        Returns:
            What it can be removed by: its id, or its JSON if it has none.
        """
        text = record if isinstance(record, str) else json.dumps(record)
        content = json.loads(text)
        own = content.get("id") if isinstance(content, dict) else None
        name = text if own is None else str(own)
        known, named = self.entries.get(name), self.endpoint.times
        found = told.get(named["found"]) or (known.found if known else self._now)
        latest = told.get(named.get("latest", "")) or found
        entry = Entry(name, -1, found, latest, body=text.encode())
        self._schedule(found, entry, arrives=True)
        self.advance(self._now)
        return name

    def remove(self, name: str) -> bool:
        """Remove the record with an id for good; say whether it was there."""
        self._rows.clear()
        return self.entries.pop(name, None) is not None

    def advance(self, now: int) -> None:
        """Let everything happen until the given instant."""
        self._now = now
        while self._future and self._future[0][0] <= now:
            self._rows.clear()
            _, _, arrives, entry = heapq.heappop(self._future)
            if arrives:
                self.entries[entry.id] = entry
                if entry.index >= 0:
                    self._await_arrival(entry.index + 1)
            if entry.index >= 0 and self.entries.get(entry.id) is entry:
                _, changes = self.life(entry.index)
                self._follow(entry, islice(changes, entry.version, None))

    def _await_arrival(self, index: int) -> None:
        if self._interval < math.inf:
            entry, _ = self.life(index)
            self._schedule(entry.found, entry, arrives=True)

    def _follow(self, entry: Entry, changes: Iterator[Change]) -> None:
        """Let a record change until now, and schedule what comes next."""
        for shown, latest in changes:
            if shown > self._now:
                self._schedule(shown, entry, arrives=False)
                return
            entry.version, entry.latest, entry.body = entry.version + 1, latest, None

    def _schedule(self, instant: int, entry: Entry, *, arrives: bool) -> None:
        heapq.heappush(self._future, (instant, next(self._tickets), arrives, entry))


def _grained(instant: int, rng: Random) -> int:
    """Round down to whole seconds, milliseconds, or not at all."""
    return instant - instant % _GRAINS[int(rng.random() * 4)]


class World:
    """All streams' records as of one clock.

    Attributes:
        now: The clock, in microseconds since 1970.
        shelves: The visible records, by stream.
    """

    def __init__(self, options: Options) -> None:
        """Build the world as it is at the start."""
        self._options, self._ahead = options, 0
        self.now = options.start
        self.shelves = {name: Shelf(each, options) for name, each in ENDPOINTS.items()}

    def tick(self) -> None:
        """Let everything happen until now; a clock that is set stands."""
        self.now = self._options.start + self._ahead
        for shelf in self.shelves.values():
            shelf.advance(self.now)

    def advance(self, microseconds: float) -> None:
        """Move the clock forward."""
        self._ahead += round(microseconds)
        self.tick()
