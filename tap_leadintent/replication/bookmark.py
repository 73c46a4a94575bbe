"""Reads and writes what a stream's state says about its time ranges.

The state holds one list of `{"range", "from", "to", "source", "filters", "key",
"schema"}`, in which `source` is an address, `filters` and `key` are hashes, and
`schema` is where the loader wrote. It is one list because Meltano merges states key by
key but replaces a list as one value. An entry with `hole` is an interval that could not
be read. The newest entry of a range has `settled` if its end is not to be read again.
One entry has the figures of `Caps`.

A run reads and writes the entries of its own source. It keeps the latest entries of
other sources, so that a mistyped address or a change of filters loses no coverage.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

import msgspec

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.intervals import (
    Coverage,
    Interval,
    add,
    cut_off,
    subtract,
    union,
)
from tap_leadintent.replication.source import Source, normalised
from tap_leadintent.times import LATEST, format_instant, parse_instant

RawEntry = dict[str, Any]

COVERAGE = "coverage"
"""Key of the list in a stream's state."""

FIELDS = "fields"
"""Key of a stream's state that has nothing to do with what has been read: the names of
fields and the like that a run has logged, and that later runs need not repeat."""

MAX_OTHERS = 3
"""Other sources whose entries are kept; more would make states longer."""

_FIGURES = ("longest", "page")


class _Entry(msgspec.Struct):
    range: str
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    hole: bool = False
    settled: bool = False


@dataclass
class Bookmark:
    """A stream's state: what has been read of the run's source, and of others."""

    source: Source
    """What the run reads."""

    coverage: Coverage = field(default_factory=dict)
    """What of it is covered; the run extends it."""

    holes: Coverage = field(default_factory=dict)
    """What of it could not be read."""

    settled: set[str] = field(default_factory=set)
    """The ranges whose newest covered instant was so old when it was read that it is
    not to be read again."""

    caps: Caps = field(default_factory=lambda: Caps(0))
    """What its queries have shown."""

    others: Sequence[RawEntry] = ()
    """Entries of the latest other sources, the latest first."""

    key_mark: str = ""
    """`key_mark` of the API key that the source was last read with, empty if it is
    unknown; the run sets that of its own key."""

    load_schema: str = ""
    """The schema of the database that the loader wrote to in the last run, empty if it
    is unknown; the run sets that of its own."""

    former: Source | None = None
    """The state's last source, if the state covers nothing of this run's source. The
    command `tap-leadintent-state` uses it."""

    problem: str | None = None
    """Why the stream is read from scratch although there is a state, if it is."""

    withheld: Sequence[str] = ()
    """The ranges whose entries of other sources are not written."""

    @classmethod
    def read(cls, state: Mapping[str, Any], source: Source, page_size: int = 0) -> Self:
        """Read a stream's state.

        An entry without a source counts as one of this source's address.

        Args:
            state: The stream's state, of this tap or another.
            source: What the run reads.
            page_size: How many records the run asks for in a page.

        Returns:
            The bookmark. If the state is malformed, or not about the source, nothing is
            covered and `problem` says why. It may quote the state, at any length.
        """
        bookmark = cls(source, caps=Caps(page_size))
        if state.keys() - {FIELDS} and COVERAGE not in state:
            bookmark.problem = "its state does not say what has been read"
        by_source: dict[Source, list[RawEntry]] = {source: []}
        try:
            raw = msgspec.convert(state.get(COVERAGE, []), list[dict[str, Any]])
            for entry in raw:
                address = normalised(str(entry.get("source") or source.address))
                its = Source(address, str(entry.get("filters", "")))
                by_source.setdefault(its, []).append({**entry, "source": address})
            bookmark._take(by_source[source])
        except ValueError as error:
            bookmark.problem = f"its state is damaged ({error})"
        own = by_source.pop(source)
        bookmark.key_mark, bookmark.load_schema = (
            next((str(each[name]) for each in own if name in each), "")
            for name in ("key", "schema")
        )
        if by_source and not bookmark.problem and not bookmark.coverage:
            bookmark.former = next(iter(by_source))
            bookmark.problem = (
                f"its state was made for {bookmark.former}, not for {source}; its "
                "coverage is kept"
            )
        bookmark.others = [*chain(*[*by_source.values()][:MAX_OTHERS])]
        return bookmark

    def _take(self, entries: Sequence[RawEntry]) -> None:
        """Take the entries of the run's source."""
        found: dict[bool, dict[str, list[Interval]]] = {False: {}, True: {}}
        ends: dict[str, tuple[int, bool]] = {}
        with_range = [each for each in entries if "range" in each]
        for entry in msgspec.convert(with_range, list[_Entry]):
            start, end = parse_instant(entry.start), parse_instant(entry.end)
            found[entry.hole].setdefault(entry.range, []).append((start, end))
            if not entry.hole:
                newest = (end, entry.settled)
                ends[entry.range] = max(newest, ends.get(entry.range, newest))
        self.coverage, self.holes = (
            {name: union(each) for name, each in found[is_hole].items()}
            for is_hole in (False, True)
        )
        self.settled = {name for name, (_, is_settled) in ends.items() if is_settled}
        for name in _FIGURES:
            figures = (msgspec.convert(each.get(name, 0), int) for each in entries)
            setattr(self.caps, name, max(figures, default=0))

    def cover(
        self,
        name: str,
        interval: Interval,
        *,
        until: int = LATEST,
        settled_to: int = -LATEST,
        drops_later: bool = False,
    ) -> None:
        """Extend the coverage by an interval whose rows have been written.

        Args:
            name: The time range.
            interval: The interval.
            until: What lies after this instant is not covered, in UTC seconds.
            settled_to: Up to this instant, records do not appear late any more.
            drops_later: Whether everything after the interval is taken out of the
                coverage.
        """
        start, end = interval[0], min(interval[1], until)
        if start >= end:
            return
        covered = self.coverage.setdefault(name, [])
        if drops_later:
            cut_off(covered, end)
        add(covered, (start, end))
        self.holes[name] = subtract(self.holes.get(name, []), interval)
        if covered[-1][1] == end:
            (self.settled.add if end <= settled_to else self.settled.discard)(name)

    def leave(self, name: str, interval: Interval) -> None:
        """Note an interval that could not be read, also if it was read before.

        Args:
            name: The time range.
            interval: The interval.
        """
        self.coverage[name] = subtract(self.coverage.get(name, []), interval)
        add(self.holes.setdefault(name, []), interval)

    def to_state(self) -> list[RawEntry]:
        """Write the list for a state.

        Returns:
            One entry for each interval, by range and time, then those of others.
        """
        entries: list[RawEntry] = []
        for name, covered in self.coverage.items():
            entries += map(self._entry, [name] * len(covered), covered)
            if covered and name in self.settled:
                entries[-1]["settled"] = True
        for name, holes in self.holes.items():
            entries += [{**self._entry(name, each), "hole": True} for each in holes]
        if entries:
            figures = {name: getattr(self.caps, name) for name in _FIGURES}
            entries[0] |= {name: n for name, n in figures.items() if n}
        others = [e for e in self.others if e.get("range") not in self.withheld]
        return [*entries, *others]

    def _entry(self, name: str, interval: Interval) -> RawEntry:
        start, end = map(format_instant, interval)
        entry = {"range": name, "from": start, "to": end, "source": self.source.address}
        entry |= {"filters": self.source.filters, "key": self.key_mark}
        entry["schema"] = self.load_schema
        return {name: text for name, text in entry.items() if text}
