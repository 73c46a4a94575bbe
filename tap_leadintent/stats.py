"""Counts what is done for a stream, for the log: as a text, and as fields of a line."""

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tap_leadintent.progress import counted


@dataclass
class StreamStats:
    """What a run has done for one stream so far."""

    records: Counter[str] = field(default_factory=Counter)
    """How many records were emitted, by what they were read for."""

    requests: int = 0
    retries: int = 0

    waited_seconds: float = 0.0
    """How long requests waited for their turn, of all threads together."""

    began: float | None = None
    """When the run began with the stream, by the monotonic clock, if it did."""

    has_failed: bool = False

    def fields(self) -> dict[str, Any]:
        """Return the figures as fields of a log record."""
        seconds = 0.0 if self.began is None else time.monotonic() - self.began
        return {
            "records": self.records.total(),
            "requests": self.requests,
            "retries": self.retries,
            "waited_seconds": round(self.waited_seconds, 3),
            "seconds": round(seconds, 3),
        }


def describe_figures(
    fields: Mapping[str, Any], kinds: Mapping[str, int] | None = None
) -> str:
    """Describe what was done; delays of zero are omitted.

    Args:
        fields: The figures, see `StreamStats.fields`.
        kinds: How many records were read for what.

    Returns:
        Text such as "1,200 records (update: 1,100, recheck: 100), 14 requests (2
        retries, 3.5 s of waiting), 9.1 s".
    """
    records = counted(fields["records"], "record")
    if kinds and len(kinds) > 1:
        records += f" ({', '.join(f'{kind}: {n:,}' for kind, n in kinds.items())})"
    delays = []
    if retries := fields["retries"]:
        delays.append(counted(retries, "retry", "retries"))
    if (waited := round(fields["waited_seconds"], 1)) > 0:
        delays.append(f"{waited:,} s of waiting")
    requests = counted(fields["requests"], "request")
    if delays:
        requests += f" ({', '.join(delays)})"
    return f"{records}, {requests}, {fields['seconds']:,.1f} s"
