"""Reads and writes what a stream's state says about its time ranges.

The state holds one list, because Meltano merges states key by key but replaces a list
as one value. Its first entry is about the stream: the place that the state belongs to,
`planned`, and figures. Each other entry is an interval: its `range`, and the instants
`from` and `to`. It has been read, or if it has `hole`, it could not be read.

An earlier version wrote lists without such a first entry. They are read, too: each of
their intervals names the place, and `settled` says that the newest instant of a range
is not to be read again.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Self

import msgspec

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.ignored import Seen
from tap_leadintent.replication.intervals import (
    Coverage,
    Interval,
    add,
    subtract,
    union,
)
from tap_leadintent.replication.plan import newest_common
from tap_leadintent.times import LATEST, format_instant, parse_instant

RawEntry = dict[str, Any]

_PLACE = ("source", "filters", "environment", "schema")
"""What may be known of a place."""


_AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


class _Interval(msgspec.Struct):
    range: str
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    hole: bool = False
    settled: bool = False


@dataclass
class Bookmark:
    """A stream's state: what has been read and written, and as of when.

    An interval is covered up to the instant to which a response can be complete:

        >>> bookmark = Bookmark.read([])
        >>> bookmark.cover("date_found", (0, 3600), until=1800)
        True
        >>> bookmark.coverage
        {'date_found': [(0, 1800)]}
        >>> bookmark.to_state()[0]
        {'planned': '1970-01-01T00:30:00Z'}
    """

    place: Mapping[str, str] = field(default_factory=dict)
    """What is known of the place that the state belongs to; see `config/place.py`."""

    planned: int | None = None
    """When the last run that has completed a window began, by our clock, or by the
    API's if that was earlier, in UTC seconds since 1970. None if there was no such run,
    or if a state without this instant says that nothing is due to be read again."""

    coverage: Coverage = field(default_factory=dict)
    """What has been read and written; the run extends it."""

    holes: Coverage = field(default_factory=dict)
    """What could not be read."""

    most_pages: dict[str, int] = field(default_factory=dict)
    """The most pages of a window, for each range that needs short ones because runs
    have ended before they completed enough of it."""

    pages_per_year: dict[str, int] = field(default_factory=dict)
    """For each range, how many pages per year there were where the last run ended. A
    run whose windows must be short begins with it, so it needs no probes."""

    caps: Caps = field(default_factory=lambda: Caps(0))
    """What the queries of the stream have shown."""

    seen: dict[str, Seen] = field(default_factory=dict)
    """For each range, what the pages of a window began and ended with. If a window that
    is far from it begins or ends with the same record, the API may have begun to ignore
    the range."""

    problem: str | None = None
    """Why the state cannot be used, so that the stream is read from scratch; else None.
    It may quote the state, at any length."""

    @classmethod
    def read(
        cls,
        content: object,
        page_size: int = 0,
    ) -> Self:
        """Read the list in a stream's state.

        Args:
            content: The list; it may be anything.
            page_size: How many records the run asks for in a page.

        Returns:
            The bookmark. If the list is malformed, nothing is covered, and `problem`
            says why.
        """
        bookmark = cls(caps=Caps(page_size))
        try:
            entries = msgspec.convert(content, list[RawEntry])
            bookmark._read_entries(entries)
        except (ValueError, RecursionError) as error:
            damaged = cls(caps=Caps(page_size))
            damaged.problem = f"its state is damaged ({error})"
            return damaged
        return bookmark

    def _read_entries(self, entries: Sequence[RawEntry]) -> None:
        """Read the entries of a list.

        A list of an earlier version may also hold intervals of other places, after
        those of the last run.
        """
        first = entries[0] if entries else {}
        self._read_about(first)
        covered = defaultdict[str, list[Interval]](list)
        holes = defaultdict[str, list[Interval]](list)
        unsettled = defaultdict[str, list[Interval]](list)
        for raw in entries:
            if "range" not in raw or not self._is_here(raw):
                continue
            entry = msgspec.convert(raw, _Interval)
            start = parse_instant(entry.start)
            end = parse_instant(entry.end)
            found = holes if entry.hole else covered
            found[entry.range].append((start, end))
            if not entry.hole and not entry.settled:
                unsettled[entry.range].append((start, end))
        self.coverage = _joined(covered)
        self.holes = _joined(holes)
        if "range" not in first:
            return
        # The first entry has no `planned`: it is of an earlier version.
        self.place = {"filters": "", **self.place} if "source" in first else {}
        may_be_due = self._reaching_newest(_joined(unsettled))
        self.planned = newest_common(may_be_due)

    def _read_about(self, first: RawEntry) -> None:
        """Read what the first entry says about the stream."""
        place: dict[str, str] = {}
        for name in _PLACE:
            if name in first:
                place[name] = str(first[name])
        self.place = place
        if "planned" in first:
            planned = msgspec.convert(first["planned"], str)
            self.planned = parse_instant(planned)
        if "most_pages" in first:
            most_pages = first["most_pages"]
            self.most_pages = msgspec.convert(most_pages, dict[str, _AtLeastOne])
        if "pages_per_year" in first:
            density = first["pages_per_year"]
            self.pages_per_year = msgspec.convert(density, dict[str, int])
        if "seen" in first:
            self._read_seen(first["seen"])
        if "range" not in first:
            numbers = first.get("caps", [])
            page = first.get("page", 0)
            whole = first.get("whole", 0)
            self.caps.numbers = msgspec.convert(numbers, list[int])
            self.caps.page = msgspec.convert(page, int)
            self.caps.whole = msgspec.convert(whole, int)

    def _read_seen(self, content: object) -> None:
        """Read what a window of each range has begun and ended with."""
        seen = msgspec.convert(content, dict[str, str])
        for name, text in seen.items():
            first, last, start, end = text.split(" ")
            window = (parse_instant(start), parse_instant(end))
            self.seen[name] = Seen(int(first, 16), int(last, 16), window)

    def _reaching_newest(self, found: Coverage) -> Coverage:
        """Return the newest covered interval of each range that ends in `found`, too.

        Args:
            found: Some of the intervals that are covered.
        """
        newest: Coverage = {}
        for name, intervals in found.items():
            last = self.coverage[name][-1]
            if last[1] == intervals[-1][1]:
                newest[name] = [last]
        return newest

    def _is_here(self, entry: RawEntry) -> bool:
        """Return whether an interval belongs to the place of the state."""
        if "source" not in entry:
            return True
        if entry["source"] != self.place.get("source"):
            return False
        filters = entry.get("filters", "")
        return bool(filters == self.place.get("filters", ""))

    @property
    def is_empty(self) -> bool:
        """Whether no run has completed anything."""
        return self.planned is None and not any(self.coverage.values())

    def differing(self, place: Mapping[str, str]) -> list[str]:
        """Return what a place has that differs from the place of the state.

        What one of them does not know does not differ, and a state that covers nothing
        belongs to no place.

        Args:
            place: What is known of the place of a run.

        Returns:
            The names of what differs.
        """
        if self.is_empty:
            return []
        known = sorted(self.place.keys() & place.keys())
        return [name for name in known if self.place[name] != place[name]]

    def cover(
        self,
        name: str,
        interval: Interval,
        until: int,
    ) -> bool:
        """Extend the coverage by an interval whose rows have been written.

        Args:
            name: The time range.
            interval: The interval.
            until: What lies after this instant is not covered, in UTC seconds. It
                becomes `planned`.

        Returns:
            Whether anything of it is covered.
        """
        start, end = interval
        end = min(end, until)
        if start >= end:
            return False
        covered = self.coverage.setdefault(name, [])
        add(covered, (start, end))
        holes = self.holes.get(name, [])
        self.holes[name] = subtract(holes, interval)
        self.planned = until
        return True

    def take_out(
        self,
        name: str,
        start: int,
    ) -> bool:
        """Take everything after an instant out of the coverage, to read it again.

        Args:
            name: The time range.
            start: The instant, in UTC seconds since 1970.

        Returns:
            Whether anything was covered.
        """
        covered = self.coverage.get(name, [])
        self.coverage[name] = subtract(covered, (start, LATEST))
        return self.coverage[name] != covered

    def add_hole(
        self,
        name: str,
        interval: Interval,
    ) -> None:
        """Note an interval that could not be read, also if it was read before.

        Args:
            name: The time range.
            interval: The interval.
        """
        covered = self.coverage.get(name, [])
        self.coverage[name] = subtract(covered, interval)
        holes = self.holes.setdefault(name, [])
        add(holes, interval)

    def to_state(self) -> list[RawEntry]:
        """Write the list for a state.

        Returns:
            An entry about the stream, then one for each interval, by range and time.
        """
        about: RawEntry = {}
        if self.planned is not None:
            about["planned"] = format_instant(self.planned)
        about |= self.place
        seen: dict[str, str] = {}
        for name, each in self.seen.items():
            seen[name] = _seen_text(each)
        figures = {
            "most_pages": self.most_pages,
            "pages_per_year": self.pages_per_year,
            "caps": self.caps.numbers,
            "page": self.caps.page,
            "whole": self.caps.whole,
            "seen": seen,
        }
        for name, figure in figures.items():
            if figure:
                about[name] = figure
        entries = [about] if about else []
        for name, covered in self.coverage.items():
            for interval in covered:
                entry = _entry(name, interval)
                entries.append(entry)
        for name, holes in self.holes.items():
            for hole in holes:
                entry = _entry(name, hole)
                entry["hole"] = True
                entries.append(entry)
        return entries


def _joined(found: Mapping[str, Sequence[Interval]]) -> Coverage:
    """Return the intervals of each range, joined where they touch."""
    joined: Coverage = {}
    for name, intervals in found.items():
        joined[name] = union(intervals)
    return joined


def _entry(
    name: str,
    interval: Interval,
) -> RawEntry:
    start, end = interval
    return {
        "range": name,
        "from": format_instant(start),
        "to": format_instant(end),
    }


def _seen_text(seen: Seen) -> str:
    """Return the two hashes, and where the window begins and ends."""
    start, end = seen.window
    instants = f"{format_instant(start)} {format_instant(end)}"
    return f"{seen.first:08x} {seen.last:08x} {instants}"
