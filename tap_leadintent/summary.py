"""What a run came to: a line for each stream, and one for all that failed."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tap_leadintent.client import LeadIntentStream


@dataclass
class Outcome:
    """How the streams of a run ended."""

    streams: int
    """How many were selected."""

    failures: dict[str, str] = field(default_factory=dict)
    """The reason for each stream that failed."""

    not_tried: list[str] = field(default_factory=list)
    """Streams that were not tried, as they would have failed like the one before."""


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


def describe_failures(outcome: Outcome) -> str:
    """Name what failed, and what was not tried.

    Args:
        outcome: How the streams of a run ended; one failed at least.

    Returns:
        One line; streams that failed for the same reason share it.
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in outcome.failures.items():
        by_reason.setdefault(reason.removeprefix(f"{name}: "), []).append(name)
    told = [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]
    if outcome.not_tried:
        told.append(f"not tried after that: {', '.join(outcome.not_tried)}")
    failed = f"{len(outcome.failures)} of {outcome.streams} streams failed"
    return f"{failed}: {'; '.join(told)}"
