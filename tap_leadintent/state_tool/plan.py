"""Descriptions of what the next run reads, as lines of text."""

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatch
from typing import Any

from tap_leadintent.config.place import describe_other_place, place_of
from tap_leadintent.config.scope import scope_of
from tap_leadintent.config.settings import Settings
from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.replication.plan import Scope, next_readings, without_due
from tap_leadintent.replication.run import OLDEST_SIGNAL
from tap_leadintent.state_tool.bookmarks import HAS_TIMES, RANGES, format_problem
from tap_leadintent.state_tool.describe import (
    HOLE,
    Reasons,
    list_intervals,
    with_reason,
)
from tap_leadintent.state_tool.document import RawState
from tap_leadintent.state_tool.picture import draw
from tap_leadintent.streams.state import read_bookmark
from tap_leadintent.times import format_instant as _time
from tap_leadintent.times import format_interval

COUNTS_WRITTEN = "loads then says how many rows the run has written"
"""What the commands say about rows without a time, with `load_receipts`."""

_COUNTS_INSIDE = "loads then says how many rows the table must have"
_MISSING = "not read yet"
_NEW = "new since the last run"
_LATE = "read again, as some records appear late (lookback_days)"
_NEWEST_LAST = "read again, so that the newest signal of each lead is loaded last"
_AGAIN = {_LATE, _NEWEST_LAST}


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
    settings = Settings.of(config)
    scope = scope_of(settings, RANGES[stream])
    bookmark = read_bookmark(state)
    prefix = "  " if at is None else f"{stream}: "
    if at is None:
        yield stream
    place = place_of(settings, stream)
    differing = bookmark.differing(place)
    if differing:
        other = describe_other_place(
            stream,
            differing,
            bookmark.place,
            place,
        )
        yield f"{prefix}the run fails; {other}"
        return
    for text in _describe_settings(stream, config):
        yield prefix + text
    before = bookmark.coverage
    coverage = without_due(scope, before, bookmark.planned, now)
    # What the run reads counts as covered afterwards.
    readings = [] if scope.end is not None else next_readings(now, scope.lookback)
    for name in RANGES[stream]:
        covered = coverage[name]
        reasons = _explain(
            name,
            scope,
            bookmark,
            coverage,
            now,
        )
        limits = _describe_scope(scope, name, now)
        if at is not None:
            text = _status_at(
                at,
                before.get(name, []),
                reasons,
                limits,
            )
            later = [when for when, again in readings if when - again <= at]
            if later and scope.start <= at:
                next_reading = _time(min(later))
                text = f"{text}; read again by the first run after {next_reading}"
            yield f"{stream}: {name} at {_time(at)}: {text}"
            continue
        yield _draw_plan(name, time, covered, reasons)
        yield from list_intervals(name, reasons)
        if not reasons:
            yield f"  {name}: nothing, because {limits}"
        elif config["load_receipts"]:
            yield _describe_count(stream, name, reasons)
        for when, again_seconds in readings[-1:]:
            days = f"{again_seconds / 86_400:.0f} days"
            yield f"  {name}: the first run after {_time(when)} reads {days} again"


def _describe_count(
    stream: str,
    name: str,
    reasons: Reasons,
) -> str:
    """Return which rows of a range can be compared with the table after a run."""
    if name not in HAS_TIMES[stream]:
        return f"  {name}: {COUNTS_WRITTEN}"
    read = intervals.union(interval for interval, _ in reasons)
    return f"  {name} {format_interval(read[-1])}: {_COUNTS_INSIDE}"


def _draw_plan(
    name: str,
    time: Interval,
    covered: list[Interval],
    reasons: Reasons,
) -> str:
    """Draw what a run reads of a range."""
    again: list[Interval] = []
    new: list[Interval] = []
    for interval, reason in reasons:
        if reason in _AGAIN:
            again.append(interval)
        else:
            new.append(interval)
    marks = {
        "~": again,
        ".": new,
        "-": intervals.missing(time, covered),
        "#": covered,
    }
    return draw(name, time, marks)


def _describe_settings(
    stream: str,
    config: Mapping[str, Any],
) -> Iterator[str]:
    filters = config["filters"].get(stream)
    if filters:
        text = json.dumps(filters, ensure_ascii=False)
        yield f"only records that match filters.{stream}: {text}"
    excluded = config["exclude_fields"].get(stream)
    if excluded:
        yield f"without the fields of exclude_fields.{stream}: {', '.join(excluded)}"
    for name, fields in config.get("stream_maps", {}).items():
        sets = fields if isinstance(fields, dict) else {}
        condition = sets.get("__filter__")
        source = sets.get("__source__", name)
        if condition and fnmatch(stream, source):
            place = f"stream_maps.{name}.__filter__"
            yield f"only records for which {place} holds: {condition}"


def _status_at(
    at: int,
    covered: list[Interval],
    reasons: Reasons,
    limits: str,
) -> str:
    """Return whether an instant has been read, and whether the next run reads it."""
    status = _MISSING
    because = f", because {limits}"
    for start, end in covered:
        if start <= at <= end:
            status = f"read, with all {format_interval((start, end))}"
            because = ""
            break
    for (start, end), reason in reasons:
        if start <= at < end:
            because = "" if reason == _MISSING else f": {reason}"
            return f"{status}; the next run reads it{because}"
    return f"{status}; the next run does not read it{because}"


def _describe_scope(
    scope: Scope,
    name: str,
    now: int,
) -> str:
    """Return what the settings ask for of a range, as a clause."""
    first = scope.ranges[0]
    if scope.end is not None and name != first:
        return f"a run with end_date reads only {first}"
    asked = (scope.start, now if scope.end is None else min(now, scope.end))
    return f"start_date and end_date ask for the time {format_interval(asked)}"


def _explain(
    name: str,
    scope: Scope,
    bookmark: Bookmark,
    coverage: Coverage,
    now: int,
) -> Reasons:
    """Return what a run reads of a range, divided where the reason changes.

    Args:
        name: The range.
        scope: What is to be read.
        bookmark: What earlier runs have read.
        coverage: What of it counts as covered when the run begins.
        now: When the run begins, in UTC seconds since 1970.
    """
    if name not in scope.ranges_to_read:
        return []
    asked = (scope.start, scope.until(now))
    first = f"first load{format_problem(bookmark)}"
    before = bookmark.coverage.get(name, [])
    holes = bookmark.holes.get(name, [])
    newest = before[-1][1] if before else asked[0]
    reasons: Reasons = []
    for part in intervals.missing(asked, coverage[name]):
        known = intervals.union([*before, *holes])
        for gap in intervals.missing(part, known):
            if bookmark.is_empty:
                reason = first
            elif gap[0] >= newest:
                reason = _NEW
            else:
                reason = _MISSING
            reasons.append((gap, reason))
        reasons += with_reason(intervals.overlap(holes, part), HOLE)
        reasons += with_reason(intervals.overlap(before, part), _LATE)
    since = _read_again_from(
        name,
        scope,
        reasons,
        coverage,
        asked,
    )
    if since is not None:
        start, end = asked
        newest_part = (max(since, start), end)
        again = intervals.overlap(coverage[name], newest_part)
        reasons += with_reason(again, _NEWEST_LAST)
    return sorted(reasons)


def _read_again_from(
    name: str,
    scope: Scope,
    reasons: Reasons,
    coverage: Coverage,
    asked: Interval,
) -> int | None:
    """Return from when on a later range is read again, as older intervals are read."""
    first = scope.ranges[0]
    covered = coverage[name]
    if name == first or not covered:
        return None
    newest = covered[-1][1]
    starts: list[int] = []
    for (_, end), reason in reasons:
        is_older = end < newest
        if is_older and reason != HOLE:
            starts.append(end)
    for start, _ in intervals.missing(asked, coverage[first]):
        oldest_signal = start - OLDEST_SIGNAL
        if start < newest:
            starts.append(oldest_signal)
    return min(starts, default=None)
