"""Bounds of requests that a user cannot change, and waits that a server asks for."""

import random
import re
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

    longest_refusal: float = LONGEST_WAIT
    """Seconds for which requests are retried that a rate limit refuses, until a page
    comes."""

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
        doubled = 2.0 ** min(attempt, 10)
        longest = min(self.longest_backoff, doubled)
        return random.uniform(0, longest)  # noqa: S311


_NAMED_RETRY_AFTER = re.compile(r"retry-after-(?!ms$)", re.IGNORECASE)
"""Header of a limit that has a name; `Retry-After-Ms` has another unit."""

_RESET = re.compile(r"x-.*rate-?limit.*reset", re.IGNORECASE)

_EARLIEST_RESET = 1e9
"""A number from here on is not a duration, but a time in seconds since 1970."""

_MILLISECONDS = 1e11
"""Such a time from here on is in milliseconds."""

_USED_UP = re.compile(r"\br\s*=\s*0\b")
_WAIT = re.compile(r"\b(?:t|reset)\s*=\s*(\d+)")


def with_margin(seconds: float) -> float:
    """Return a wait that a server asks for, and a little more.

    Many servers round it down, or count by a clock of their own.

    Args:
        seconds: The wait; 0 for none.
    """
    return seconds + min(1.0, seconds / 10)


def seconds_to_wait(
    headers: Mapping[str, str],
    *,
    is_rate_limit: bool = False,
) -> float:
    """Return for how long a server wants no request, in seconds.

    Args:
        headers: The headers of a response.
        is_rate_limit: Whether the response says that there were too many requests.
            Servers may describe their limit in other responses, too.

    Returns:
        The seconds of `Retry-After`, or of another header that says when a rate limit
        ends; 0 without one, or when it is malformed or in the past.
    """
    # The server's clock decides, if its response has a date: ours may differ.
    date = headers.get("Date", "")
    now = parse_http_date(date) or time.time()
    retry_after = headers.get("Retry-After", "")
    wait = _retry_after(retry_after, now)
    for name, text in headers.items():
        if _NAMED_RETRY_AFTER.match(name):
            wait = max(wait, _retry_after(text, now))
    if is_rate_limit and not wait:
        return _until_reset(headers, now)
    return wait


def _until_reset(
    headers: Mapping[str, str],
    now: float,
) -> float:
    """Return the seconds until a rate limit ends, by the headers that describe it."""
    structured = headers.get("RateLimit", "")
    reset = headers.get("RateLimit-Reset", "")
    wait = max(_structured(structured), _reset(reset, now))
    for name, text in headers.items():
        # Elsewhere, a small number may have any unit.
        if not _RESET.match(name) or _number(text) < _EARLIEST_RESET:
            continue
        seconds = _reset(text, now)
        if seconds <= LONGEST_WAIT:
            wait = max(wait, seconds)
    return wait


def _number(text: str) -> float:
    """Return the positive number that a text is; 0 if it is none."""
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if 0 < number < inf else 0.0


def _retry_after(text: str, now: float) -> float:
    seconds = _number(text)
    if seconds:
        return seconds
    then = parse_http_date(text)
    if then is None:
        return 0.0
    return max(0.0, then - now)


def _reset(text: str, now: float) -> float:
    """Return the seconds until a limit ends; a large number is a time since 1970."""
    number = _number(text)
    if number < _EARLIEST_RESET:
        return number
    if number >= _MILLISECONDS:
        number /= 1000
    return max(0.0, number - now)


def _structured(text: str) -> float:
    """Return the seconds until the limits of the header `RateLimit` end.

    Drafts of the IETF write `limit=60, remaining=0, reset=58`, or, for each limit,
    `"a name";r=0;t=58`.
    """
    limits = text.split(",")
    used_up = list(filter(_USED_UP.search, limits))
    longest = 0.0
    for limit in used_up or limits:
        for seconds in _WAIT.findall(limit):
            longest = max(longest, float(seconds))
    return longest
