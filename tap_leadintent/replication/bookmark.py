"""Reads and writes the coverage in a stream's state.

The state holds one list of `{"range", "from", "to", "source", "filters", "key"}`, in
which `source` is an address, and `filters` and `key` are hashes. It is one list because
Meltano merges states key by key but replaces a list as one value. One entry may have
`rechecked` in place of `range`, `from` and `to`: when the recheck was done last.

A run reads and writes the entries of its own source. It keeps the latest entries of
other sources, so that a mistyped address or a change of filters loses no coverage.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import msgspec

from tap_leadintent.replication.intervals import (
    Coverage,
    Interval,
    add,
    cut_off,
    subtract,
    union,
)
from tap_leadintent.replication.source import Source, normalised
from tap_leadintent.singer.log import summarize
from tap_leadintent.times import LATEST, format_instant, parse_instant

RawEntry = dict[str, Any]

COVERAGE = "coverage"
"""Key of the list in a stream's state."""

MAX_OTHERS = 3
"""Other sources whose entries are kept; more would make states longer."""


class _Entry(msgspec.Struct):
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

    rechecked: int | None = None
    """When the last recheck was done, in UTC seconds since 1970; None without one."""

    others: Sequence[RawEntry] = ()
    """Entries of the latest other sources, the latest first."""

    key_mark: str = ""
    """`key_mark` of the API key that the source was last read with, empty if it is
    unknown; the run sets that of its own key."""

    former: Source | None = None
    """The state's last source, if the state covers nothing of this run's source. The
    command `tap-leadintent-state` uses it."""

    problem: str | None = None
    """Why the stream is read from scratch although there is a state, if it is."""

    @classmethod
    def read(cls, state: Mapping[str, Any], source: Source) -> Self:
        """Read a stream's state.

        An entry without a source counts as one of this source's address.

        Args:
            state: The stream's state, of this tap or another.
            source: What the run reads.

        Returns:
            The bookmark. If the state is malformed, or not about the source, nothing is
            covered and `problem` says why. It may quote the state, at any length.
        """
        by_source: dict[Source, list[RawEntry]] = {source: []}
        coverage, rechecked, problem, former = Coverage(), None, None, None
        if state and COVERAGE not in state:
            problem = "its state does not say what has been read"
        try:
            raw = msgspec.convert(state.get(COVERAGE, []), list[dict[str, Any]])
            for entry in raw:
                address = normalised(str(entry.get("source") or source.address))
                its = Source(address, str(entry.get("filters", "")))
                by_source.setdefault(its, []).append({**entry, "source": address})
            # A state that was merged may have several.
            times = [e["rechecked"] for e in by_source[source] if "rechecked" in e]
            rechecked = min((parse_instant(str(time)) for time in times), default=None)
            coverage = _coverage(by_source[source])
        except ValueError as error:
            problem = str(error)
        own = by_source.pop(source)
        key_mark = next((str(each["key"]) for each in own if "key" in each), "")
        if by_source and not problem and not coverage:
            former = next(iter(by_source))
            problem = (
                f"its state was made for {former}, not for {source}; its coverage is "
                "kept"
            )
        others = [*chain(*[*by_source.values()][:MAX_OTHERS])]
        return cls(source, coverage, rechecked, others, key_mark, former, problem)

    def warnings(self, key_mark: str, now: int) -> Iterator[str]:
        """Say what of the state is ignored, and that the API key is another one.

        Args:
            key_mark: `key_mark` of the run's API key.
            now: When the run begins, in UTC seconds since 1970.

        Yields:
            A text for each warning.
        """
        if self.problem:
            yield f"The stream is read from scratch: {summarize(self.problem)}"
        if self.key_mark not in {"", key_mark}:
            yield (
                "api_key is not the one that the state was made with; if it may read "
                "more, such as other sheets, forget the coverage "
                "(tap-leadintent-state forget), as covered time is not read again; if "
                "it belongs to another organization, use a separate state for it"
            )
        ends = [end for covered in self.coverage.values() for _, end in covered]
        if (newest := max(ends, default=now)) > now:
            text = "The state covers a time in the future, up to {}, which is ignored"
            yield text.format(format_instant(newest))

    def cover(
        self,
        names: Sequence[str],
        interval: Interval,
        *,
        until: int = LATEST,
        left_out: Sequence[Interval] = (),
        drops_later: bool = False,
    ) -> None:
        """Extend the coverage by an interval whose rows have been written.

        Args:
            names: The time ranges that the interval is covered of.
            interval: The interval.
            until: What lies after this instant is not covered, in UTC seconds.
            left_out: What could not be read before the interval. It is taken out of the
                coverage: an earlier run may have read it, but it was to be read again,
                and the lookback moves on with the interval.
            drops_later: Whether everything after the interval is taken out of the
                coverage.
        """
        start, end = interval
        if start >= min(end, until):
            return
        for name in names:
            covered = self.coverage.setdefault(name, [])
            for each in left_out:
                covered[:] = subtract(covered, each)
            if drops_later:
                cut_off(covered, end)
            add(covered, (start, min(end, until)))

    def to_state(self) -> list[RawEntry]:
        """Write the list for a state.

        Returns:
            One entry for each interval, by range and time, then those of others.
        """
        address, filters = self.source
        about = {"source": address, "filters": filters, "key": self.key_mark}
        about = {name: text for name, text in about.items() if text}
        entries = [
            {"range": name, "from": format_instant(start), "to": format_instant(end)}
            for name, covered in self.coverage.items()
            for start, end in covered
        ]
        if self.rechecked is not None:
            entries.append({"rechecked": format_instant(self.rechecked)})
        return [*({**entry, **about} for entry in entries), *self.others]


def _coverage(entries: Sequence[RawEntry]) -> Coverage:
    covered = defaultdict[str, list[Interval]](list)
    covering = [each for each in entries if "rechecked" not in each]
    for each in msgspec.convert(covering, list[_Entry]):
        start, end = parse_instant(each.start), parse_instant(each.end)
        # What ends before it begins covers nothing.
        if start <= end:
            covered[each.range].append((start, end))
    return {name: union(covered[name]) for name in covered}
