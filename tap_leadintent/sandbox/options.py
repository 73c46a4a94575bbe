"""What a sandbox can be told when it starts or is configured anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import DAY, parse_time

LARGEST = 1_000_000


def three_weeks_ago() -> str:
    """Give the default clock: near the present, with room for time to pass."""
    day = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return f"{(day - timedelta(days=21)).isoformat()[:19]}Z"


class RateLimit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A ceiling on API requests, over all clients.

    Attributes:
        requests_per_second: Allowed rate; one second's worth may come at once.
        retry_after: Value of the 429 response's `Retry-After` header, in seconds
            or as text sent as it is; no header when null.
    """

    requests_per_second: float
    retry_after: int | str | None = 1

    def __post_init__(self) -> None:
        """Check the rate."""
        if self.requests_per_second <= 0:
            msg = "requests_per_second must be greater than 0"
            raise ValueError(msg)


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a sandbox serves.

    Attributes:
        sizes: Number of records visible at the start, by stream.
        seed: Seed of all generated data.
        clock: Instant at which the clock stands at the start (ISO 8601); three weeks
            ago by default.
        since: Begin of the history (ISO 8601); 365 days before `clock` when null.
        history: How the initial records spread over the history.
        latency_seconds: How long each API request waits before it is served.
        range_end: Whether a time range's end belongs to it.
        cursor_mode: Whether cursors continue after a record or at an offset.
        order: Sort of a request that names none.
        signals: Whether `latest_signal` shows a record at its latest signal or at each.
        rate_limit: Ceiling on API requests; none when null.
        api_key: The one accepted API key.
    """

    sizes: dict[str, int] = {}
    seed: int = 1
    clock: str = msgspec.field(default_factory=three_weeks_ago)
    since: str | None = None
    history: Literal[
        "uniform",
        "bursty",
        "gaps",
        "instant",
        "growing",
        "fading",
        "office",
        "tail",
        "head",
        "bursts",
        "import",
    ] = "uniform"
    latency_seconds: float = 0.0
    range_end: Literal["inclusive", "exclusive"] = "inclusive"
    cursor_mode: Literal["key", "offset"] = "key"
    order: Literal["newest", "oldest"] = "newest"
    signals: Literal["latest", "each"] = "latest"
    rate_limit: RateLimit | None = None
    api_key: str = "sandbox-key"

    def __post_init__(self) -> None:
        """Check what the types do not say."""
        for stream, size in self.sizes.items():
            if stream not in ENDPOINTS:
                msg = f"unknown stream {stream!r}, known are {', '.join(ENDPOINTS)}"
                raise ValueError(msg)
            if not 0 <= size <= LARGEST:
                msg = f"size of {stream} must be 0 to {LARGEST}"
                raise ValueError(msg)
        if self.begin >= self.start:
            msg = "since must be before clock"
            raise ValueError(msg)
        if self.latency_seconds < 0:
            msg = "latency_seconds must not be negative"
            raise ValueError(msg)

    @property
    def start(self) -> int:
        """Where the clock stands at the start, in microseconds since 1970."""
        return parse_time(self.clock)

    @property
    def begin(self) -> int:
        """Begin of the history, in microseconds since 1970."""
        return self.start - 365 * DAY if self.since is None else parse_time(self.since)

    def size(self, stream: str) -> int:
        """Give the number of records of a stream at the start."""
        return self.sizes.get(stream, ENDPOINTS[stream].size)

    def changed(self, changes: dict[str, Any]) -> Options:
        """Give these options with some replaced; sizes are replaced one by one.

        Raises:
            msgspec.ValidationError: An option is unknown or its value wrong.
        """
        merged = {**msgspec.to_builtins(self), **changes}
        if isinstance(sizes := merged["sizes"], dict):
            merged["sizes"] = {**self.sizes, **sizes}
        return msgspec.convert(merged, Options)
