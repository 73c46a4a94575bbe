"""Sums a run up: a line for each stream, one for the run, one for all failures."""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from typing_extensions import override

from tap_leadintent.progress import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tap_leadintent.client import LeadIntentStream


@dataclass
class Outcome:
    """How the streams of a run ended."""

    streams: int
    """How many were selected."""

    failures: dict[str, str] = field(default_factory=dict)
    """The reason for each stream that failed."""

    not_tried: list[str] = field(default_factory=list)
    """Streams that were not tried, because they would have failed like the last one."""

    base_url: str = ""
    """The API's address, if the run was ended for that reason."""


class WarningCounter(logging.Handler):
    """Counts warnings by the logger they came from."""

    def __init__(self) -> None:
        """Start at zero."""
        super().__init__(logging.WARNING)
        self.counts: Counter[str] = Counter()

    @override
    def emit(self, record: logging.LogRecord) -> None:
        # Errors are not counted; they are reported as failures.
        if record.levelno == logging.WARNING:
            self.counts[record.name] += 1


def describe(
    stream: LeadIntentStream,
    before: str | None,
    seconds: float,
    warnings: WarningCounter,
) -> str:
    """Sum up a stream's sync.

    Args:
        stream: The stream, after its sync.
        before: Its newest covered instant before the sync, if any.
        seconds: How long the sync took.
        warnings: The warnings of the run.

    Returns:
        One line.
    """
    tally = stream.tally
    counts = [
        counted(tally.records, "record"),
        counted(tally.requests, "request"),
        counted(tally.retries, "retry", "retries"),
        f"{tally.seconds_waited:.1f} s waited",
        counted(warnings.counts[stream.logger.name], "warning"),
    ]
    # Avoids a division by zero.
    rate = tally.records / max(seconds, 0.001)
    parts = [", ".join(counts), f"{seconds:.1f} s, {rate:,.0f} records a second"]
    if share := stream.progress.share:
        parts.append(share)
    if stream.is_incremental:
        parts.append(_describe_coverage(before, stream.newest_covered))
    return f"{stream.name}: {'; '.join(parts)}"


def _describe_coverage(before: str | None, now: str | None) -> str:
    if now is None:
        return "nothing is covered yet"
    if now == before:
        return f"covered up to {now}, as before"
    was = f"up to {before}" if before else "nothing was"
    return f"covered up to {now}, before this run {was}"


def describe_run(
    streams: Sequence[LeadIntentStream], seconds: float, warnings: WarningCounter
) -> str:
    """Sum up a run.

    Args:
        streams: The streams that were synced.
        seconds: How long that took.
        warnings: The warnings of the run and its streams.

    Returns:
        One line.
    """
    records = sum(stream.tally.records for stream in streams)
    requests = sum(stream.tally.requests for stream in streams)
    return (
        f"{counted(len(streams), 'stream')}, {counted(records, 'record')}, "
        f"{counted(requests, 'request')}, "
        f"{counted(warnings.counts.total(), 'warning')} in {seconds:.1f} s"
    )


def describe_failures(outcome: Outcome) -> str:
    """Name the streams that failed, why, and those that were not tried.

    Args:
        outcome: How the streams of a run ended; at least one failed.

    Returns:
        One line; it states a reason once for all streams that share it.
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in outcome.failures.items():
        by_reason.setdefault(reason.removeprefix(f"{name}: "), []).append(name)
    told = [f"{', '.join(names)}: {reason}" for reason, names in by_reason.items()]
    if outcome.not_tried:
        told.append(f"not tried after that: {', '.join(outcome.not_tried)}")
    if outcome.base_url:
        told.append(f"base_url is {outcome.base_url}")
    failed = f"{len(outcome.failures)} of {outcome.streams} streams failed"
    return f"{failed}: {'; '.join(told)}"
