"""Counts what is done for a stream, and describes it for the log."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tap_leadintent.times import format_interval

_SECONDS_BETWEEN_LINES = 15
"""With fewer, lines about progress would fill the log. With more, a reader of the log
could not tell whether the run is still alive."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Args:
        number: The number.
        noun: The noun in the singular.
        plural: Its plural, where that is not the noun with an s.

    Returns:
        Text such as "1 record" or "1,234 records".
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def describe_steps(steps: Iterable[tuple[str, Sequence[tuple[int, int]]]]) -> str:
    """Describe what a run reads of a stream.

    Args:
        steps: For each step, its time range and the intervals to read, in seconds since
            1970. The range is empty where all records are read.

    Returns:
        Text such as "reading date_found from 2026-01-01T00:00:00Z to
        2026-06-01T00:00:00Z, then latest_signal from …".
    """
    parts = [
        f"{name} {format_interval(interval)}" if name else "all records"
        for name, intervals in steps
        for interval in intervals
    ]
    if not parts:
        return "nothing to read: earlier runs have read what the settings ask for"
    return f"reading {', then '.join(parts)}"


def describe_figures(fields: Mapping[str, Any]) -> str:
    """Describe what was done; delays of zero are omitted.

    Args:
        fields: The figures, see `StreamStats.fields`.

    Returns:
        Text such as "1,200 records, 14 requests, 2 retries, 3.5 s of waiting, 9.1 s".
    """
    texts = [counted(fields[f"{noun}s"], noun) for noun in ("record", "request")]
    if retries := fields["retries"]:
        texts.append(counted(retries, "retry", "retries"))
    if (waited := round(fields["waited_seconds"], 1)) > 0:
        texts.append(f"{waited:,} s of waiting")
    return ", ".join([*texts, f"{fields['seconds']:,.1f} s"])


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
    """When the run began with the stream, by the monotonic clock, if it did."""

    logged_at: float | None = None
    """When the last line about progress was logged, by the same clock."""

    has_failed: bool = False

    reached: str = ""
    """What has been read completely, such as "date_found is read up to …"."""

    def fields(self) -> dict[str, Any]:
        """Return the figures as fields of a log record."""
        seconds = 0.0 if self.began is None else time.monotonic() - self.began
        return {
            "records": self.records,
            "requests": self.requests,
            "retries": self.retries,
            "waited_seconds": round(self.waited_seconds, 3),
            "seconds": round(seconds, 3),
        }

    def log_progress(self, log: Callable[[str], object]) -> None:
        """Log how far the stream has come, but at most every 15 seconds.

        Args:
            log: Logs a line.
        """
        now = time.monotonic()
        if now - (self.logged_at or self.began or now) >= _SECONDS_BETWEEN_LINES:
            self.logged_at = now
            records = f"{counted(self.records, 'record')} so far"
            log("; ".join(filter(None, (records, self.reached))))
