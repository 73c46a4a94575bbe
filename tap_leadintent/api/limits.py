"""Bounds of requests that a user cannot change, and waits that a server asks for."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from threading import Condition

from tap_leadintent.times import parse_http_date

LONGEST_WAIT = 900.0
"""Seconds of the longest wait that a server may ask for; a longer one ends the run.
Many rate limits count the requests of 15 minutes."""


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
    return seconds if 0 < seconds < inf else 0.0
