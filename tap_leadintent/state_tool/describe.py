"""Descriptions of states, as lines of text."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.state_tool import bookmarks
from tap_leadintent.state_tool.bookmarks import format_problem
from tap_leadintent.state_tool.document import RawState
from tap_leadintent.state_tool.picture import draw
from tap_leadintent.streams.state import read_bookmark
from tap_leadintent.times import format_instant as _time
from tap_leadintent.times import format_interval, parse_instant

FULL_TABLE = "every run reads all records (full table)"
"""What the commands say about a stream without time ranges."""

HOLE = "could not be read, and is tried again"
"""The reason why a run reads an interval that could not be read."""

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
    config: Mapping[str, Any],
    states: Iterable[RawState],
    now: int,
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
    starts: list[int] = []
    for state in states:
        for covered in read_bookmark(state).coverage.values():
            if covered:
                start, _ = covered[0]
                starts.append(start)
    return min(starts, default=0), now


def describe(
    stream: str,
    state: RawState,
    time: Interval,
) -> Iterator[str]:
    """Yield lines that say what has been read of a stream.

    Args:
        stream: The name of the stream.
        state: Its state.
        time: The interval that the bars show, in UTC seconds since 1970.

    Yields:
        Lines of text.
    """
    bookmark = read_bookmark(state)
    if bookmark.is_empty:
        text = "nothing has been read"
        if bookmarks.is_full_table(stream, state):
            text = FULL_TABLE
        yield f"{stream}: {text}{format_problem(bookmark)}"
        return
    as_of = ""
    if bookmark.planned is not None:
        as_of = f", as of {_time(bookmark.planned)}"
    yield f"{stream}: read completely from {_describe_place(bookmark.place)}{as_of}:"
    for name, covered in bookmark.coverage.items():
        missing = intervals.missing(time, covered)
        yield draw(name, time, {".": missing, "#": covered})
        yield from list_intervals(name, with_reason(covered, ""))
    for name, holes in bookmark.holes.items():
        yield from list_intervals(name, with_reason(holes, HOLE))


def _describe_place(place: Mapping[str, str]) -> str:
    text = place.get("source") or "any address"
    filters = place.get("filters")
    if filters:
        text = f"{text} with the filters {filters}"
    others = [place[name] for name in ("environment", "schema") if name in place]
    if others:
        text = f"{text} ({', '.join(others)})"
    return text


def list_intervals(name: str, found: Reasons) -> Iterator[str]:
    """Yield a line for each of the newest intervals, and count the others.

    Args:
        name: The time range.
        found: Its intervals, each with the reason, which may be empty.

    Yields:
        Lines of text.
    """
    more = len(found) - _MOST_LINES
    if more > 0:
        yield f"  {name}: {more:,} older intervals are not listed"
    for interval, reason in found[-_MOST_LINES:]:
        text = f"  {name} {format_interval(interval)}"
        if reason:
            text = f"{text}: {reason}"
        yield text


def with_reason(found: Iterable[Interval], reason: str) -> Reasons:
    """Return intervals, each with the same reason.

    Args:
        found: The intervals.
        reason: The reason, which may be empty.
    """
    return [(interval, reason) for interval in found]
