"""One endpoint of the API as an SDK stream: the request, the answer, the errors.

API description: "Endpoints", "Authentication", "Errors".
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import requests
from singer_sdk import RESTStream
from singer_sdk.authenticators import BearerTokenAuthenticator
from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent import __version__
from tap_leadintent.errors import StreamError
from tap_leadintent.pagination import CursorPaginator, read_page
from tap_leadintent.records import RecordShaper

if TYPE_CHECKING:
    from collections.abc import Iterable

    from singer_sdk.helpers.types import Context, RequestFunc

_ADVICE = {
    401: "the API refused the key: set api_key to a valid key, made in the dashboard "
    "under Developer -> API Keys",
    403: "this key may not read this endpoint; deselect the stream, or ask for access",
    404: "nothing answers there: check base_url, which is the root without /v1",
}

_SHOWN_CHARACTERS = 300


class LeadIntentStream(RESTStream[str | None]):
    """A list endpoint that is read page by page with POST requests."""

    http_method = "POST"
    allow_redirects = False
    entity: str
    """What a record is, singular; the record's own id may be named after it."""

    @property
    def url_base(self) -> str:
        """The setting `base_url`."""
        return str(self.config["base_url"]).rstrip("/")

    @property
    def authenticator(self) -> BearerTokenAuthenticator:
        """The setting `api_key` as a bearer token."""
        return BearerTokenAuthenticator(token=self.config["api_key"])

    @property
    def timeout(self) -> int:
        """Seconds to wait for a connection, and between two bytes."""
        return self.config["request_timeout_seconds"]  # type: ignore[no-any-return]

    @cached_property
    def user_agent(self) -> str:
        """The setting `user_agent`, by default the tap's name and version."""
        return self.config.get("user_agent") or f"tap-leadintent/{__version__}"

    @cached_property
    def _shaper(self) -> RecordShaper:
        return RecordShaper(
            columns=self.effective_schema["properties"],
            key_properties=self.primary_keys,
            entity=self.entity,
        )

    def prepare_request_payload(
        self,
        context: Context | None,  # noqa: ARG002
        next_page_token: str | None,
    ) -> dict[str, Any]:
        """Build the request's body.

        Args:
            context: Not used.
            next_page_token: The `cursor.after` to send, absent on the first page.

        Returns:
            The stream's `filters` and the `cursor` object, the same for all pages of
            a chain but for `after`.
        """
        cursor: dict[str, Any] = {"limit": self.config["page_size"]}
        if next_page_token is not None:
            cursor["after"] = next_page_token
        return {**self.config["filters"].get(self.name, {}), "cursor": cursor}

    def get_new_paginator(self) -> CursorPaginator:
        """Begin a chain."""
        return CursorPaginator(self.name)

    def parse_response(self, response: requests.Response) -> Iterable[dict[str, Any]]:
        """Take the records out of a page.

        Args:
            response: A response that `validate_response` let pass.

        Returns:
            The records as the API gave them, numbers with a fraction as `Decimal`.
        """
        return read_page(response).data

    def post_process(
        self,
        row: dict[str, Any],
        context: Context | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Shape a record by the stream's schema; see `records`."""
        return self._shaper.shape(row)

    def get_replication_key_signpost(
        self,
        context: Context | None = None,
    ) -> None:
        """Set no signpost: the stream keeps its own bookmark."""

    def _increment_stream_state(
        self,
        latest_record: dict[str, Any],
        *,
        context: Context | None = None,
    ) -> None:
        # Private, for want of a public hook: a record's replication key says nothing
        # about what has been read, so it must not move the bookmark.
        del latest_record, context

    def validate_response(self, response: requests.Response) -> None:
        """Accept a page, and nothing else.

        Args:
            response: Any response.

        Raises:
            RetriableAPIError: Another try may give the page.
            StreamError: It will not; the message says what to do.
        """
        status = response.status_code
        if status == requests.codes.ok:
            try:
                read_page(response)
            except ValueError as error:
                raise StreamError(self._not_a_page(response, error)) from error
        elif status in self.extra_retry_statuses or status >= 500:  # noqa: PLR2004
            raise RetriableAPIError(self.response_error_message(response), response)
        else:
            raise StreamError(self.response_error_message(response))

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

    def _not_a_page(self, response: requests.Response, error: Exception) -> str:
        return (
            f"{self.name}: the answer is no page of records ({error}); check base_url: "
            f"{self._shown(response.text)}"
        )

    def _shown(self, text: object) -> str:
        line = " ".join(str(text).replace(self.config["api_key"], "***").split())
        return f"{line[:_SHOWN_CHARACTERS]}…" if len(line) > _SHOWN_CHARACTERS else line
