"""Sends a stream's requests, and retries those that failed for a passing reason.

API description: "Base address", "Authentication", "Page envelope".
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

import requests
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.api import responses
from tap_leadintent.api.failures import explain, is_distrust, is_without_connection
from tap_leadintent.api.limits import LONGEST_RETRY_AFTER, backoff, retry_after
from tap_leadintent.api.page import Page
from tap_leadintent.api.session import environment
from tap_leadintent.errors import NoAccessError, RefusedError, StreamError
from tap_leadintent.progress import counted
from tap_leadintent.times import parse_http_date

if TYPE_CHECKING:
    import logging
    from collections.abc import Collection, Mapping
    from threading import Event

    from tap_leadintent.api.clock import ServerClock
    from tap_leadintent.api.limits import RateLimiter, Tally
    from tap_leadintent.log import Secret

    Fields = Mapping[str, Any]

_REST_FOR_ALL = frozenset({429, 503})

_PASSING = (
    RetriableAPIError,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ConnectionError,
    requests.exceptions.ContentDecodingError,
    requests.exceptions.Timeout,
)


@dataclass(frozen=True, kw_only=True)
class Shared:
    """What the requests of all streams of a run share; safe for several threads."""

    session: requests.Session
    """Keeps the connections."""

    limiter: RateLimiter
    """Delays requests."""

    clock: ServerClock
    """Compares the server's clock with ours."""

    secret: Secret
    """Hides the key in messages."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Client:
    """Sends the requests of one stream; safe for several threads."""

    url: str
    """The endpoint's address."""

    headers: Mapping[str, str]
    """Those of each request, the key among them."""

    fields: Fields
    """The fields of each request's body."""

    page_size: int
    """How many records to ask for."""

    timeout: float
    """Seconds to connect, and seconds until the whole response has arrived."""

    retries: int
    """Most retries of a request."""

    shared: Shared
    """What it shares with the clients of other streams."""

    doubtful: Collection[str]
    """Settings whose request fields the API description does not show."""

    logger: logging.Logger
    """The stream's logger; gets a line for each retry."""

    tally: Tally
    """Counts requests, retries and waits."""

    def fetch(self, fields: Fields, after: str | None, stopped: Event) -> Page:
        """Send a request, with retries, until its response is a page.

        Args:
            fields: The request fields of a window, empty for all records.
            after: The cursor, None for the first page.
            stopped: Set when the page is not wanted any more.

        Returns:
            The page.

        Raises:
            NoAccessError: No connection could be made.
            RefusedError: The API refused the request; a retry would not help.
            StreamError: All retries failed, or a retry would not help.
            StoppedError: The page is not wanted any more.
        """
        limiter = self.shared.limiter
        for attempt in count(1):
            try:
                with limiter.turn(stopped, self.tally):
                    try:
                        return self._send(self._request(fields, after))
                    except _PASSING as error:
                        # The rest begins before another request can take this place.
                        seconds, told = self._plan_wait(error, attempt)
                        raise
            except _PASSING as error:
                again = self._again(error, attempt)
                self.logger.warning("%s in %s", again, told)
                limiter.wait(seconds, stopped, self.tally)
            except requests.RequestException as error:
                raise StreamError(self._explain(error), _kind(error)) from None
        raise AssertionError  # count() has no end

    def _request(self, fields: Fields, after: str | None) -> requests.PreparedRequest:
        cursor: dict[str, Any] = {"limit": self.page_size}
        if after is not None:
            cursor["after"] = after
        body = {**self.fields, **fields, "cursor": cursor}
        request = requests.Request("POST", self.url, headers=self.headers, json=body)
        return request.prepare()

    def _again(self, error: Exception, attempt: int) -> str:
        """Say which try comes next; raise where there is none."""
        failure = NoAccessError if is_without_connection(error) else StreamError
        reason = self._explain(error)
        if is_distrust(error):
            raise failure(reason) from None
        most = 0 if self.shared.limiter.is_on_trial else self.retries
        if attempt > most:
            msg = f"gave up after {counted(attempt, 'try', 'tries')}: {reason}"
            raise failure(msg, _kind(error)) from None
        return f"{reason}; try {attempt + 1} of {most + 1}"

    def _explain(self, error: Exception) -> str:
        if isinstance(error, RetriableAPIError):
            return str(error)
        return explain(error, self.url, self.timeout, self.shared.secret)

    def _send(self, prepared: requests.PreparedRequest) -> Page:
        sent_at, began = time.time(), time.monotonic()
        response = self.shared.session.send(
            prepared,
            timeout=self.timeout,
            allow_redirects=False,
            **self._environment,
        )
        seconds = time.monotonic() - began
        date = parse_http_date(response.headers.get("Date", ""))
        as_of = self.shared.clock.as_of(date, sent_at, seconds)
        if response.status_code != requests.codes.ok:
            error = responses.failure(response, self.shared.secret, self.doubtful)
            if isinstance(error, RefusedError):
                error.as_of = as_of
            raise error
        try:
            return Page.of(response.content, as_of)
        except ValueError as error:
            raise responses.not_a_page(response, error, self.shared.secret) from None

    @cached_property
    def _environment(self) -> dict[str, Any]:
        return environment(self.url)

    def _plan_wait(self, error: Exception, attempt: int) -> tuple[float, str]:
        """Choose the wait before a retry; 429 and 503 make all requests wait."""
        seconds = backoff(attempt)
        told = f"{seconds:.1f} s"
        response = getattr(error, "response", None)
        if response is not None and response.status_code in _REST_FOR_ALL:
            if (wanted := retry_after(response.headers)) is not None:
                seconds = min(wanted, LONGEST_RETRY_AFTER)
                cut = ", which is shortened" if wanted > seconds else ""
                told = f"{seconds:.1f} s (the server asked for {wanted:.1f} s{cut})"
            self.shared.limiter.rest(seconds)
        return seconds, told


def _kind(error: Exception) -> object:
    """Give the HTTP status of the response, or else the type of the error."""
    response = getattr(error, "response", None)
    return type(error) if response is None else response.status_code
