"""Sends a stream's requests, and retries those that failed for a passing reason."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from threading import Lock, local
from typing import TYPE_CHECKING, Any

import requests
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.api import responses
from tap_leadintent.api.failures import explain, is_distrust, is_without_connection
from tap_leadintent.api.page import Page
from tap_leadintent.api.rate_limit import (
    LONGEST_RETRY_AFTER,
    Wait,
    backoff,
    retry_after,
)
from tap_leadintent.api.session import environment, new_session
from tap_leadintent.errors import NoAccessError, RefusedError, StreamError
from tap_leadintent.progress import counted
from tap_leadintent.times import parse_http_date

if TYPE_CHECKING:
    import logging
    from collections.abc import Collection

    from singer_sdk.metrics import Counter

    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.api.shared import Shared

_REST_FOR_ALL = frozenset({429, 503})

_PASSING = (
    RetriableAPIError,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ConnectionError,
    requests.exceptions.ContentDecodingError,
    requests.exceptions.Timeout,
)


@dataclass
class Tally:
    """Counts of a stream's sync."""

    records: int = 0
    requests: int = 0
    retries: int = 0
    seconds_waited: float = 0.0


@dataclass(eq=False, kw_only=True, repr=False)
class Sender:
    """Sends requests to one address; safe for any number of threads."""

    url: str
    """The address."""

    shared: Shared
    """What it shares with the senders of other streams."""

    timeout: float
    """Seconds to connect, and seconds until the whole response has arrived."""

    retries: int
    """Most retries of a request."""

    doubtful: Collection[str] = ()
    """Settings whose request fields the API description does not show."""

    counter: Counter
    """Counts the requests for the SDK's metrics."""

    tally: Tally
    """Counts for the summary."""

    logger: logging.Logger
    """The stream's logger; gets a line for each retry and restart."""

    _lock: Lock = field(init=False, default_factory=Lock)
    _local: local = field(init=False, default_factory=local)

    @property
    def session(self) -> requests.Session:
        """The session of this thread."""
        if not hasattr(self._local, "session"):
            self._local.session = new_session(self.shared.adapter)
        session: requests.Session = self._local.session
        return session

    def fetch(self, prepared: requests.PreparedRequest, check: Check) -> Page:
        """Send a request, with retries, until its response is a page.

        Args:
            prepared: The request.
            check: Called while waiting; what it raises ends the wait.

        Returns:
            The page.

        Raises:
            NoAccessError: No connection could be made.
            RefusedError: The API refused the request; a retry would not help.
            StreamError: All retries failed, or a retry would not help.
        """
        for attempt in count(1):
            try:
                with self.shared.pace.turn(check) as waited:
                    self._count(requests=1, seconds_waited=waited)
                    try:
                        return self._send(prepared)
                    except _PASSING as error:
                        # The rest begins before another request can take this place.
                        wait = self._plan_wait(error, attempt)
                        raise
            except _PASSING as error:
                check()  # The tap itself may have cut the connection, to end the wait.
                self.wait_for_retry(error, attempt, wait, check)
            except requests.RequestException as error:
                raise StreamError(self._told(error), _kind(error)) from None
        raise AssertionError  # count() has no end

    def wait_for_retry(
        self, error: Exception, attempt: int, wait: Wait, check: Check
    ) -> None:
        """Log why a request is retried, and wait before the retry.

        Args:
            error: Why the request failed.
            attempt: How many tries have failed, from 1.
            wait: How long to wait.
            check: Called while waiting; what it raises ends the wait.

        Raises:
            NoAccessError: There is no retry, and no connection could be made.
            StreamError: There is no retry.
        """
        failure = NoAccessError if is_without_connection(error) else StreamError
        reason = self._told(error)
        if is_distrust(error):
            raise failure(reason) from None
        most = 0 if self.shared.pace.is_on_trial else self.retries
        if attempt > most:
            msg = f"gave up after {counted(attempt, 'try', 'tries')}: {reason}"
            raise failure(msg, _kind(error)) from None
        again = f"{reason}; try {attempt + 1} of {most + 1} in {wait}"
        self.logger.warning("%s", again)
        self._count(retries=1, seconds_waited=wait.seconds)
        self.shared.pace.wait(wait.seconds, check)

    def _told(self, error: Exception) -> str:
        if isinstance(error, RetriableAPIError):
            return str(error)
        return explain(error, self.url, self.timeout, self.shared.secret)

    def _send(self, prepared: requests.PreparedRequest) -> Page:
        sent_at, began = time.time(), time.monotonic()
        response = self.session.send(
            prepared,
            timeout=self.timeout,
            allow_redirects=False,
            **self._environment,
        )
        seconds = time.monotonic() - began
        date = parse_http_date(response.headers.get("Date", ""))
        as_of = self.shared.clock.as_of(date, sent_at, seconds)
        try:
            page = self._page(response)
        except RefusedError as error:
            error.as_of = as_of
            raise
        page.as_of = as_of
        return page

    def _page(self, response: requests.Response) -> Page:
        if response.status_code != requests.codes.ok:
            raise responses.failure(response, self.shared.secret, self.doubtful)
        try:
            return Page.of(response)
        except ValueError as error:
            raise responses.not_a_page(response, error, self.shared.secret) from None

    @cached_property
    def _environment(self) -> dict[str, Any]:
        return environment(self.url)

    def _plan_wait(self, error: Exception, attempt: int) -> Wait:
        """Choose the wait before a retry; 429 and 503 make all requests wait."""
        wait = Wait(backoff(attempt))
        response = getattr(error, "response", None)
        if response is not None and response.status_code in _REST_FOR_ALL:
            if (wanted := retry_after(response.headers)) is not None:
                wait = Wait(min(wanted, LONGEST_RETRY_AFTER), wanted)
            self.shared.pace.rest(wait.seconds)
        return wait

    def _count(
        self, *, requests: int = 0, retries: int = 0, seconds_waited: float = 0.0
    ) -> None:
        with self._lock:
            self.tally.requests += requests
            self.tally.retries += retries
            self.tally.seconds_waited += seconds_waited
            self.counter.increment(requests)


def _kind(error: Exception) -> object:
    """Give the HTTP status of the response, or else the type of the error."""
    response = getattr(error, "response", None)
    return type(error) if response is None else response.status_code
