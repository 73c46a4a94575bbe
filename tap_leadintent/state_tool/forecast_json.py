"""What the next run reads, as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.state_tool.predictions import reason_of
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    from tap_leadintent.state_tool.forecast import Forecast
    from tap_leadintent.state_tool.streams import Stream


def forecast_json(stream: Stream, found: Forecast | None) -> dict[str, Any]:
    """Give what a run reads of a stream.

    Args:
        stream: The stream.
        found: What it reads by time ranges; None where it does not.

    Returns:
        Whether the stream is selected, how it is read, and the stretches of each range
        in the order of reading, each with its reason.
    """
    ranges = {} if found is None else _ranges(found)
    return {
        "selected": stream.is_selected,
        "replication_method": "INCREMENTAL" if stream.is_incremental else "FULL_TABLE",
        "ranges": ranges,
    }


def _ranges(found: Forecast) -> dict[str, Any]:
    return {
        each.name: [
            {
                "from": format_instant(start),
                "to": format_instant(end),
                "reason": reason_of(reason, found),
            }
            for (start, end), reason in each.pieces
        ]
        for each in found.ranges
    }


def instant_json(found: Forecast | None, instant: int) -> dict[str, Any]:
    """Give whether an instant is covered, and whether the next run reads it.

    Args:
        found: What it reads by time ranges; None where it does not.
        instant: The instant, in UTC seconds since 1970.

    Returns:
        For each range, `covered`, and the reason for which it is read next, if it is.
    """
    if found is None:
        return {}
    return {
        each.name: {
            "covered": any(a < b and a <= instant <= b for a, b in each.covered),
            "next_run": next(
                (
                    reason_of(reason, found)
                    for (start, end), reason in each.pieces
                    if start <= instant < end
                ),
                None,
            ),
        }
        for each in found.ranges
    }
