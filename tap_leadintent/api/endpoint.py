"""One endpoint of the API as an SDK stream: its requests and cursor chains.

API description: "Endpoints", "Authentication".
"""

from __future__ import annotations

import logging
import sys
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Any

from singer_sdk import RESTStream
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.exceptions import RetriableAPIError, SingerSDKError
from singer_sdk.streams.rest import PageContext

from tap_leadintent.api import responses
from tap_leadintent.api.pagination import CursorPaginator, read_page
from tap_leadintent.api.retry import Sender, Tally
from tap_leadintent.errors import RefusedError, StreamError
from tap_leadintent.redaction import Secret

if TYPE_CHECKING:
    from collections.abc import Iterator

    import requests
    from requests.adapters import HTTPAdapter
    from singer_sdk import Tap
    from singer_sdk.helpers.types import Context

    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.api.rate_limit import Check, Pace

_CURSOR_REFUSALS = frozenset({400, 404, 409, 410, 422})


class CursorRefusedError(StreamError):
    """The API refused a request with a cursor, which may have expired."""


class EndpointStream(RESTStream[str | None]):
    """A list endpoint that is read page by page with POST requests."""

    http_method = "POST"

    def __init__(self, tap: Tap, *, pace: Pace, adapter: HTTPAdapter) -> None:
        """Bind the endpoint to a run.

        Args:
            tap: The tap, with its settings.
            pace: Asked before each request.
            adapter: Keeps the connections, which all threads and streams share.
        """
        super().__init__(tap)
        self._pace = pace
        self._adapter = adapter
        self.request_counter = self.get_http_request_counter()
        self.tally = Tally()

    @cached_property
    def sender(self) -> Sender:
        """What sends the requests."""
        return Sender(
            name=self.name,
            url=self.get_url(None),
            pace=self._pace,
            adapter=self._adapter,
            timeout=self.timeout,
            retries=int(self.config["max_retries"]),
            accept=self.validate_response,
            secret=self._secret,
            counter=self.request_counter,
            tally=self.tally,
            logger=self.logger,
        )

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
        return self.sender.session

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
        return (
            self.config.get("user_agent")
            or f"tap-leadintent/{self._tap.plugin_version}"
        )

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

    def request_pages(
        self, fields: dict[str, Any], check: Check | None = None
    ) -> Iterator[Page]:
        """Read one cursor chain.

        Args:
            fields: The request fields of a window, empty for all records.
            check: Called before each request and in waits; raises to end the chain.

        Yields:
            Each page, as it arrives.

        Raises:
            CursorRefusedError: The API refused its own cursor.
            StreamError: The chain cannot go on; see `responses`, `pagination`.
        """
        paginator = self.get_new_paginator()
        first = self._prepare(fields)
        while not paginator.finished:
            after = paginator.current_value
            # The pages of a chain differ in the body alone.
            prepared = first.copy()
            body = self.prepare_request_payload(fields, after)
            prepared.prepare_body(data=None, files=None, json=body)
            try:
                response = self.sender.fetch(prepared, check or self._pace.check)
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

    def _prepare(self, fields: dict[str, Any]) -> requests.PreparedRequest:
        request = self.get_http_request(page=PageContext(fields, None))
        return self.build_prepared_request(
            method=request.method,
            url=request.url,
            headers=request.headers,
            json=request.data,
        )

    def decode(self, page: Page) -> Records:
        """Decode a page; one that turns out to be none is asked for again.

        Args:
            page: A page of `request_pages`.

        Returns:
            Its records.

        Raises:
            StreamError: It cannot be had as it was.
        """
        check = self._pace.check
        for attempt in count(1):
            try:
                return page.decode()
            except ValueError as error:
                trouble = RetriableAPIError(f"no page of records ({error})")
            try:
                self.sender.wait_for_retry(trouble, attempt, check)
                again = read_page(self.sender.fetch(page.request, check))
            except StreamError as error:
                msg = f"{self.name}: {error}"
                raise StreamError(msg) from None
            if again.cursor.following != page.cursor.following:
                # The chain has gone on from where the page ended at first.
                msg = (
                    f"{self.name}: a page could not be decoded, and ends elsewhere "
                    "when asked for again; the stream stops rather than miss records. "
                    "The next run reads it anew"
                )
                raise StreamError(msg)
            page = again
        raise AssertionError  # count() has no end

    def get_new_paginator(self) -> CursorPaginator:
        """Begin a chain."""
        return CursorPaginator(self.name)

    def validate_response(self, response: requests.Response) -> None:
        """Accept a page, and nothing else; see `responses.check`.

        Args:
            response: Any response.
        """
        responses.check(response, self._secret)

    @cached_property
    def _secret(self) -> Secret:
        return Secret(self.config["api_key"])
