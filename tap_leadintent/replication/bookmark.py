"""Reads and writes the coverage in a stream's state.

The state holds one list of `{"range", "from", "to", "source", "filters", "key"}`. It is
one list because Meltano merges states key by key but replaces lists whole. One entry
may have `rechecked` in place of `from` and `to`: when the recheck was done last.
A run reads and writes the entries of its own source. It keeps the latest entries of
other sources, so that a mistyped address or a change of filters loses no coverage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.source import Source, normalised
from tap_leadintent.times import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tap_leadintent.replication.intervals import Interval

    RawEntry = dict[str, Any]

COVERAGE = "coverage"
"""Key of the list in a stream's state."""

MOST_OTHERS = 3
"""Other sources that are kept. More make states long; fewer forget coverage after a few
changes of address or filters."""

_MARKS = ("rechecked", "recheck_from")
"""Fields of an entry that is no interval. Earlier versions wrote the second one, which
does not count any longer."""


class _Entry(msgspec.Struct, omit_defaults=True):
    range: str
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    source: str = ""
    filters: str = ""
    key: str = ""


class _MarkEntry(msgspec.Struct, omit_defaults=True):
    rechecked: str
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
        """Why the state says nothing that can be used; None if it does."""
        self.keys: set[str] = set()
        """The `key_mark` of each key that entries of this address were made with."""
        self.key = ""
        """Mark of the key that the source was last read with, if it is known."""
        self._others = _latest(others)
        self._written: dict[tuple[str, Interval], RawEntry] = {}

    @classmethod
    def read(cls, state: Mapping[str, Any], source: Source) -> Bookmark:
        """Read a stream's state.

        An entry without a source counts as one of this source's address.

        Args:
            state: The stream's state, of this tap or another.
            source: What the run reads.

        Returns:
            The bookmark. If the state is malformed, or only the SDK's, nothing is
            covered and `problem` says why.
        """
        bookmark = cls(source)
        if COVERAGE not in state and "replication_key_value" in state:
            bookmark.problem = (
                "its state has a replication_key_value alone, which does not say what "
                "was found when"
            )
        try:
            bookmark._read_list(state.get(COVERAGE, []))
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
        pieces = [entry for entry in own if entry.keys().isdisjoint(_MARKS)]
        marks = [entry for entry in own if "rechecked" in entry]
        rechecked = [
            parse_instant(mark.rechecked)
            for mark in msgspec.convert(marks, list[_MarkEntry])
        ]
        self.coverage = Coverage(
            map(_piece, msgspec.convert(pieces, list[_Entry])),
            rechecked=min(rechecked, default=None),
        )

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
        marks: list[RawEntry] = []
        if (rechecked := self.coverage.rechecked) is not None:
            mark = _MarkEntry(format_instant(rechecked), *self.source, key)
            marks = [msgspec.to_builtins(mark)]
        return [*self._written.values(), *marks, *self._others]

    def _entry(self, name: str, interval: Interval, key: str) -> RawEntry:
        start, end = map(format_instant, interval)
        entry: RawEntry = msgspec.to_builtins(
            _Entry(name, start, end, *self.source, key)
        )
        return entry


def _piece(entry: _Entry) -> tuple[str, Interval]:
    start, end = parse_instant(entry.start), parse_instant(entry.end)
    if end < start:
        msg = f"in its state, {entry.end} comes before {entry.start}"
        raise ValueError(msg)
    return entry.range, (start, end)


def _source(entry: RawEntry) -> Source:
    return Source(str(entry["source"]), str(entry.get("filters", "")))


def _latest(entries: Iterable[RawEntry]) -> list[RawEntry]:
    """Keep the entries of the latest sources."""
    by_source: dict[Source, list[RawEntry]] = {}
    for entry in entries:
        by_source.setdefault(_source(entry), []).append(entry)
    kept = [*by_source.values()][:MOST_OTHERS]
    return [entry for group in kept for entry in group]
