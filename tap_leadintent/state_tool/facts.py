"""What a state says of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.sources import sources
from tap_leadintent.times import EARLIEST, LATEST, format_instant

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tap_leadintent.replication.intervals import Interval
    from tap_leadintent.state_tool.streams import Stream


@dataclass(frozen=True)
class RangeFacts:
    """What is covered of a time range; instants are in UTC seconds since 1970."""

    name: str
    pieces: list[Interval]
    lookback: int
    """`lookback_minutes`, in seconds."""

    rechecked: int | None
    """When the recheck of this range was done last, if it has one."""

    @property
    def span(self) -> Interval:
        """The oldest and the newest covered instant."""
        return self.pieces[0][0], self.pieces[-1][1]

    @property
    def holes(self) -> list[Interval]:
        """What is not covered in between."""
        return intervals.missing(self.span, self.pieces)

    def to_json(self) -> dict[str, Any]:
        """Write the facts as JSON, with instants as text."""
        newest = self.span[1]
        return {
            "covered": [*map(_stretch, self.pieces)],
            "holes": [*map(_stretch, self.holes)],
            "lookback": _stretch((newest - self.lookback, newest)),
            "last_extended": format_instant(newest),
            "rechecked": None
            if self.rechecked is None
            else format_instant(self.rechecked),
        }


@dataclass(frozen=True)
class SourceFacts:
    """What is covered of one source: an address and a set of filters."""

    source: Source
    is_current: bool
    """Whether runs go on from here; otherwise it is only kept."""

    ranges: list[RangeFacts]

    def to_json(self) -> dict[str, Any]:
        """Write the facts as JSON, with instants as text."""
        return {
            "source": self.source.address,
            "filters": self.source.filters,
            "current": self.is_current,
            "ranges": {each.name: each.to_json() for each in self.ranges},
        }


@dataclass(frozen=True)
class StreamFacts:
    """What a state says of a stream."""

    stream: Stream
    sources: list[SourceFacts]

    @property
    def is_full_table(self) -> bool:
        """Whether the stream is read whole, so that there is nothing to say."""
        return not (self.stream.is_incremental or self.sources)

    def to_json(self) -> dict[str, Any]:
        """Write the facts as JSON, with instants as text."""
        return {
            "replication_method": "FULL_TABLE" if self.is_full_table else "INCREMENTAL",
            "sources": [each.to_json() for each in self.sources],
        }


def stream_facts(
    stream: Stream, state: Mapping[str, Any], lookback: int, today: Source | None
) -> StreamFacts:
    """Read what a state says of a stream.

    Args:
        stream: The stream.
        state: Its state, which `read_document` has checked.
        lookback: `lookback_minutes`, in seconds.
        today: What runs read now; None for the source of the last run.

    Returns:
        What is covered, the current source first.
    """
    if not stream.ranges:
        return StreamFacts(stream, [])
    found = sources(state)
    current = today or (found[0] if found else Source("", ""))
    shown = [
        SourceFacts(source, source == current, _ranges(stream, state, source, lookback))
        for source in dict.fromkeys([*([current] if current in found else []), *found])
    ]
    return StreamFacts(stream, [each for each in shown if each.ranges])


def _ranges(
    stream: Stream, state: Mapping[str, Any], source: Source, lookback: int
) -> list[RangeFacts]:
    coverage = Bookmark.read(state, source).coverage
    marks = {stream.ranges[0]: coverage.rechecked}
    return [
        RangeFacts(name, pieces, lookback, marks.get(name))
        for name in stream.ranges
        if (pieces := intervals.overlap(coverage.pieces(name), (EARLIEST, LATEST)))
    ]


def _stretch(interval: Interval) -> dict[str, str]:
    start, end = map(format_instant, interval)
    return {"from": start, "to": end}
