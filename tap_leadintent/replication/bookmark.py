"""Reads and writes the coverage in a stream's state.

The state holds one list of `{"range", "from", "to", "source", "filters", "key"}`. It is
one list because Meltano merges states key by key but replaces lists whole. One entry
may have `recheck_from` and `recheck_done` in place of `from` and `to`: it is a `Mark`.
A run reads and writes the entries of its own source. It keeps the latest entries of
other sources, so that a mistyped address or a change of filters loses no coverage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.recheck import Mark
from tap_leadintent.replication.source import Source, normalised
from tap_leadintent.times import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tap_leadintent.replication.intervals import Interval

    RawEntry = dict[str, Any]

COVERAGE = "coverage"
"""Key of the list in a stream's state."""

RECHECK = "recheck_from"
"""A field of the entry that says how far the recheck has come, and of no other."""

MOST_OTHERS = 3
"""Other sources that are kept. More make states long; fewer forget coverage after a few
changes of address or filters."""


class _Entry(msgspec.Struct, omit_defaults=True):
    range: str
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    source: str = ""
    filters: str = ""
    key: str = ""


class _MarkEntry(msgspec.Struct, omit_defaults=True):
    range: str
    place: str = msgspec.field(name=RECHECK)
    done: str = msgspec.field(name="recheck_done")
    source: str = ""
    filters: str = ""
    key: str = ""


class Bookmark:
    """A stream's state: the coverage of the run's source, and of other sources."""

    def __init__(
        self,
        source: Source,
        coverage: Coverage | None = None,
        others: Sequence[RawEntry] = (),
    ) -> None:
        """Create the bookmark.

        Args:
            source: What the run reads.
            coverage: What of this source is covered.
            others: Entries of other sources, the latest first.
        """
        self.source = source
        self.coverage = coverage or Coverage()
        self.problem: str | None = None
        """Why the state is malformed; None if it is not."""
        self.keys: set[str] = set()
        """The `key_mark` of each key that entries of this address were made with."""
        self.key = ""
        """Mark of the key that the source was last read with, if it is known."""
        self._others = _latest(others)
        self._written: dict[tuple[str, Interval], RawEntry] = {}

    @classmethod
    def read(
        cls, state: Mapping[str, Any], source: Source, ranges: Sequence[str], start: int
    ) -> Bookmark:
        """Read a stream's state.

        A state with only the SDK's `replication_key_value` counts as covered from
        `start` to that value. An entry without a source counts as one of this source's
        address.

        Args:
            state: The stream's state, of this tap or another.
            source: What the run reads.
            ranges: The stream's time ranges.
            start: Start of what the settings ask for, in seconds since 1970.

        Returns:
            The bookmark. If the state is malformed, nothing is covered and `problem`
            says why.
        """
        bookmark = cls(source)
        try:
            if COVERAGE in state:
                bookmark._read_list(state[COVERAGE])
            elif value := state.get("replication_key_value"):
                pieces = _from_sdk(parse_instant(str(value)), ranges, start)
                bookmark.coverage = Coverage(pieces)
        except ValueError as error:
            bookmark.problem = str(error)
        return bookmark

    def _read_list(self, entries: object) -> None:
        own: list[RawEntry] = []
        others: list[RawEntry] = []
        for entry in msgspec.convert(entries, list[dict[str, Any]]):
            address = normalised(str(entry.get("source") or self.source.address))
            is_own = (address, entry.get("filters", "")) == self.source
            (own if is_own else others).append({**entry, "source": address})
            if address == self.source.address and "key" in entry:
                self.keys.add(str(entry["key"]))
        self._others = _latest(others)
        self.key = next((str(entry["key"]) for entry in own if "key" in entry), "")
        pieces = [entry for entry in own if RECHECK not in entry]
        self.coverage = Coverage(map(_piece, msgspec.convert(pieces, list[_Entry])))
        for entry in own:
            if RECHECK in entry:
                self.coverage.recheck = _mark(msgspec.convert(entry, _MarkEntry))

    @property
    def others(self) -> list[RawEntry]:
        """Entries of other sources, the latest first."""
        return [*self._others]

    @property
    def former(self) -> Source | None:
        """The state's last source, if the state covers nothing of this run's source."""
        if self._others and not any(self.coverage) and not self.problem:
            return _source(self._others[0])
        return None

    def to_state(self, key: str = "") -> list[RawEntry]:
        """Write the list for a state.

        Args:
            key: `key_mark` of the key that the source is read with.

        Returns:
            One entry for each interval, by range and time, then those of others.
        """
        # Unchanged entries are reused: there may be thousands.
        self._written = {
            piece: self._written.get(piece) or self._entry(*piece, key)
            for piece in self.coverage
        }
        return [*self._written.values(), *self._mark_entries(key), *self._others]

    def _mark_entries(self, key: str) -> Iterator[RawEntry]:
        if mark := self.coverage.recheck:
            place, done = format_instant(mark.place), format_instant(int(mark.done))
            entry = _MarkEntry(mark.name, place, done, *self.source, key)
            raw: RawEntry = msgspec.to_builtins(entry)
            yield raw

    def _entry(self, name: str, interval: Interval, key: str) -> RawEntry:
        start, end = map(format_instant, interval)
        entry: RawEntry = msgspec.to_builtins(
            _Entry(name, start, end, *self.source, key)
        )
        return entry


def _from_sdk(
    newest: int, ranges: Sequence[str], start: int
) -> Iterable[tuple[str, Interval]]:
    first, *others = ranges
    yield first, (min(start, newest), newest)
    for name in others:
        yield name, (newest, newest)


def _piece(entry: _Entry) -> tuple[str, Interval]:
    start, end = parse_instant(entry.start), parse_instant(entry.end)
    if end < start:
        msg = f"in its state, {entry.end} comes before {entry.start}"
        raise ValueError(msg)
    return entry.range, (start, end)


def _mark(entry: _MarkEntry) -> Mark:
    return Mark(entry.range, parse_instant(entry.place), parse_instant(entry.done))


def _source(entry: RawEntry) -> Source:
    return Source(str(entry["source"]), str(entry.get("filters", "")))


def _latest(entries: Iterable[RawEntry]) -> list[RawEntry]:
    """Keep the entries of the latest sources; those without coverage go first."""
    by_source: dict[Source, list[RawEntry]] = {}
    for entry in entries:
        by_source.setdefault(_source(entry), []).append(entry)
    kept = sorted(by_source.values(), key=_has_only_begun)[:MOST_OTHERS]
    return [entry for group in kept for entry in group]


def _has_only_begun(entries: Iterable[RawEntry]) -> bool:
    return all(entry.get("from") == entry.get("to") for entry in entries)
