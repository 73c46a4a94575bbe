"""What the next run reads of a stream, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.plan import Asked, Plan, make_plan
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.reasons import Reason, reasons

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tap_leadintent.replication.intervals import Interval
    from tap_leadintent.state_tool.streams import Stream


class RangeForecast(NamedTuple):
    """What a run reads of a time range; instants are in UTC seconds since 1970."""

    name: str
    is_first: bool
    pieces: list[tuple[Interval, Reason]]
    """What it reads, each piece with its reason: oldest first, then the recheck."""

    covered: list[Interval]
    """What the state covers."""

    is_everything: bool
    """Whether all records are read in one unfiltered chain, which counts for it."""


class Forecast(NamedTuple):
    """What a run reads of an incremental stream."""

    asked: Asked
    source: Source
    former: Source | None
    """What the state was last about, if it says nothing of today's source."""

    now: int
    ranges: list[RangeForecast]
    """All of the stream's."""


def source_of(stream: Stream, config: Mapping[str, Any]) -> Source:
    """Give what a run reads.

    Args:
        stream: The stream.
        config: Valid settings.

    Returns:
        The address, and a hash of the stream's filters.
    """
    return Source.of(config, config["filters"].get(stream.name, {}))


def forecast(
    stream: Stream, config: Mapping[str, Any], state: Mapping[str, Any], now: int
) -> Forecast:
    """Work out what a run reads of a stream.

    Args:
        stream: The stream, which is incremental.
        config: Valid settings.
        state: The stream's state.
        now: When the run begins, in UTC seconds since 1970.

    Returns:
        What it reads and why.
    """
    asked = Asked.by(config, stream.ranges)
    source = source_of(stream, config)
    bookmark = Bookmark.read(state, source)
    former = bookmark.former
    plan = make_plan(asked, bookmark.coverage, now)
    ranges = [_forecast(plan, asked, name) for name in stream.ranges]
    return Forecast(asked, source, former, now, ranges)


def _forecast(plan: Plan, asked: Asked, name: str) -> RangeForecast:
    covered = plan.coverage.pieces(name)
    pieces: list[tuple[Interval, Reason]] = []
    for step in plan.steps:
        if step.name == name and step.is_recheck:
            pieces += [(stretch, Reason.RECHECK) for stretch in step.stretches]
        elif step.name == name:
            pieces += reasons(step.stretches, covered, asked.lookback)
    is_everything = any(s.is_unfiltered and name in s.covers for s in plan.steps)
    return RangeForecast(name, name == asked.ranges[0], pieces, covered, is_everything)
