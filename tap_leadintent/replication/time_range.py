"""A time range that an endpoint can be asked for.

API description: "POST /v1/signals/leads", "POST /v1/monitor/signals".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Record = dict[str, Any]


@dataclass(frozen=True)
class TimeRange:
    """All that is particular to one time range of an endpoint."""

    name: str
    """The field of the request's body, such as `date_found`."""

    moves: bool = False
    """Whether a record's time moves, so that the windows are read one after the other.

    A record that moved from a window still to be read into one that has been read ahead
    would be in neither, and nobody would read it again.
    """

    time_of: Callable[[Record], str | None] | None = None
    """Where a record shows the time that the range is about, if it always does."""
