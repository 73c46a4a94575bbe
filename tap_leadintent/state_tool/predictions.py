"""Describes what the next run reads in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tap_leadintent.state_tool.reasons import Reason
from tap_leadintent.state_tool.words import about, length, stretch
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.replication.intervals import Interval
    from tap_leadintent.replication.plan import Asked
    from tap_leadintent.state_tool.forecast import Forecast, RangeForecast
    from tap_leadintent.state_tool.streams import Stream

_WHY = {
    Reason.FIRST: "first load",
    Reason.EARLIER: "earlier than what is covered: start_date has moved back, or it "
    "was forgotten",
    Reason.HOLE: "hole",
    Reason.AGAIN: "again, so that the newest signal comes last: something older is "
    "missing",
    Reason.LOOKBACK: "lookback",
    Reason.RECHECK: "recheck",
    Reason.NEW: "new",
}


def describe_unplanned(stream: Stream) -> str:
    """Describe what a run does with a stream that keeps no state.

    Args:
        stream: The stream, not selected or not incremental.

    Returns:
        A line.
    """
    if not stream.is_selected:
        return f"{stream.name}: nothing; the catalog does not select it"
    return f"{stream.name}: all of it; full table, whatever the state says"


def describe_plan(stream: Stream, found: Forecast) -> Iterator[str]:
    """Say what a run reads of a stream.

    Args:
        stream: The stream.
        found: What it reads.

    Yields:
        Lines of text.
    """
    if found.asked.since > found.now:
        yield f"{stream.name}: nothing; start_date lies in the future"
        return
    yield stream.name
    for each in found.ranges:
        if not each.pieces:
            yield f"  {each.name}: nothing; {_why_nothing(each, found.asked)}"
        elif each.is_everything:
            yield f"  {each.name}: everything, in one chain without a time range; " + (
                _first(found)
            )
        else:
            yield f"  {each.name}"
            for piece, reason in each.pieces:
                why = _first(found) if reason is Reason.FIRST else _WHY[reason]
                yield f"    {stretch(piece)}: {why}"


def _why_nothing(each: RangeForecast, asked: Asked) -> str:
    if each.is_everything:
        return f"what {asked.ranges[0]} reads counts for it"
    if not each.is_first and asked.end is not None:
        return "a run with end_date is a part of a load; one without it reads this"
    return "all that is asked for is covered"


def _first(found: Forecast) -> str:
    former = found.former
    if former is None:
        return _WHY[Reason.FIRST]
    is_filtered = former.address == found.source.address
    told = about(*former) if is_filtered else former.address
    return f"{reason_of(Reason.FIRST, found)}; the state is about {told}"


def reason_of(reason: Reason, found: Forecast) -> str:
    """Name a reason, for people and programs.

    Args:
        reason: Why a stretch is read.
        found: What the next run reads of the stream.

    Returns:
        A few words, such as "hole" or "other source".
    """
    former = found.former
    if reason is not Reason.FIRST or former is None:
        return reason.value
    is_filtered = former.address == found.source.address
    return "other filters" if is_filtered else "other source"


def describe_instant(stream: Stream, found: Forecast, instant: int) -> Iterator[str]:
    """Say whether an instant is covered, and if not, when it will be.

    Args:
        stream: The stream.
        found: What the next run reads of it.
        instant: The instant, in UTC seconds since 1970.

    Yields:
        A line for each time range.
    """
    for each in found.ranges:
        inside = [piece for piece in each.covered if _holds(piece, instant)]
        read = [
            (piece, why)
            for piece, why in each.pieces
            if _holds(piece, instant) and instant < piece[1]
        ]
        told = "covered" if inside else "not covered"
        if read:
            _, why = read[0]
            reason = _first(found) if why is Reason.FIRST else _WHY[why]
            again = " again" if inside else ""
            told += f"; the next run reads it{again} ({reason})"
        elif inside:
            told += f", {stretch(inside[0])}; {_when_again(each, found, instant)}"
        else:
            told += f"; {_when(each, found, instant)}"
        yield f"{stream.name}: {each.name} at {format_instant(instant)}: {told}"


def _holds(piece: Interval, instant: int) -> bool:
    start, end = piece
    return start <= instant <= end and start < end


def _when_again(each: RangeForecast, found: Forecast, instant: int) -> str:
    asked = found.asked
    if asked.recheck is None or not each.is_first or instant < asked.since:
        return "no run reads it again"
    return f"the recheck reads it again within {length(asked.recheck)}"


def _when(each: RangeForecast, found: Forecast, instant: int) -> str:
    asked = found.asked
    if instant >= found.now:
        return "it lies in the future; the first run that begins after it reads it"
    if asked.start is not None and instant < asked.start:
        return (
            f"it lies before start_date ({format_instant(asked.start)}); no run reads "
            "it unless start_date moves back"
        )
    if asked.end is None:
        return f"this run reads everything in one chain, by {asked.ranges[0]}"
    if each.is_first:
        return (
            f"it lies after end_date ({format_instant(asked.end)}); a run without it, "
            "or with a later one, reads it"
        )
    return "a run with end_date does not read this range; one without it does"
