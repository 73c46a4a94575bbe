"""One endpoint of the API as an SDK stream: the request, the answer, the errors.

API description: "Endpoints", "Authentication", "Errors".
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

import requests
from singer_sdk import RESTStream
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.exceptions import RetriableAPIError
from singer_sdk.streams.rest import PageContext

from tap_leadintent import __version__
from tap_leadintent.errors import RefusedError, StreamError
from tap_leadintent.pagination import CursorPaginator, read_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from singer_sdk import Tap
    from singer_sdk.helpers.types import Context, RequestFunc

    from tap_leadintent.interruption import Interruption
    from tap_leadintent.pagination import Page

_ADVICE = {
    401: "the API refused the key: set api_key to a valid key, made in the dashboard "
    "under Developer -> API Keys",
    403: "this key may not read this endpoint; deselect the stream, or ask for access",
    404: "nothing answers there: check base_url, which is the root without /v1",
}

_CURSOR_REFUSALS = frozenset({400, 404, 409, 410, 422})

_SHOWN_CHARACTERS = 300


class NoPageError(Exception):
    """An answer is no page envelope; the message says what it is instead."""


class CursorRefusedError(StreamError):
    """The API refused a request with a cursor, which may have expired."""


def _clock(response: requests.Response) -> int | None:
    try:
        return int(parsedate_to_datetime(response.headers["Date"]).timestamp())
    except (KeyError, ValueError):
        return None


class EndpointStream(RESTStream[str | None]):
    """A list endpoint that is read page by page with POST requests."""

    http_method = "POST"

    def __init__(self, tap: Tap, *, interruption: Interruption) -> None:
        """Bind the endpoint to a run.

        Args:
            tap: The tap, with its settings.
            interruption: Asked before each request.
        """
        super().__init__(tap)
        self._interruption = interruption
        self.request_counter = self.get_http_request_counter()
        self.server_time: int | None = None
        """The server's clock at its first answer, in UTC seconds since 1970."""

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
        """Seconds to wait for a connection, and between two bytes."""
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
            StreamError: The chain cannot go on; see `validate_response`, `pagination`.
        """
        paginator = self.get_new_paginator()
        send = self.request_decorator(self._send)
        while not paginator.finished:
            self._interruption.check()
            after = paginator.current_value
            request = self.get_http_request(page=PageContext(fields, after))
            prepared = self.build_prepared_request(
                method=request.method,
                url=request.url,
                headers=request.headers,
                json=request.data,
            )
            try:
                response = send(prepared, fields)
            except RefusedError as error:
                if after is not None and error.status in _CURSOR_REFUSALS:
                    raise CursorRefusedError(error.message) from error
                raise
            except NoPageError as error:
                msg = f"{self.name}: page {paginator.count + 1} is {error}"
                raise StreamError(msg) from None
            yield read_page(response)
            paginator.advance(response)

    def _send(
        self,
        prepared_request: requests.PreparedRequest,
        context: Context | None,  # noqa: ARG002
    ) -> requests.Response:
        # Not the SDK's `_request`: that leaves REQUESTS_CA_BUNDLE unread.
        session = self.requests_session
        settings = session.merge_environment_settings(
            prepared_request.url, {}, None, None, None
        )
        self.request_counter.increment()
        response = session.send(
            prepared_request,
            timeout=self.timeout,
            allow_redirects=False,
            **settings,
        )
        self.validate_response(response)
        if self.server_time is None:
            self.server_time = _clock(response)
        return response

    def get_new_paginator(self) -> CursorPaginator:
        """Begin a chain."""
        return CursorPaginator(self.name)

    def validate_response(self, response: requests.Response) -> None:
        """Accept a page, and nothing else.

        Args:
            response: Any response.

        Raises:
            RetriableAPIError: Another try may give the page.
            NoPageError: It was answered, with something else.
            RefusedError: It was refused; the message says what to do.
        """
        status = response.status_code
        if status == requests.codes.ok:
            try:
                read_page(response)
            except ValueError as error:
                problem = f"no page of records ({error}): {self._shown(response.text)}"
                raise NoPageError(problem) from error
        elif status in self.extra_retry_statuses or status >= 500:  # noqa: PLR2004
            raise RetriableAPIError(self.response_error_message(response), response)
        else:
            raise RefusedError(self.response_error_message(response), status)

    def response_error_message(self, response: requests.Response) -> str:
        """Say what an unexpected status means.

        Args:
            response: A response with a status other than 200.

        Returns:
            The stream, the status, what to do, and the server's own words, bounded
            and without the API key.
        """
        status = response.status_code
        told = f"{self.name}: HTTP {status} {response.reason or ''}".rstrip()
        if response.is_redirect:
            return f"{told}: redirects are not followed; check base_url"
        advice = _ADVICE.get(status)
        body = self._shown(response.text)
        return ": ".join(part for part in (told, advice, body) if part)

    def request_decorator(self, func: RequestFunc) -> RequestFunc:
        """Retry as the SDK does, then end with one clear line.

        Args:
            func: Sends one request.

        Returns:
            The same, with retries; raises StreamError when they are used up.
        """
        attempt = super().request_decorator(func)

        def request(*args: Any, **kwargs: Any) -> requests.Response:
            try:
                return attempt(*args, **kwargs)
            except (RetriableAPIError, requests.RequestException) as error:
                tries = self.backoff_max_tries()
                msg = f"{self.name}: gave up after {tries} tries: {self._shown(error)}"
                raise StreamError(msg) from None

        return request

    def backoff_max_tries(self) -> int:
        """The setting `max_retries`, and the first try."""
        return int(self.config["max_retries"]) + 1

    def _shown(self, text: object) -> str:
        line = " ".join(str(text).replace(self.config["api_key"], "***").split())
        return f"{line[:_SHOWN_CHARACTERS]}…" if len(line) > _SHOWN_CHARACTERS else line
