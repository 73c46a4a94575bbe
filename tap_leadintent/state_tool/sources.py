"""Finds and changes the sources in a stream's state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.replication.bookmark import COVERAGE
from tap_leadintent.replication.source import Source, normalised

if TYPE_CHECKING:
    from collections.abc import Mapping


def sources(state: Mapping[str, Any]) -> list[Source]:
    """Find the sources in a stream's state.

    Args:
        state: The stream's state.

    Returns:
        Each source in it, that of the last run first. An entry without a source counts
        as of the last run's address, which is empty where no entry has one.

    Raises:
        ValueError: Its coverage is not a list of entries.
    """
    entries = msgspec.convert(state.get(COVERAGE, []), list[dict[str, Any]])
    last = next((entry["source"] for entry in entries if entry.get("source")), "")
    found = (
        Source(
            normalised(str(entry.get("source") or last)), str(entry.get("filters", ""))
        )
        for entry in entries
    )
    return list(dict.fromkeys(found))


def moved(
    state: Mapping[str, Any], from_address: str, to_address: str
) -> dict[str, Any]:
    """Change the address in a stream's state.

    Args:
        state: The stream's state, whose entries `sources` can read.
        from_address: The old address, as `normalised` writes it.
        to_address: The new address.

    Returns:
        The state; entries of further addresses, or without one, are unchanged.
    """
    entries = [
        {**entry, "source": to_address}
        if normalised(str(entry.get("source", ""))) == from_address
        else entry
        for entry in state.get(COVERAGE, [])
    ]
    return {**state, COVERAGE: entries} if COVERAGE in state else {**state}
