"""Describes instants, stretches, sources and states in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tap_leadintent.progress import counted
from tap_leadintent.state_tool.bar import PLAIN, Marks, bar
from tap_leadintent.times import EARLIEST, LATEST, format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.replication.intervals import Interval
    from tap_leadintent.state_tool.facts import RangeFacts, SourceFacts, StreamFacts

FULL_TABLE = "full table; every run reads all of it, so a state has nothing to say"

_MOST_HOLES = 10
"""Lines. More hide the other streams, fewer what is to be repaired; JSON has all."""

_UNITS = {"day": 86_400, "hour": 3_600, "minute": 60}


def length(seconds: int) -> str:
    """Write a length of time.

    Args:
        seconds: The length.

    Returns:
        Such as "152 days" or "1.5 hours".
    """
    for unit, size in _UNITS.items():
        if seconds >= size:
            number = f"{seconds / size:,.1f}".removesuffix(".0")
            return f"{number} {unit if number == '1' else f'{unit}s'}"
    return counted(seconds, "second")


def stretch(interval: Interval) -> str:
    """Write where a stretch begins and ends.

    Args:
        interval: The stretch, in seconds since 1970; `EARLIEST` and `LATEST`
            stand for no bound.

    Returns:
        Such as "from 2026-01-01T00:00:00Z to 2026-01-02T00:00:00Z (1 day)".
    """
    start, end = interval
    since = "" if start == EARLIEST else f"from {format_instant(start)}"
    until = "" if end == LATEST else f"to {format_instant(end)}"
    size = f"({length(end - start)})" if since and until else ""
    return " ".join(filter(None, (since, until, size))) or "at any time"


def about(address: str, filters: str) -> str:
    """Name a source.

    Args:
        address: Its address, empty where a state says none.
        filters: The hash of its filters, empty where there are none.

    Returns:
        Both, as far as they are known.
    """
    told = f"with the filters {filters}" if filters else "without filters"
    return f"{address} {told}".strip()


def describe(facts: StreamFacts, marks: Marks = PLAIN) -> Iterator[str]:
    """Describe what a state says of a stream.

    Args:
        facts: What it says.
        marks: The characters of bars.

    Yields:
        Lines of text.
    """
    name = facts.stream.name
    if facts.is_full_table:
        yield f"{name}: {FULL_TABLE}"
    elif not facts.sources:
        yield f"{name}: nothing is covered"
    else:
        yield name
        for source in facts.sources:
            yield from _source(source, marks)


def _source(facts: SourceFacts, marks: Marks) -> Iterator[str]:
    address, filters = facts.source
    kept = "" if facts.is_current else "; kept, but runs do not go by it now"
    yield f"  {about(address or 'any source', filters)}{kept}"
    start = min(each.span[0] for each in facts.ranges)
    end = max(each.span[1] for each in facts.ranges)
    width = max(len(each.name) for each in facts.ranges)
    for each in facts.ranges:
        drawn = bar(each.pieces, (start, end), marks)
        yield f"    {each.name:{width}} |{drawn}|"
    for each in facts.ranges:
        yield from _range(each, is_current=facts.is_current)


def _range(facts: RangeFacts, *, is_current: bool) -> Iterator[str]:
    newest = facts.span[1]
    holes = facts.holes
    with_holes = f", with {counted(len(holes), 'hole')}" if holes else ""
    yield f"    {facts.name}: covered {stretch(facts.span)}{with_holes}"
    for hole in holes[:_MOST_HOLES]:
        yield f"      hole {stretch(hole)}"
    if len(holes) > _MOST_HOLES:
        yield f"      and {counted(len(holes) - _MOST_HOLES, 'hole')} more"
    yield f"      last extended to {format_instant(newest)}"
    if is_current and facts.lookback:
        again = stretch((newest - facts.lookback, newest))
        yield f"      the lookback reads again {again}"
    if is_current and facts.rechecked is not None:
        yield f"      the recheck was done last at {format_instant(facts.rechecked)}"
