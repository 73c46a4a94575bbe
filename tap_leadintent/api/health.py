"""Decides whether a request is repeated while none of the run has succeeded."""

from collections.abc import Callable
from math import inf

from tap_leadintent.errors import Action, Reason, StreamError

_TRIAL_SECONDS = 20.0
"""For so long, requests are repeated while no request of the run has succeeded."""


class RunHealth:
    """Remembers what the requests of a run show about the API, its address and the key.

    A page proves that address and key are right. Two streams that fail in the same way
    after it, such as with 404, say nothing about the other streams.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        """Create it for a run.

        Args:
            monotonic: Returns the seconds of a clock that nobody sets.
        """
        self._monotonic = monotonic
        self._began = inf
        self.has_succeeded = False
        """Whether a request has got a page. Until then, one is sent at a time."""
        self._last_failure: tuple[int | None, Reason | None] | None = None

    def note_request(self) -> None:
        """Note that a request is sent."""
        self._began = min(self._began, self._monotonic())

    @property
    def has_failed(self) -> bool:
        """Whether a stream has failed."""
        return self._last_failure is not None

    def note_page(self) -> None:
        """Note that a request has got a page."""
        self.has_succeeded = True

    @property
    def seconds_for_retries(self) -> float:
        """For how many more seconds requests may be repeated."""
        if self.has_succeeded:
            return inf
        if self.has_failed:
            return 0.0
        return self._began + _TRIAL_SECONDS - self._monotonic()

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
        last, self._last_failure = self._last_failure, failure
        return failure == last and not self.has_succeeded
