"""Reads from the settings which time a run asks for."""

from collections.abc import Sequence

from tap_leadintent.config.settings import Settings
from tap_leadintent.replication.plan import Scope


def scope_of(settings: Settings, ranges: Sequence[str]) -> Scope:
    """Return what the settings ask for of a stream.

    Args:
        settings: The settings.
        ranges: The stream's time ranges.

    Returns:
        The time that they ask for.
    """
    return Scope(
        ranges=ranges,
        start=settings.start,
        end=settings.end,
        lookback=settings.lookback,
    )
