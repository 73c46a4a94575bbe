"""Descriptions of states and of the next run, as lines of text."""

import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from itertools import chain
from typing import Any

from tap_leadintent.config.scope import scope_of
from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.plan import Plan, Scope, Step, make_plan, next_readings
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool import bookmarks
from tap_leadintent.state_tool.bookmarks import RANGES, format_problem
from tap_leadintent.state_tool.document import RawState
from tap_leadintent.state_tool.picture import draw
from tap_leadintent.times import format_instant as _time
from tap_leadintent.times import format_interval, parse_instant

FULL_TABLE = "every run reads all records (full table)"
"""What the commands say about a stream without time ranges."""

_MISSING = "not read yet"
_NEW = "new since the last run"
_HOLE = "could not be read, and is tried again"
_LATE = "read again, as some records appear late (lookback_days)"
_NEWEST_LAST = "read again, so that the newest signal of each lead is loaded last"
_AGAIN = {_LATE, _NEWEST_LAST}

_MOST_LINES = 10
"""The most intervals of a time range that are listed, the newest ones."""

Reasons = list[tuple[Interval, str]]
"""Intervals that a run reads, each with the reason."""


def explain(time: Interval, *, is_plan: bool) -> str:
    """Return the legend of bars.

    Args:
        time: The interval that each bar shows, in UTC seconds since 1970.
        is_plan: Whether the bars show what a run reads.
    """
    legend = "# read, . not read"
    if is_plan:
        legend = "# read, ~ to be read again, . to be read, - not requested"
    return f"Each bar is the time {format_interval(time)}: {legend}"


def shown_time(
    config: Mapping[str, Any], states: Iterable[RawState], now: int
) -> Interval:
    """Return the interval that bars show: from `start_date` to now.

    Args:
        config: Valid settings. Without `start_date`, the interval begins where the
            coverage begins.
        states: The state of each stream.
        now: The present, in UTC seconds since 1970.
    """
    if "start_date" in config:
        return parse_instant(config["start_date"]), now
    coverages = (
        bookmarks.read_last_source(state).coverage.values() for state in states
    )
    starts = (covered[0][0] for covered in chain(*coverages) if covered)
    return min(starts, default=0), now


def describe(stream: str, state: RawState, time: Interval) -> Iterator[str]:
    """Yield lines that say what has been read of a stream.

    Args:
        stream: The name of the stream.
        state: Its state.
        time: The interval that the bars show, in UTC seconds since 1970.

    Yields:
        Lines of text.
    """
    bookmark = bookmarks.read_last_source(state)
    if not bookmark.coverage:
        text = (
            FULL_TABLE
            if bookmarks.is_full_table(stream, state)
            else "nothing has been read"
        )
        yield f"{stream}: {text}{format_problem(bookmark)}"
        return
    yield f"{stream}: read completely from {bookmark.source}:"
    for name, covered in bookmark.coverage.items():
        missing = intervals.missing(time, covered)
        yield draw(name, time, {".": missing, "#": covered})
        yield from _list(name, [(interval, "") for interval in covered])
    for name, holes in bookmark.holes.items():
        yield from _list(name, [(hole, _HOLE) for hole in holes])
    others = ((each["source"], each.get("filters", "")) for each in bookmark.others)
    for other in dict.fromkeys(others):
        yield f"  what has been read of {Source(*other)} is kept for later"


def describe_plan(
    stream: str,
    config: Mapping[str, Any],
    state: RawState,
    time: Interval,
    at: int | None = None,
) -> Iterator[str]:
    """Yield lines that say what the next run reads of an incremental stream, and why.

    Args:
        stream: The name of the stream.
        config: Valid settings.
        state: The state of the stream.
        time: The interval that the bars show, in UTC seconds since 1970. It ends when
            the run begins.
        at: If given, say only whether this instant has been read, and which run reads
            it next.

    Yields:
        Lines of text.
    """
    _, now = time
    scope = scope_of(config, RANGES[stream])
    source = Source.of(config, config["filters"].get(stream, {}))
    bookmark = Bookmark.read(state, source)
    plan = make_plan(
        scope,
        bookmark.coverage,
        now,
        holes=bookmark.holes,
        settled=bookmark.settled,
    )
    first = f"first load{format_problem(bookmark)}"
    prefix = "  " if at is None else f"{stream}: "
    if at is None:
        yield stream
    for text in _describe_settings(stream, config):
        yield prefix + text
    # What the run reads counts as covered afterwards.
    readings = [] if scope.end is not None else next_readings(now, scope.lookback)
    for name in RANGES[stream]:
        covered = plan.coverage.get(name, [])
        reasons = _explain(plan, name, first)
        limits = _describe_scope(scope, name, now)
        if at is not None:
            text = _status_at(at, covered, reasons, limits)
            later = [when for when, again in readings if when - again <= at]
            if later and scope.start <= at:
                text += f"; read again by the first run after {_time(min(later))}"
            yield f"{stream}: {name} at {_time(at)}: {text}"
            continue
        again = [interval for interval, reason in reasons if reason in _AGAIN]
        new = [interval for interval, reason in reasons if reason not in _AGAIN]
        left_out = intervals.missing(time, covered)
        yield draw(name, time, {"~": again, ".": new, "-": left_out, "#": covered})
        yield from _list(name, reasons)
        if not reasons:
            yield f"  {name}: nothing, because {limits}"
        for when, again_seconds in readings[-1:]:
            days = f"{again_seconds / 86_400:.0f} days"
            yield f"  {name}: the first run after {_time(when)} reads {days} again"


def _list(name: str, found: Reasons) -> Iterator[str]:
    """Yield a line for each of the newest intervals, and count the others."""
    if (more := len(found) - _MOST_LINES) > 0:
        yield f"  {name}: {more:,} older intervals are not listed"
    for interval, reason in found[-_MOST_LINES:]:
        yield f"  {name} {format_interval(interval)}{reason and f': {reason}'}"


def _describe_settings(stream: str, config: Mapping[str, Any]) -> Iterator[str]:
    if filters := config["filters"].get(stream):
        text = json.dumps(filters, ensure_ascii=False)
        yield f"only records that match filters.{stream}: {text}"
    if excluded := config["exclude_fields"].get(stream):
        yield f"without the fields of exclude_fields.{stream}: {', '.join(excluded)}"
    for name, fields in config.get("stream_maps", {}).items():
        sets = fields if isinstance(fields, dict) else {}
        is_about_stream = fnmatch(stream, sets.get("__source__", name))
        if is_about_stream and (condition := sets.get("__filter__")):
            place = f"stream_maps.{name}.__filter__"
            yield f"only records for which {place} holds: {condition}"


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
    asked = (scope.start, now if scope.end is None else min(now, scope.end))
    return f"start_date and end_date ask for the time {format_interval(asked)}"


def _explain(plan: Plan, name: str, first: str) -> Reasons:
    """Return what a run reads of a range, divided where the reason changes."""
    covered, reasons = plan.coverage.get(name), Reasons()
    for step in plan.steps:
        if step.range_name != name:
            continue
        if covered:
            reasons += _reasons(step, covered)
        else:
            reasons += ((interval, first) for interval in step.intervals)
    return reasons


def _reasons(step: Step, covered: list[Interval]) -> Reasons:
    """Divide what a step reads where the reason changes, oldest first."""
    asked = [*step.intervals]
    if step.read_again_to is not None:
        asked = [(asked[0][0], step.read_again_to)]
    newest = covered[-1][1]
    reasons: Reasons = []
    for part in asked:
        for gap in intervals.missing(part, covered):
            reason = _NEW if gap[0] >= newest else _MISSING
            reasons.append((gap, _HOLE if gap in step.holes else reason))
        for again in intervals.overlap(covered, part):
            rest = intervals.missing(again, [*step.intervals])
            reasons += ((each, _NEWEST_LAST) for each in rest)
            late = intervals.missing(again, rest)
            reasons += ((each, _LATE) for each in late)
    return sorted(reasons)
