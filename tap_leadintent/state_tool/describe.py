"""Descriptions of states and of the next run, as lines of text."""

from collections.abc import Iterator, Mapping
from typing import Any

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.plan import Plan, RangeRead, Scope, make_plan
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.bookmarks import (
    RANGES,
    format_interval,
    format_problem,
    is_full_table,
    read_last_source,
)
from tap_leadintent.state_tool.document import RawState
from tap_leadintent.times import format_instant

_FULL_TABLE = "every run reads all records (full table)"
_MISSING = "not read yet"
_NEW = "new since the last run"
_LOOKBACK = "read again, as some records appear late (lookback_minutes)"
_RECHECK = "read again, as some records appear very late (recheck_days)"
_NEWEST_LAST = "read again, so that the newest signal of each lead is loaded last"

Reasons = list[tuple[Interval, str]]
"""Intervals that a run reads, each with the reason."""


def describe(stream: str, state: RawState) -> Iterator[str]:
    """Yield lines that say what has been read of a stream.

    Args:
        stream: The name of the stream.
        state: Its state.

    Yields:
        Lines of text.
    """
    bookmark = read_last_source(state)
    if not bookmark.coverage:
        text = _FULL_TABLE if is_full_table(stream, state) else "nothing has been read"
        yield f"{stream}: {text}{format_problem(bookmark)}"
        return
    yield f"{stream}: has been read completely of {bookmark.source}:"
    for name, covered in bookmark.coverage.items():
        for interval in covered:
            yield f"  {name} {format_interval(interval)}"
    if bookmark.rechecked is not None:
        yield f"  the last recheck was at {format_instant(bookmark.rechecked)}"
    others = ((each["source"], each.get("filters", "")) for each in bookmark.others)
    for other in dict.fromkeys(others):
        yield f"  what has been read of {Source(*other)} is kept for later"


def describe_plan(
    stream: str,
    config: Mapping[str, Any],
    state: RawState,
    now: int,
    at: int | None = None,
) -> Iterator[str]:
    """Yield lines that say what the next run reads of a stream, and why.

    Args:
        stream: The name of the stream.
        config: Valid settings.
        state: The state of the stream.
        now: When the run begins, in UTC seconds since 1970.
        at: If given, say only whether this instant has been read, and whether the next
            run reads it.

    Yields:
        Lines of text.
    """
    if is_full_table(stream, state):
        yield f"{stream}: {_FULL_TABLE}"
        return
    scope = Scope.of(config, RANGES[stream])
    source = Source.of(config, config["filters"].get(stream, {}))
    bookmark = Bookmark.read(state, source)
    plan = make_plan(scope, bookmark.coverage, bookmark.rechecked, now)
    first = f"first load{format_problem(bookmark)}"
    if at is None:
        yield stream
    for name in RANGES[stream]:
        reasons = _explain(plan, name, scope.lookback, first)
        limits = _describe_scope(scope, name, now)
        if at is not None:
            text = _status_at(at, plan.coverage[name], reasons, limits)
            yield f"{stream}: {name} at {format_instant(at)}: {text}"
            continue
        for interval, reason in reasons:
            yield f"  {name} {format_interval(interval)}: {reason}"
        if not reasons:
            yield f"  {name}: nothing, because {limits}"


def _status_at(at: int, covered: list[Interval], reasons: Reasons, limits: str) -> str:
    """Return whether an instant has been read, and whether the next run reads it."""
    around = [(start, end) for start, end in covered if start <= at <= end]
    status = f"read, with all {format_interval(around[0])}" if around else _MISSING
    for (start, end), reason in reasons:
        if start <= at < end:
            because = "" if reason == _MISSING else f": {reason}"
            return f"{status}; the next run reads it{because}"
    because = "" if around else f", because {limits}"
    return f"{status}; the next run does not read it{because}"


def _describe_scope(scope: Scope, name: str, now: int) -> str:
    """Return what the settings ask for of a range, as a clause."""
    first = scope.ranges[0]
    if scope.end is not None and name != first:
        return f"a run with end_date reads only {first}"
    until = now if scope.end is None else min(now, scope.end)
    return f"the settings ask for the time {format_interval((scope.since, until))}"


def _explain(plan: Plan, name: str, lookback: int, first: str) -> Reasons:
    """Return what a run reads of a range, divided where the reason changes."""
    covered, reasons = plan.coverage.get(name), Reasons()
    for step in plan.steps:
        if name in step.covers:
            is_recheck = isinstance(step, RangeRead) and step.is_recheck
            if covered and not is_recheck:
                reasons += _reasons(step.intervals, covered, lookback)
            else:
                reason = _RECHECK if is_recheck else first
                reasons += ((interval, reason) for interval in step.intervals)
    return reasons


def _reasons(asked: list[Interval], covered: list[Interval], lookback: int) -> Reasons:
    """Divide what a run reads of a range where the reason changes, oldest first."""
    newest = covered[-1][1]
    gaps = intervals.missing((asked[0][0], asked[-1][1]), covered)
    reasons = [(gap, _NEW if gap[0] >= newest else _MISSING) for gap in gaps]
    # There may be thousands of gaps, but only one or two intervals that are read again.
    for again in {*asked} - {*gaps}:
        for interval in intervals.overlap(covered, again):
            is_lookback = interval[0] >= newest - lookback
            reasons.append((interval, _LOOKBACK if is_lookback else _NEWEST_LAST))
    return sorted(reasons)
