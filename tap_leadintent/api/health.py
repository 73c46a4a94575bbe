"""Decides after a stream's failure whether the run can still read other streams."""

from tap_leadintent.errors import Action, Reason, StreamError


class RunHealth:
    """Remembers what the requests of a run show about the API, its address and the key.

    A page proves that address and key are right. Two streams that fail in the same way
    after it, such as with 404, say nothing about the other streams.
    """

    def __init__(self) -> None:
        self.has_succeeded = False
        """Whether a request has got a page."""
        self._last_failure: tuple[int | None, Reason | None] | None = None

    @property
    def is_on_trial(self) -> bool:
        """Whether a stream has failed, and no request of the run has succeeded.

        Then one request is sent at a time, and none is retried: if the address or the
        key is wrong, the run soon ends.
        """
        return self._last_failure is not None and not self.has_succeeded

    def note_page(self) -> None:
        """Note that a request has got a page."""
        self.has_succeeded = True

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
