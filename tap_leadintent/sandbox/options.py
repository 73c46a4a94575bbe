"""The options of a sandbox."""

from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, TypeAlias

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import DAY, current_time, parse_time


def three_weeks_ago() -> str:
    """Return the time three weeks ago at midnight, from which a clock can be moved."""
    day = datetime.now(UTC).replace(
        hour=0,
        minute=0,
        second=0,
        microsecond=0,
    )
    three_weeks = timedelta(days=21)
    return (day - three_weeks).strftime("%Y-%m-%dT%H:%M:%SZ")


History: TypeAlias = Literal[
    "uniform",
    "growing",
    "office",
    "head",
    "bursts",
    "import",
]


class Options(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
):
    """The options that determine what a sandbox serves.

    Attributes:
        sizes: Number of records at the start, by stream.
        seed: Seed of all generated data.
        clock: Time at which the clock stands until it is moved (ISO 8601). Null stands
            for this machine's clock, which goes on.
        since: Beginning of the history (ISO 8601). Null stands for 365 days before the
            clock.
        history: How the records of the start are spread over the history.
        latency_seconds: Seconds that each request waits before it is served.
        rate_limit: Largest number of requests per second, over all clients; null
            stands for no limit.
        api_key: The only API key that is accepted.
    """

    sizes: dict[str, Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]] = {}
    seed: int = 1
    clock: str | None = None
    since: str | None = None
    history: History = "uniform"
    latency_seconds: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    rate_limit: Annotated[float, msgspec.Meta(gt=0)] | None = None
    api_key: str = "sandbox-key"

    def __post_init__(self) -> None:
        """Check the streams and the times, which the types do not check."""
        unknown = self.sizes.keys() - ENDPOINTS
        if unknown:
            known = ", ".join(ENDPOINTS)
            raise ValueError(f"unknown stream {min(unknown)!r}, known are {known}")
        if self.begin >= self.start:
            raise ValueError("since must be before clock")

    @property
    def start(self) -> int:
        """The time of the clock before it is moved, in microseconds since 1970."""
        if self.clock is None:
            return current_time()
        return parse_time(self.clock)

    @property
    def begin(self) -> int:
        """The beginning of the history, in microseconds since 1970."""
        if self.since is None:
            return self.start - 365 * DAY
        return parse_time(self.since)

    def changed(self, changes: dict[str, Any]) -> "Options":
        """Return these options with changes. Sizes are changed one by one.

        Raises:
            msgspec.ValidationError: An option is unknown, or its value is wrong.
        """
        merged = {**msgspec.to_builtins(self), **changes}
        sizes = merged["sizes"]
        if isinstance(sizes, dict):
            merged["sizes"] = {**self.sizes, **sizes}
        # The values of a command line are texts.
        return msgspec.convert(merged, Options, strict=False)
