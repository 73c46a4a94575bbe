"""Decides whether a failed request is sent again, and when.

The error says which retries can help (`failures.py`). How long all requests wait, and
for how long a run retries at all, is decided in `traffic.py`.
"""

import logging
from dataclasses import dataclass, field

from tap_leadintent.api.limits import with_margin
from tap_leadintent.api.run_context import RunContext
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.words import counted

_LEAST_ATTEMPTS = 4
"""A refused request has at least this many attempts once a page has arrived, even if
`max_retries` is lower. It may have come too early for a rate limit; each refusal slows
the requests down, so a later attempt may succeed."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Retries:
    """The retries of one stream's requests; safe for several threads."""

    most: int
    """Most retries of a request."""

    run_context: RunContext
    """What it shares with other streams."""

    logger: logging.Logger
    """The stream's logger; gets a line for each retry."""

    _last_attempts: dict[str, int] = field(default_factory=dict)
    """The last attempt that was logged, by the reason for it."""

    def raise_if_final(
        self,
        error: StreamError,
        attempt: int,
        max_retries: float,
    ) -> None:
        """Raise the error of a failed request if it is not sent again.

        Args:
            error: Why the request failed.
            attempt: How often it has been sent.
            max_retries: It is not retried more often, whatever the setting says.

        Raises:
            StreamError: That error, with the number of attempts.
        """
        traffic = self.run_context.traffic
        can_retry = Action.RETRY in error.actions
        if can_retry and self._may_retry(error, attempt, max_retries):
            return
        detail = error.detail
        actions = error.actions
        if can_retry:
            attempts = counted(attempt, "attempt")
            detail = f"gave up after {attempts}: {detail}"
        if traffic.last_failure and not traffic.has_succeeded:
            # No page has come, and another stream has failed before. So the stream ends
            # now, without requests for parts of the interval.
            actions &= ~Action.CUT
        raise error.changed(detail=detail, actions=actions)

    def plan(
        self,
        error: StreamError,
        attempt: int,
        sent_at: float,
    ) -> float:
        """Plan a retry; before some, the requests of all threads wait.

        Args:
            error: Why the request failed.
            attempt: How often it has been sent.
            sent_at: When it was sent last, in seconds of the monotonic clock.

        Returns:
            The seconds to wait before the retry.
        """
        run = self.run_context
        if Action.PAUSE_ALL in error.actions:
            return run.traffic.note_refusal(error, attempt, sent_at)
        if error.retry_after:
            return with_margin(error.retry_after)
        pause = run.limits.backoff(attempt)
        return min(pause, run.traffic.seconds_left(error))

    def log(
        self,
        error: StreamError,
        attempt: int,
        max_retries: float,
        pause: float,
    ) -> None:
        """Log why a request is retried, at the first retry and then ever more rarely.

        All readers of a stream may fail for the same reason, at each of their attempts.
        So the later lines come only before attempts 3, 5, 9 and so on. If two readers
        fail at once, both may log a line.

        Args:
            error: Why the request failed.
            attempt: The number of the attempt that follows.
            max_retries: As for `raise_if_final`.
            pause: The seconds until then.
        """
        logged = self._last_attempts.get(error.message, 0)
        if attempt < 2 * logged - 1:
            return
        self._last_attempts[error.message] = attempt
        reason = "same reason as before" if logged else error
        number = f"attempt {attempt}"
        if Action.WAIT_OUT not in error.actions:
            most = self._most_attempts(error, max_retries)
            number = f"{number} of {most}"
        self.logger.warning("%s; %s in %.1f s", reason, number, pause)

    def _may_retry(
        self,
        error: StreamError,
        attempt: int,
        max_retries: float,
    ) -> bool:
        """Return whether there are attempts and time for a retry."""
        has_attempts = attempt < self._most_attempts(error, max_retries)
        has_time = self.run_context.traffic.seconds_left(error) > 0
        # What the server asks to wait is no sign that it is down.
        is_asked = error.retry_after > 0
        if Action.WAIT_OUT in error.actions:
            return has_time or (has_attempts and is_asked)
        return has_attempts and (has_time or is_asked)

    def _most_attempts(self, error: StreamError, max_retries: float) -> float:
        """Return how often a request is sent at most, if it fails like this."""
        most = 1 + min(self.most, max_retries)
        is_refusal = Action.PAUSE_ALL in error.actions
        if is_refusal and self.run_context.traffic.has_succeeded:
            return max(most, _LEAST_ATTEMPTS)
        return most
