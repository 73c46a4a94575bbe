"""Reads from the settings which time a run asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

from tap_leadintent.replication.plan import DAY, Scope
from tap_leadintent.times import parse_instant


def scope_of(config: Mapping[str, Any], ranges: Sequence[str]) -> Scope:
    """Read the settings.

    Args:
        config: Valid settings, with `start_date`.
        ranges: The stream's time ranges.

    Returns:
        What they ask for.
    """
    end = config.get("end_date")
    return Scope(
        ranges=ranges,
        start=parse_instant(config["start_date"]),
        end=None if end is None else parse_instant(end, round_up=True),
        lookback=int(config["lookback_days"] * DAY),
    )
