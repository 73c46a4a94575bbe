"""Reads and writes the coverage in a stream's state.

The state holds one list of `{"range", "from", "to", "source", "filters", "key"}`. It is
one list because Meltano merges states key by key but replaces lists whole. One entry
may have `rechecked` in place of `range`, `from` and `to`: when the recheck was done
last. A run reads and writes the entries of its own source. It keeps the latest entries
of other sources, so that a mistyped address or a change of filters loses no coverage.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import msgspec

from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.source import Source, normalised
from tap_leadintent.times import format_instant, parse_instant

RawEntry = dict[str, Any]

COVERAGE = "coverage"
"""Key of the list in a stream's state."""

MOST_OTHERS = 3
"""Other sources that are kept. More make states long; fewer forget coverage after a few
changes of address or filters."""


class _Piece(msgspec.Struct):
    range: str
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")


@dataclass
class Bookmark:
    """A stream's state: the coverage of the run's source, and of other sources."""

    source: Source
    """What the run reads."""

    coverage: Coverage
    """What of it is covered; the run extends it."""

    others: Sequence[RawEntry] = ()
    """Entries of the latest other sources, the latest first."""

    key: str = ""
    """`key_mark` of the key that the source was last read with, if it is known."""

    problem: str | None = None
    """Why the state says nothing that can be used; None if it does."""

    @classmethod
    def read(cls, state: Mapping[str, Any], source: Source) -> Self:
        """Read a stream's state.

        An entry without a source counts as one of this source's address.

        Args:
            state: The stream's state, of this tap or another.
            source: What the run reads.

        Returns:
            The bookmark. If the state is malformed, or only the SDK's, nothing is
            covered and `problem` says why.
        """
        by_source: dict[Source, list[RawEntry]] = {source: []}
        coverage, problem = Coverage(), None
        if COVERAGE not in state and "replication_key_value" in state:
            problem = (
                "its state has a replication_key_value alone, which does not say what "
                "was found when"
            )
        try:
            raw = msgspec.convert(state.get(COVERAGE, []), list[dict[str, Any]])
            for entry in raw:
                address = normalised(str(entry.get("source") or source.address))
                its = Source(address, str(entry.get("filters", "")))
                by_source.setdefault(its, []).append({**entry, "source": address})
            coverage = _coverage(by_source[source])
        except ValueError as error:
            problem = str(error)
        own = by_source.pop(source)
        key = next((str(entry["key"]) for entry in own if "key" in entry), "")
        others = [*chain(*[*by_source.values()][:MOST_OTHERS])]
        return cls(source, coverage, others, key, problem)

    @property
    def former(self) -> Source | None:
        """The state's last source, if the state covers nothing of this run's source."""
        if self.others and not any(self.coverage) and not self.problem:
            last = self.others[0]
            return Source(str(last["source"]), str(last.get("filters", "")))
        return None

    def to_state(self, key: str = "") -> list[RawEntry]:
        """Write the list for a state.

        Args:
            key: `key_mark` of the key that the source is read with.

        Returns:
            One entry for each interval, by range and time, then those of others.
        """
        about = {"source": self.source.address, "filters": self.source.filters}
        about = {name: text for name, text in {**about, "key": key}.items() if text}
        entries = [
            {"range": name, "from": format_instant(start), "to": format_instant(end)}
            for name, (start, end) in self.coverage
        ]
        if (rechecked := self.coverage.rechecked) is not None:
            entries.append({"rechecked": format_instant(rechecked)})
        return [*({**entry, **about} for entry in entries), *self.others]


def _coverage(entries: Sequence[RawEntry]) -> Coverage:
    marks = [str(each["rechecked"]) for each in entries if "rechecked" in each]
    # Earlier versions wrote marks of another kind, which do not count.
    pieces = [each for each in entries if "range" in each]
    return Coverage(
        map(_covered, msgspec.convert(pieces, list[_Piece])),
        rechecked=min(map(parse_instant, marks), default=None),
    )


def _covered(piece: _Piece) -> tuple[str, Interval]:
    start, end = parse_instant(piece.start), parse_instant(piece.end)
    if end < start:
        msg = f"in its state, {piece.end} comes before {piece.start}"
        raise ValueError(msg)
    return piece.range, (start, end)


def changes(bookmarks: Mapping[str, Bookmark], mark: str) -> Iterator[str]:
    """Find what has changed since a state was made.

    Args:
        bookmarks: The bookmark of each stream that the run reads by ranges.
        mark: `key_mark` of the run's key.

    Yields:
        A line for each change of the source, and one if the key has changed. They may
        quote the state, at any length.
    """
    moved: dict[str, list[str]] = {}
    for name, bookmark in bookmarks.items():
        if (former := bookmark.former) is None:
            continue
        if former.address != bookmark.source.address:
            moved.setdefault(former.address, []).append(name)
        else:
            yield (
                f"{name}: The stream starts anew, as its filters have changed; the "
                "coverage with other filters is kept"
            )
    for address, names in moved.items():
        now = bookmarks[names[0]].source.address
        yield (
            f"base_url is {now}, but the state of {', '.join(names)} was made with "
            f"{address}; everything is read anew, and the coverage of that address is "
            "kept"
        )
    if names := [n for n, each in bookmarks.items() if each.key not in {"", mark}]:
        yield (
            f"api_key is not the one that the state of {', '.join(names)} was made "
            "with; if it belongs to another organization, use a separate state for it"
        )
