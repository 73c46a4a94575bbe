"""Decides when a request may be sent, for all streams and threads of a run."""

import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import TIMEOUT_MAX, Condition, Event

from tap_leadintent.api.health import RunHealth
from tap_leadintent.errors import StoppedError
from tap_leadintent.progress import StreamStats
from tap_leadintent.times import parse_http_date

LONGEST_WAIT = 900.0
"""Seconds of the longest wait that a server may ask for; a longer one ends the run.
Many rate limits count the requests of 15 minutes."""

_RISE = 0.05
"""How much each page raises the number of requests in flight."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds of requests that a user cannot change, and how time passes."""

    longest_backoff: float = 60.0
    """Seconds of the longest wait before a retry, unless the server asks for more."""

    longest_connect: float = 10.0
    """Seconds to connect, and for each step of a TLS handshake."""

    largest_body: int = 64 * 2**20
    """Bytes of a body, after decompression."""

    monotonic: Callable[[], float] = time.monotonic
    """Returns the seconds of a clock that nobody sets."""

    wait: Callable[[Condition, float], object] = Condition.wait
    """Waits until the condition is notified, for so many seconds at most."""

    def backoff(self, attempt: int) -> float:
        """Choose how long to wait before a retry: exponential, with full jitter.

        Args:
            attempt: How many attempts have failed, at least 1.

        Returns:
            Seconds, at most `longest_backoff`.
        """
        longest = min(self.longest_backoff, 2.0 ** min(attempt, 10))
        return random.uniform(0, longest)  # noqa: S311


def seconds_to_wait(headers: Mapping[str, str]) -> float:
    """Return for how long a server wants no request, in seconds.

    Args:
        headers: The headers of a response.

    Returns:
        The seconds of `Retry-After`; 0 without it, or when it is malformed or in the
        past.
    """
    text = headers.get("Retry-After", "")
    try:
        seconds = float(text)
    except ValueError:
        # The server's clock decides, if its response has a date: ours may differ.
        now = parse_http_date(headers.get("Date", "")) or time.time()
        then = parse_http_date(text)
        seconds = 0.0 if then is None else then - now
    return seconds if 0 < seconds < float("inf") else 0.0


class RateLimiter:
    """Delays requests during a cool-down that the server asks for, and by a rate limit.

    Each cool-down also halves the number of requests in flight, because the server is
    overloaded. Successful responses raise the number again slowly.
    """

    def __init__(
        self,
        at_once: int,
        requests_per_minute: int | None,
        health: RunHealth,
        limits: Limits,
    ) -> None:
        """Create the limiter of a run.

        Args:
            at_once: Most requests in flight.
            requests_per_minute: Most requests in a minute, evenly spread.
            health: Until it has succeeded, one request is in flight at most.
            limits: How time passes.
        """
        self._health, self._limits = health, limits
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        self._next_slot = 0.0
        self._changed = Condition()
        self._paused_until = 0.0
        self._allowed = self._ceiling = float(at_once)
        self._in_flight: list[Event] = []
        """The `stopped` event of each request. A thread that waits for its turn
        notices it when another request ends, or when its wait is over."""

    def pause_all(self, seconds: float) -> None:
        """Begin a cool-down, in which no request of any thread is sent.

        Args:
            seconds: How long from now.
        """
        now = self._limits.monotonic()
        with self._changed:
            # A request that is refused during a cool-down was sent before it.
            if now >= self._paused_until:
                self._allowed = max(1.0, self._allowed / 2)
            self._paused_until = max(self._paused_until, now + seconds)

    def note_page(self) -> None:
        """Note that a request has received a page."""
        with self._changed:
            self._allowed = min(self._ceiling, self._allowed + _RISE)

    @contextmanager
    def turn(
        self, stopped: Event, stats: StreamStats, pause: float = 0
    ) -> Iterator[None]:
        """Wait until a request may be sent; send it inside this context.

        Args:
            stopped: Set when the request is not wanted any more.
            stats: Counts the request, and how long it waited.
            pause: How long a retry waits at least, in seconds; 0 for a first attempt.

        Raises:
            StoppedError: The request is not wanted any more.
        """
        began = self._limits.monotonic()
        with self._changed:
            while not stopped.is_set():
                seconds = self._seconds_to_wait(not_before=began + pause)
                if seconds <= 0:
                    break
                self._limits.wait(self._changed, seconds)
            else:
                raise StoppedError
            now = self._limits.monotonic()
            self._in_flight.append(stopped)
            self._next_slot = now + self._interval
            stats.requests += 1
            stats.retries += pause > 0
            stats.waited_seconds += now - began
        try:
            yield
        finally:
            with self._changed:
                self._in_flight.remove(stopped)
                self._changed.notify_all()

    def _seconds_to_wait(self, not_before: float) -> float:
        # Requests of a failed stream may hang; the next stream must not wait for them.
        wanted = sum(not stopped.is_set() for stopped in self._in_flight)
        if wanted >= (int(self._allowed) if self._health.has_succeeded else 1):
            return TIMEOUT_MAX  # A request that ends wakes the waiting threads.
        earliest = max(not_before, self._paused_until, self._next_slot)
        return earliest - self._limits.monotonic()
