"""One endpoint of the API as an SDK stream: its requests, and how they are repeated.

API description: "Endpoints", "Authentication".
"""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from threading import local
from typing import TYPE_CHECKING, Any

import requests
from singer_sdk import RESTStream
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.exceptions import RetriableAPIError, SingerSDKError
from singer_sdk.streams.rest import PageContext

from tap_leadintent import __version__, answers
from tap_leadintent.errors import RefusedError, StreamError
from tap_leadintent.pacing import LONGEST_RETRY_AFTER, backoff, retry_after
from tap_leadintent.pagination import CursorPaginator, read_page
from tap_leadintent.secret import Secret
from tap_leadintent.times import parse_http_date
from tap_leadintent.transport import cause, environment, new_session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from singer_sdk import Tap
    from singer_sdk.helpers.types import Context

    from tap_leadintent.decoding import Page
    from tap_leadintent.pacing import Pace

_CURSOR_REFUSALS = frozenset({400, 404, 409, 410, 422})

_REST_FOR_ALL = frozenset({429, 503})

_PASSING = (
    RetriableAPIError,
    requests.exceptions.ChunkedEncodingError,
    requests.exceptions.ConnectionError,
    requests.exceptions.ContentDecodingError,
    requests.exceptions.Timeout,
)


class CursorRefusedError(StreamError):
    """The API refused a request with a cursor, which may have expired."""


@dataclass
class Tally:
    """What a stream's sync came to."""

    records: int = 0
    requests: int = 0
    retries: int = 0
    seconds_waited: float = 0.0


class EndpointStream(RESTStream[str | None]):
    """A list endpoint that is read page by page with POST requests."""

    http_method = "POST"

    def __init__(self, tap: Tap, *, pace: Pace) -> None:
        """Bind the endpoint to a run.

        Args:
            tap: The tap, with its settings.
            pace: Asked before each request.
        """
        super().__init__(tap)
        self._pace = pace
        self._sessions = local()
        self.request_counter = self.get_http_request_counter()
        self.tally = Tally()
        self.server_time: int | None = None
        """The server's clock at its first answer, in UTC seconds since 1970."""

    def log(
        self, message: str, *args: Any, level: int = logging.INFO, **options: Any
    ) -> None:
        """Log, but not that an error is unhandled which the tap reports itself.

        Args:
            message: As for `logging`, with `args` to be formatted into it.
            args: See `message`.
            level: As for `logging`.
            options: As for `logging`.
        """
        reported = isinstance(sys.exception(), SingerSDKError)
        if not (reported and level == logging.ERROR):
            super().log(message, *args, level=level, **options)

    @property
    def requests_session(self) -> requests.Session:
        """The session of this thread."""
        if not hasattr(self._sessions, "session"):
            self._sessions.session = new_session()
        session: requests.Session = self._sessions.session
        return session

    @property
    def url_base(self) -> str:
        """The setting `base_url`."""
        return str(self.config["base_url"]).rstrip("/")

    @property
    def authenticator(self) -> BearerTokenAuthenticator:
        """The setting `api_key` as a bearer token."""
        return BearerTokenAuthenticator(token=self.config["api_key"])

    @property
    def page_size(self) -> int:
        """The setting `page_size`: records in a full page."""
        return int(self.config["page_size"])

    @property
    def filters(self) -> dict[str, Any]:
        """The request fields that the setting `filters` has for this stream."""
        fields: dict[str, Any] = self.config["filters"].get(self.name, {})
        return fields

    @property
    def timeout(self) -> int:
        """Seconds for a connection, for each pause, and for the whole answer."""
        return self.config["request_timeout_seconds"]  # type: ignore[no-any-return]

    @cached_property
    def user_agent(self) -> str:
        """The setting `user_agent`, by default the tap's name and version."""
        return self.config.get("user_agent") or f"tap-leadintent/{__version__}"

    def prepare_request_payload(
        self,
        context: Context | None,
        next_page_token: str | None,
    ) -> dict[str, Any]:
        """Build the request's body.

        Args:
            context: The request fields of the window that is read, if any.
            next_page_token: The `cursor.after` to send, absent on the first page.

        Returns:
            The stream's `filters`, the fields and the `cursor` object, the same for
            all pages of a chain but for `after`.
        """
        cursor: dict[str, Any] = {"limit": self.page_size}
        if next_page_token is not None:
            cursor["after"] = next_page_token
        return {**self.filters, **(context or {}), "cursor": cursor}

    def request_pages(self, fields: dict[str, Any]) -> Iterator[Page]:
        """Read one cursor chain.

        Args:
            fields: The request fields of a window, empty for all records.

        Yields:
            Each page, as it arrives.

        Raises:
            CursorRefusedError: The API refused its own cursor.
            StreamError: The chain cannot go on; see `answers`, `pagination`.
        """
        paginator = self.get_new_paginator()
        while not paginator.finished:
            after = paginator.current_value
            request = self.get_http_request(page=PageContext(fields, after))
            prepared = self.build_prepared_request(
                method=request.method,
                url=request.url,
                headers=request.headers,
                json=request.data,
            )
            try:
                response = self._fetch(prepared)
            except RefusedError as error:
                msg = f"{self.name}: {error}"
                if after is not None and error.status in _CURSOR_REFUSALS:
                    raise CursorRefusedError(msg) from None
                raise RefusedError(msg, error.status) from None
            except StreamError as error:
                msg = f"{self.name}: page {paginator.count + 1}: {error}"
                raise StreamError(msg) from None
            yield read_page(response)
            paginator.advance(response)

    def _fetch(self, prepared: requests.PreparedRequest) -> requests.Response:
        most = int(self.config["max_retries"])
        for attempt in count(1):
            self.tally.seconds_waited += self._pace.wait_for_turn()
            try:
                return self._send(prepared)
            except _PASSING as error:
                reason = self._secret.summarize(cause(error))
                if _is_distrust(error):
                    msg = (
                        "the server's certificate is not trusted; set REQUESTS_CA_"
                        f"BUNDLE if it is your own: {reason}"
                    )
                    raise StreamError(msg) from None
                seconds, told = self._plan_wait(error, attempt)
                if attempt > most:
                    msg = f"gave up after {attempt} tries: {reason}"
                    raise StreamError(msg) from None
                again = f"{reason}; try {attempt + 1} of {most + 1} in {told}"
                self.logger.warning("%s: %s", self.name, again)
                self.tally.retries += 1
                self.tally.seconds_waited += seconds
                self._pace.wait(seconds)
            except requests.RequestException as error:
                raise StreamError(self._secret.summarize(error)) from None
        raise AssertionError  # count() has no end

    def _send(self, prepared: requests.PreparedRequest) -> requests.Response:
        self.request_counter.increment()
        self.tally.requests += 1
        response = self.requests_session.send(
            prepared,
            timeout=self.timeout,
            allow_redirects=False,
            **self._environment,
        )
        self.validate_response(response)
        if self.server_time is None:
            self.server_time = parse_http_date(response.headers.get("Date", ""))
        return response

    @cached_property
    def _environment(self) -> dict[str, Any]:
        return environment(self.get_url(None))

    def _plan_wait(self, error: Exception, attempt: int) -> tuple[float, str]:
        """Choose the wait before another try; all wait where the server wants rest."""
        seconds = backoff(attempt)
        said = ""
        response = getattr(error, "response", None)
        if response is not None and response.status_code in _REST_FOR_ALL:
            if (wanted := retry_after(response.headers)) is not None:
                seconds = min(wanted, LONGEST_RETRY_AFTER)
                cut = ", which is cut" if wanted > seconds else ""
                said = f" (the server asked for {wanted:.1f} s{cut})"
            self._pace.rest(seconds)
        return seconds, f"{seconds:.1f} s{said}"

    def get_new_paginator(self) -> CursorPaginator:
        """Begin a chain."""
        return CursorPaginator(self.name)

    def validate_response(self, response: requests.Response) -> None:
        """Accept a page, and nothing else; see `answers.check`.

        Args:
            response: Any response.
        """
        answers.check(response, self._secret)

    @cached_property
    def _secret(self) -> Secret:
        return Secret(self.config["api_key"])


def _is_distrust(error: Exception) -> bool:
    return isinstance(
        error, requests.exceptions.SSLError
    ) and "CERTIFICATE_VERIFY_FAILED" in str(error)
