"""Decides when a request may be sent, and for how long failed ones may be repeated.

Whether one failed request is sent again is decided in `retries.py`, which asks here how
much time is left. This module decides for all streams and threads of a run. Nobody
knows how many requests an API bears, so the pace is found: more requests are sent at
once while pages come and do not get slower, and a refusal makes them fewer and spaces
them out.
"""

from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from statistics import median
from threading import TIMEOUT_MAX, Condition, Event

from tap_leadintent.api.limits import Limits, with_margin
from tap_leadintent.errors import (
    Action,
    BudgetSpentError,
    Reason,
    StoppedError,
    StreamError,
)
from tap_leadintent.progress import StreamStats

_FIRST = 4
"""Requests at once after the first page."""

_RISE = 0.5
"""How much each page raises the number of requests at once, until the first refusal."""

_RISE_AFTER_REFUSAL = 0.02
"""The same afterwards. A limit refuses up to as many as are sent at once each time it
is reached, and these are to be few beside the pages in between."""

_COMPARED_PAGES = 8
"""Full pages in a row whose median time is compared."""

_SLOWER = 1.5
"""How many times the fastest median means that pages have become slower."""

_MINUTE = 60.0

_SLOWED = 1.05
"""The least factor by which a refusal lengthens the time between requests."""

_FASTER = 0.05
"""The fraction by which the time between requests gets shorter after the first quiet
period: a time without a refusal."""

_FASTER_YET = 1.5
"""The factor by which that fraction grows with each further quiet period, because the
time between requests may be far too long."""

_MOST_FASTER = 0.5
"""The largest such fraction."""

_QUIET_PAGES = 20
"""A quiet period is long enough for this many pages, so that about one request in
twenty is refused."""

_QUIET_WAITS = 10
"""A quiet period is at least this many times as long as the last wait, so that long
waits are rare."""

_LONGEST_QUIET = 30.0
"""Seconds of the longest quiet period."""

_FEW_PAGES = 3
"""Added to the number of pages since the last wait, because a small number says little.
"""

_FIRST_WAIT = 0.25
"""Seconds of the shortest wait after a refusal that does not say how long."""

_TRIAL_SECONDS = 20.0
"""Failed requests are retried for so many seconds, until the first success of the run.
"""


class _Latency:
    """How long the full pages of an endpoint take."""

    def __init__(self) -> None:
        self._latest = deque[float](maxlen=_COMPARED_PAGES)
        self._fastest = inf

    def note(self, seconds: float) -> None:
        self._latest.append(seconds)
        if len(self._latest) == _COMPARED_PAGES:
            self._fastest = min(self._fastest, median(self._latest))

    @property
    def is_slower(self) -> bool:
        """Whether the latest pages are slower than the fastest ones of the run."""
        if len(self._latest) < _COMPARED_PAGES:
            return False
        return median(self._latest) > _SLOWER * self._fastest


class Traffic:
    """Delays requests, and remembers what they show about the API and the key.

    Requests wait during a cool-down after a refusal, and by a rate limit. A page proves
    that address and key are right. Until there is one, one request is in flight at
    most, and failed ones are repeated for a short while only, and a second stream that
    fails in the same way as the one before, such as with 404, ends the run. Once there
    is a page, such a stream says nothing about the others.
    """

    def __init__(
        self,
        limits: Limits,
        at_once: int = 1,
        requests_per_minute: int | None = None,
    ) -> None:
        """Begin a run.

        Args:
            limits: How time passes.
            at_once: Most requests in flight.
            requests_per_minute: Most requests in a minute, evenly spread.
        """
        self._limits = limits
        self._changed = Condition()
        self._ceiling = float(at_once)
        self._allowed = 1.0
        self._rise = _RISE
        self._in_flight: list[Event] = []
        """The `stopped` event of each request. A thread that waits for its turn
        notices it when another request ends, or when its wait is over."""
        self._took_last_place = False
        """Whether the latest request was the last that was allowed at once. If fewer
        are sent than are allowed, to allow more would show nothing."""
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        """The least seconds between requests, by the setting."""
        self._spacing = 0.0
        """The same, by what refusals have shown."""
        self._next_slot = 0.0
        self._paused_until = 0.0
        self._refused_at = -inf
        """When the latest cool-down began."""
        self._refusals = 0
        """How many cool-downs have begun since the last page."""
        self._refused_since = 0.0
        """When the first of these began."""
        self._lost = 0.0
        """The seconds from the first of the latest cool-downs to a page."""
        self._pages = 0
        """How many pages have come since then."""
        self._faster_at = 0.0
        """When the quiet period ends, if no refusal comes before."""
        self._step = _FASTER
        """The fraction by which the time between requests gets shorter then."""
        self._answered = deque[float]()
        """When the pages of the last minute arrived."""
        self._latencies = defaultdict[str, _Latency](_Latency)
        """By endpoint."""
        self.budget: int | None = None
        """The most requests of the run, None for any number."""
        self._sent = 0
        self._began = inf
        """When the first request was sent."""
        self.has_succeeded = False
        """Whether a request has got a page."""
        self.last_failure: tuple[int | None, Reason | None] | None = None
        """Status and reason of the last stream that failed; None before that."""

    def at_once(self) -> int:
        """Return how many requests may be in flight now."""
        return int(self._allowed)

    def note_page(self, endpoint: str, seconds: float, *, is_full: bool) -> None:
        """Note that a request has got a page.

        Args:
            endpoint: The address that was asked.
            seconds: How long the page took.
            is_full: Whether the page holds as many records as it can. Others may take
                less time.
        """
        with self._changed:
            if not self.has_succeeded:
                self.has_succeeded = True
                self._allowed = min(self._ceiling, _FIRST)
            now = self._limits.monotonic()
            self._answered.append(now)
            self._forget_old_pages()
            sent_at = now - seconds
            # What was sent before a cool-down says nothing about its end.
            if self._refusals and sent_at > self._refused_at:
                self._lost = sent_at - self._refused_since
                self._refusals = 0
                self._pages = 0
                self._plan_faster(now)
            self._pages += 1
            if now >= self._faster_at:
                self._spacing *= 1 - self._step
                self._step = min(_MOST_FASTER, self._step * _FASTER_YET)
                self._plan_faster(now)
            latency = self._latencies[endpoint]
            if is_full:
                latency.note(seconds)
            if self._took_last_place and not latency.is_slower:
                self._allowed = min(self._ceiling, self._allowed + self._rise)

    def _plan_faster(self, now: float) -> None:
        """Begin a quiet period, after which requests follow one another faster."""
        seconds = max(_QUIET_PAGES * self._spacing, _QUIET_WAITS * self._lost)
        self._faster_at = now + min(_LONGEST_QUIET, seconds)

    def _forget_old_pages(self) -> None:
        oldest = self._limits.monotonic() - _MINUTE
        while self._answered and self._answered[0] < oldest:
            self._answered.popleft()

    def note_refusal(
        self,
        error: StreamError,
        attempt: int,
        sent_at: float,
    ) -> float:
        """Begin a cool-down, in which no request of any thread is sent.

        Args:
            error: The refusal.
            attempt: How many attempts of the request have failed, with this one.
            sent_at: When it was sent, in seconds of the monotonic clock.

        Returns:
            For how many seconds the request waits before its next attempt.
        """
        now = self._limits.monotonic()
        asked = with_margin(error.retry_after)
        with self._changed:
            # What was sent before a cool-down says nothing new.
            if sent_at > self._refused_at:
                self._refused_at = now
                self._slow_down(asked)
                if not asked:
                    asked = min(self._backoff(attempt), self.seconds_left(error))
            self._paused_until = max(self._paused_until, now + asked)
            return self._paused_until - now

    def _slow_down(self, asked: float) -> None:
        """Send fewer requests at once and, if that is not enough, in a second."""
        self._allowed = max(1.0, self._allowed / 2)
        self._rise = _RISE_AFTER_REFUSAL
        if not self._refusals:
            now = self._limits.monotonic()
            self._refused_since = now
            self._step = _FASTER
            self._space_out(now, asked)
        self._refusals += 1

    def _space_out(self, now: float, asked: float) -> None:
        """Let requests follow one another as slowly as they have been answered.

        The seconds of the last wait are divided among the pages since then: with so
        much more time between them, the wait might not have been necessary. A single
        wait that a server asks for is no sign of a limit.
        """
        self._forget_old_pages()
        if not self._answered or (asked and not self._lost):
            return
        seconds = min(_MINUTE, now - self._began) + asked
        spacing = seconds / len(self._answered)
        if self._lost:
            lost = self._lost / (self._pages + _FEW_PAGES)
            spacing = min(spacing, self._spacing * _SLOWED + lost)
        self._spacing = max(self._spacing, spacing)

    def _backoff(self, attempt: int) -> float:
        """Choose how long all requests wait after a refusal that does not say it."""
        if not self._spacing:
            return self._limits.backoff(attempt)
        # A limit that is reached often opens again soon.
        number = min(max(self._refusals, attempt), 10)
        seconds = max(_FIRST_WAIT, self._spacing) * 2.0 ** (number - 1)
        return min(seconds, self._limits.longest_backoff)

    @contextmanager
    def turn(
        self,
        stopped: Event,
        stats: StreamStats,
        pause: float = 0,
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
            self._took_last_place = len(self._in_flight) >= self.at_once()
            self._began = min(self._began, now)
            self._next_slot = now + max(self._interval, self._spacing)
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
        if wanted >= self.at_once():
            return TIMEOUT_MAX  # A request that ends wakes the waiting threads.
        earliest = max(not_before, self._paused_until, self._next_slot)
        return earliest - self._limits.monotonic()

    def seconds_left(self, error: StreamError) -> float:
        """Return for how many more seconds a failed request may be repeated.

        Args:
            error: Why it failed.
        """
        if self.last_failure and not self.has_succeeded:
            return 0.0
        now = self._limits.monotonic()
        if Action.WAIT_OUT in error.actions:
            began = self._refused_since if self._refusals else now
            return began + self._limits.longest_refusal - now
        if self.has_succeeded:
            return inf
        return self._began + _TRIAL_SECONDS - now

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
        is_same = failure == self.last_failure
        self.last_failure = failure
        return is_same and not self.has_succeeded
