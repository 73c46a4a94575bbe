"""Decides when a request may be sent, and whether a failed one is sent again.

It does so for all streams and threads of a run.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from threading import TIMEOUT_MAX, Condition, Event

from tap_leadintent.api.limits import Limits
from tap_leadintent.errors import (
    Action,
    BudgetSpentError,
    Reason,
    StoppedError,
    StreamError,
)
from tap_leadintent.progress import StreamStats

_RISE = 0.05
"""How much each page raises the number of requests in flight."""

_TRIAL_SECONDS = 20.0
"""Failed requests are retried for so many seconds, until the first success of the run.
"""


class Traffic:
    """Delays requests, and remembers what they show about the API and the key.

    Requests wait during a cool-down that the server asks for, and by a rate limit. Each
    cool-down also halves the number of requests in flight, because the server is
    overloaded. Successful responses raise the number again slowly.

    A page proves that address and key are right. Until there is one, one request is in
    flight at most, and failed ones are repeated for a short while only. Two streams
    that fail in the same way after it, such as with 404, say nothing about the others.
    """

    def __init__(
        self, limits: Limits, at_once: int = 1, requests_per_minute: int | None = None
    ) -> None:
        """Begin a run.

        Args:
            limits: How time passes.
            at_once: Most requests in flight.
            requests_per_minute: Most requests in a minute, evenly spread.
        """
        self._limits = limits
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        self._next_slot = 0.0
        self._changed = Condition()
        self._paused_until = 0.0
        self._allowed = self._ceiling = float(at_once)
        self._in_flight: list[Event] = []
        """The `stopped` event of each request. A thread that waits for its turn
        notices it when another request ends, or when its wait is over."""
        self.budget: int | None = None
        """The most requests of the run, None for any number."""
        self._sent = 0
        self._began = inf
        """When the first request was sent."""
        self.has_succeeded = False
        """Whether a request has got a page."""
        self.last_failure: tuple[int | None, Reason | None] | None = None
        """Why the last stream failed, if one has."""

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
        """Note that a request has got a page."""
        self.has_succeeded = True
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
            BudgetSpentError: The run may send no more requests.
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
            if self._sent == self.budget:
                raise BudgetSpentError
            self._sent += 1
            now = self._limits.monotonic()
            self._in_flight.append(stopped)
            self._began = min(self._began, now)
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
        if wanted >= (int(self._allowed) if self.has_succeeded else 1):
            return TIMEOUT_MAX  # A request that ends wakes the waiting threads.
        earliest = max(not_before, self._paused_until, self._next_slot)
        return earliest - self._limits.monotonic()

    @property
    def seconds_for_retries(self) -> float:
        """For how many more seconds requests may be repeated."""
        if self.has_succeeded:
            return inf
        if self.last_failure:
            return 0.0
        return self._began + _TRIAL_SECONDS - self._limits.monotonic()

    def note_failure(self, error: StreamError) -> bool:
        """Note why a stream failed, and return whether that ends the run.

        Args:
            error: The error that ended the stream.
        """
        if Action.LEAVE_STREAM in error.actions:
            return False
        if Action.END_RUN in error.actions:
            return True
        failure = (error.status, error.reason)
        last, self.last_failure = self.last_failure, failure
        return failure == last and not self.has_succeeded
