"""Decides after a stream's failure whether the run can still read other streams."""

from http import HTTPStatus

from tap_leadintent.errors import Reason, StreamError


class RunHealth:
    """Remembers what the requests of a run show about the API, its address and the key.

    A page proves that address and key are right. Two streams that fail in the same way
    after it, such as with 404, say nothing about the other streams.
    """

    def __init__(self) -> None:
        """Start without any request."""
        self._has_succeeded = False
        self._last_failure: tuple[int | None, Reason | None] | None = None

    @property
    def is_on_trial(self) -> bool:
        """Whether a stream has failed, and no request of the run has succeeded.

        Then one request is sent at a time, and none is retried: if the address or the
        key is wrong, the run soon ends.
        """
        return self._last_failure is not None and not self._has_succeeded

    def note_page(self) -> None:
        """Note that a request has got a page."""
        self._has_succeeded = True

    def note_failure(self, error: StreamError) -> bool:
        """Note why a stream failed, and return whether that ends the run.

        The run ends if no connection can be made. If no request of the run has
        succeeded, it also ends if the key is refused, or if the stream before failed in
        the same way.

        A failure without a request says nothing about the other streams. Neither does
        the status 403, which is about one endpoint.

        Args:
            error: The error that ended the stream.
        """
        failure = (error.status, error.reason)
        if failure == (None, None) or error.status == HTTPStatus.FORBIDDEN:
            return False
        last, self._last_failure = self._last_failure, failure
        if error.reason is Reason.NO_CONNECTION:
            return True
        is_alike = error.status == HTTPStatus.UNAUTHORIZED or failure == last
        return is_alike and not self._has_succeeded
