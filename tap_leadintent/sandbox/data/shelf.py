"""One stream's visible records, ordered by time, as of the clock."""

from __future__ import annotations

import heapq
import json
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from tap_leadintent.sandbox.data.draft import Draft, record_id
from tap_leadintent.sandbox.data.draws import stream_key
from tap_leadintent.sandbox.data.records import BUILDERS
from tap_leadintent.sandbox.data.timeline import Change, Timeline

if TYPE_CHECKING:
    from tap_leadintent.sandbox.endpoints import Axis, Endpoint
    from tap_leadintent.sandbox.options import Options


@dataclass(slots=True, eq=False)
class Entry:
    """A record with its times, in microseconds since 1970.

    Attributes:
        id: The record's id.
        index: Number in its stream; -1 if the record was put in by hand.
        found: When it appeared.
        latest: Time of its current signal or activity.
        version: How often it has changed.
        body: Its JSON, once that has been asked for.
        replaced: Time of the signal that came after it; none while it is current.
    """

    id: str
    index: int
    found: int
    latest: int
    version: int = 0
    body: bytes | None = None
    replaced: int | None = None


Row: TypeAlias = tuple[int, str, Entry]
"""A record with its time and id; rows sort by these two."""


class Shelf:
    """The records of one stream that are visible at the clock."""

    def __init__(self, endpoint: Endpoint, options: Options) -> None:
        """Fill with the initial records."""
        self.endpoint = endpoint
        self.entries: dict[str, Entry] = {}
        self._now = options.start
        self._seed = options.seed
        self._key = stream_key(options.seed, endpoint.stream)
        self._rows: dict[Axis, list[Row]] = {}
        self._keeps_past = options.signals == "each" and endpoint.changes == "signals"
        self._past: list[Entry] = []
        """Records as they were at each of their earlier signals."""
        self._tickets = count()
        self._future: list[tuple[int, int, Entry, Change | None]] = []
        self._timeline = Timeline(endpoint, options)
        for index in range(self._timeline.size):
            found = self._timeline.found(index)
            self._appear(index, found, self._timeline.moving_from(found))
        self._arrivals = self._timeline.arrivals()
        self._arrival = next(self._arrivals, None)

    def rows(self, axis: Axis) -> list[Row]:
        """Give all records in ascending order of a time, ties by id."""
        if (rows := self._rows.get(axis)) is None:
            if axis == "found":
                rows = [(e.found, e.id, e) for e in self.entries.values()]
            else:
                shown = [*self.entries.values(), *self._past]
                rows = [(e.latest, e.id, e) for e in shown]
            rows.sort()
            self._rows[axis] = rows
        return rows

    def body(self, entry: Entry) -> bytes:
        """Give a record's JSON."""
        if entry.body is None:
            draft = Draft(
                seed=self._seed,
                key=self._key,
                id=entry.id,
                index=entry.index,
                version=entry.version,
                found=entry.found,
                latest=entry.latest,
                now=self._now,
            )
            build = BUILDERS[self.endpoint.stream]
            entry.body = msgspec.json.encode(build(draft))
        return entry.body

    def record(self, entry: Entry) -> object:
        """Give a record decoded."""
        record: object = json.loads(self.body(entry))
        return record

    def put(self, entry: Entry) -> None:
        """Insert or replace a record, visible once the clock reaches `found`."""
        if entry.found <= self._now:
            self.entries[entry.id] = entry
            self._rows.clear()
        else:
            self._schedule(entry.found, entry, None)

    def remove(self, name: str) -> bool:
        """Remove the record with an id for good; say whether it was there."""
        self._rows.clear()
        self._past = [entry for entry in self._past if entry.id != name]
        return self.entries.pop(name, None) is not None

    def ticket(self) -> int:
        """Give a number that this shelf gives only once."""
        return next(self._tickets)

    def advance(self, now: int) -> None:
        """Let everything happen until the given instant."""
        self._now = now
        while self._arrival is not None and self._arrival[1] <= now:
            index, found = self._arrival
            self._appear(index, found, found, catch_up=False)
            self._arrival = next(self._arrivals, None)
        while self._future and self._future[0][0] <= now:
            _, _, entry, change = heapq.heappop(self._future)
            if change is None:
                self.entries[entry.id] = entry
            elif self.entries.get(entry.id) is entry:
                self._change(entry, change)
        self._rows.clear()
        if self.endpoint.volatile:
            for entry in self.entries.values():
                if entry.index >= 0:
                    entry.body = None

    def _appear(
        self, index: int, found: int, after: int, *, catch_up: bool = True
    ) -> None:
        latest = self._timeline.first(index, found)
        name = record_id(self._seed, self.endpoint.stream, index)
        entry = Entry(name, index, found, latest)
        change = self._timeline.change(index, 0, after)
        while catch_up and change is not None and change.visible_at <= self._now:
            self._move(entry, change)
            after = change.visible_at
            change = self._timeline.change(index, entry.version, after)
        if change is not None:
            self._schedule(change.visible_at, entry, change)
        self.entries[name] = entry

    def _change(self, entry: Entry, change: Change) -> None:
        if change.leaves:
            del self.entries[entry.id]
            return
        self._move(entry, change)
        follow = self._timeline.change(entry.index, entry.version, change.visible_at)
        if follow is not None:
            self._schedule(follow.visible_at, entry, follow)

    def _move(self, entry: Entry, change: Change) -> None:
        if self._keeps_past:
            self._past.append(replace(entry, replaced=change.time))
        entry.version += 1
        entry.latest = change.time
        entry.body = None

    def _schedule(self, instant: int, entry: Entry, change: Change | None) -> None:
        heapq.heappush(self._future, (instant, self.ticket(), entry, change))
