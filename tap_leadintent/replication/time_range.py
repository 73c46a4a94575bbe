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
    """The properties of one time range of an endpoint."""

    name: str
    """The field of the request's body, such as `date_found`."""

    time_of: Callable[[Record], str | None] | None = None
    """Gives a record's time in this range; None if records do not show it."""
