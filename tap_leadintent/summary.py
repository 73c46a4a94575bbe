"""What a run came to: a line for each stream, and one for all that failed."""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tap_leadintent.client import LeadIntentStream


class WarningCounter(logging.Handler):
    """Counts warnings by the logger they came from."""

    def __init__(self) -> None:
        """Begin at none."""
        super().__init__(logging.WARNING)
        self.counts: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Count a record.

        Args:
            record: A warning, or worse, which is told elsewhere.
        """
        if record.levelno == logging.WARNING:
            self.counts[record.name] += 1


def describe(
    stream: LeadIntentStream, began: str | None, warnings: WarningCounter
) -> str:
    """Sum up what a stream's sync came to.

    Args:
        stream: The stream, after its sync.
        began: Its newest covered instant before the sync, if any.
        warnings: What was counted during the run.

    Returns:
        One line.
    """
    tally = stream.tally
    parts = [
        f"{tally.records} records",
        f"{tally.requests} requests",
        f"{tally.retries} retries",
        f"{tally.seconds_waited:.1f} s waited",
        f"{warnings.counts[stream.logger.name]} warnings",
    ]
    if stream.is_incremental:
        parts.append(f"covered to {began or 'nothing'} before")
        parts.append(f"to {stream.newest_covered or 'nothing'} now")
    return f"{stream.name}: {', '.join(parts)}"


def describe_failures(failures: Mapping[str, str], streams: int) -> str:
    """Name what failed.

    Args:
        failures: The reason for each failed stream.
        streams: How many streams were synced.

    Returns:
        One line; streams that failed for the same reason share it.
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in failures.items():
        by_reason.setdefault(reason.removeprefix(f"{name}: "), []).append(name)
    told = "; ".join(
        f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()
    )
    return f"{len(failures)} of {streams} streams failed: {told}"
