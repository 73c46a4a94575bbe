"""A ceiling on requests, as a token bucket on the real clock."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tap_leadintent.sandbox.query import RefusedError

if TYPE_CHECKING:
    from tap_leadintent.sandbox.options import RateLimit


class Throttle:
    """Refuses requests beyond a rate limit."""

    def __init__(self, limit: RateLimit | None) -> None:
        """Start with a full bucket: one second's worth, at least one request."""
        self._limit = limit
        self._capacity = max(1.0, limit.requests_per_second) if limit else 0.0
        self._tokens = self._capacity
        self._checked = time.monotonic()

    def admit(self) -> None:
        """Let a request pass.

        Raises:
            RefusedError: It is one too many; with `Retry-After` if so configured.
        """
        if self._limit is None:
            return
        now = time.monotonic()
        earned = (now - self._checked) * self._limit.requests_per_second
        self._tokens = min(self._capacity, self._tokens + earned)
        self._checked = now
        if self._tokens < 1:
            wait = self._limit.retry_after
            headers = {} if wait is None else {"Retry-After": str(wait)}
            message = "too many requests"
            raise RefusedError(429, "rate_limited", message, headers)
        self._tokens -= 1
