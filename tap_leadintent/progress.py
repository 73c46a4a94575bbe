"""Counts what is done for a stream, and describes it for the log."""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from tap_leadintent.times import format_instant
from tap_leadintent.words import counted

_SECONDS_BETWEEN_LINES = 15


def describe_figures(fields: Mapping[str, Any]) -> str:
    """Describe what was done; delays of zero are omitted.

    Args:
        fields: The figures, see `StreamStats.fields`.

    Returns:
        Text such as "1,200 records, 14 requests, 2 retries, 3.5 s of waiting, 9.1 s".
    """
    texts = [
        counted(fields["records"], "record"),
        counted(fields["requests"], "request"),
    ]
    retries = fields["retries"]
    if retries:
        texts.append(counted(retries, "retry", "retries"))
    waited = round(fields["waited_seconds"], 1)
    if waited > 0:
        texts.append(f"{waited:,} s of waiting")
    texts.append(f"{fields['seconds']:,.1f} s")
    return ", ".join(texts)


@dataclass
class PassProgress:
    """How far a run has come with one pass, which reads one range or all records."""

    time_range: str
    """The time range; empty where all records are read."""

    number: str
    """Which of the ranges it is, such as "1 of 2". A range that is read again has the
    same number."""

    read_to: int
    """The end of the newest window that has been read, in seconds since 1970."""

    before: Mapping[str, Any]
    """The figures of the stream when it began."""

    def fields(self) -> dict[str, Any]:
        """Return how far it has come as fields of a log record."""
        return {
            "range": self.time_range or "all records",
            "pass": self.number,
            "read_to": format_instant(self.read_to),
        }

    def __str__(self) -> str:
        """Return text such as "date_found, 1 of 2: read up to 2026-03-15T…"."""
        text = "{range}, {pass}: read up to {read_to}"
        return text.format(**self.fields())


@dataclass
class StreamStats:
    """What a run has done for one stream so far."""

    records: int = 0
    """How many records were emitted."""

    requests: int = 0
    retries: int = 0

    waited_seconds: float = 0.0
    """How long requests waited for their turn, of all threads together."""

    began: float | None = None
    """When the run began with the stream, by the monotonic clock; None before that."""

    logged_at: float | None = None
    """When the last line about progress was logged, by the same clock."""

    ended: float | None = None
    """When the run ended with the stream, by the same clock."""

    ended_at: str | None = None
    """The same by the clock, in UTC."""

    failure: Exception | None = None
    """Why the stream failed; None for a stream that has not failed."""

    is_stopped: bool = False
    """Whether the run had used up its requests before it had read all of the stream."""

    has_succeeded: bool = False
    """Whether the run has ended with the stream without an error, so nothing of it is
    missing."""

    passes: list[PassProgress] = field(default_factory=list)
    """What has been read; the last one is what is being read."""

    monotonic: Callable[[], float] = time.monotonic
    """Returns the seconds of a clock that nobody sets."""

    def fields(self) -> dict[str, Any]:
        """Return the figures as fields of a log record."""
        now = self.ended or self.monotonic()
        seconds = 0.0 if self.began is None else now - self.began
        return {
            "records": self.records,
            "requests": self.requests,
            "retries": self.retries,
            "waited_seconds": round(self.waited_seconds, 3),
            "seconds": round(seconds, 3),
        }

    def end(self) -> None:
        """Note that the run has ended with the stream."""
        self.ended = self.monotonic()
        # No row of the stream is newer.
        self.ended_at = format_instant(ceil(time.time()))

    def figures_by_range(self, default: str) -> dict[str, Counter[str]]:
        """Return the figures of each time range.

        Args:
            default: Gets the figures of passes that read all records.
        """
        figures = defaultdict[str, Counter[str]](Counter)
        after: Mapping[str, Any] = self.fields()
        for progress in reversed(self.passes):
            # A pass ends with the figures that the next one begins with.
            of_range = figures[progress.time_range or default]
            of_range.update(after)
            of_range.subtract(progress.before)
            after = progress.before
        return figures

    def log_progress(
        self,
        logger: logging.Logger,
        stream: str,
    ) -> None:
        """Log how far the stream has come, but at most every 15 seconds.

        Args:
            logger: The stream's logger.
            stream: The stream's name.
        """
        now = self.monotonic()
        last = self.logged_at or self.began or now
        if now - last < _SECONDS_BETWEEN_LINES:
            return
        self.logged_at = now
        text = f"{counted(self.records, 'record')} so far"
        figures = {**self.fields(), "stream": stream}
        # Nobody knows how much of an unfiltered list is left.
        if self.passes and self.passes[-1].time_range:
            progress = self.passes[-1]
            text = f"{progress}; {text}"
            figures |= progress.fields()
        logger.info("%s", text, extra=figures)
