"""What a sandbox can be told when it starts or is configured anew."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import DAY, current_time, parse_time


def three_weeks_ago() -> str:
    """Give a clock near the present that leaves room for time to pass."""
    day = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return f"{(day - timedelta(days=21)).isoformat()[:19]}Z"


class Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that determines what a sandbox serves.

    Attributes:
        sizes: Number of records visible at the start, by stream.
        seed: Seed of all generated data.
        clock: Instant at which the clock stands until it is moved (ISO 8601); when
            null, it is this machine's clock, and goes on.
        since: Begin of the history (ISO 8601); 365 days before the clock when null.
        history: How the initial records spread over the history.
        latency_seconds: How long each API request waits before it is served.
        rate_limit: Ceiling on API requests a second, over all clients; none when null.
        api_key: The one accepted API key.
    """

    sizes: dict[str, Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]] = {}
    seed: int = 1
    clock: str | None = None
    since: str | None = None
    history: Literal["uniform", "growing", "office", "head", "bursts", "import"] = (
        "uniform"
    )
    latency_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    rate_limit: Annotated[float, msgspec.Meta(gt=0)] | None = None
    api_key: str = "sandbox-key"

    def __post_init__(self) -> None:
        """Check what the types do not say."""
        if unknown := self.sizes.keys() - ENDPOINTS:
            known = ", ".join(ENDPOINTS)
            msg = f"unknown stream {min(unknown)!r}, known are {known}"
            raise ValueError(msg)
        if self.begin >= self.start:
            msg = "since must be before clock"
            raise ValueError(msg)

    @property
    def start(self) -> int:
        """What the clock shows before it is moved, in microseconds since 1970."""
        return current_time() if self.clock is None else parse_time(self.clock)

    @property
    def begin(self) -> int:
        """Begin of the history, in microseconds since 1970."""
        return self.start - 365 * DAY if self.since is None else parse_time(self.since)

    def changed(self, changes: dict[str, Any]) -> "Options":
        """Give these options with some replaced; sizes are replaced one by one.

        Raises:
            msgspec.ValidationError: An option is unknown or its value wrong.
        """
        merged = {**msgspec.to_builtins(self), **changes}
        if isinstance(sizes := merged["sizes"], dict):
            merged["sizes"] = {**self.sizes, **sizes}
        # Those of a command line are texts.
        return msgspec.convert(merged, Options, strict=False)
