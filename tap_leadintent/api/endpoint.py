"""Reads the cursor chains of one endpoint, page by page.

API description: "Endpoints", "Pagination and ordering".
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from singer_sdk.exceptions import RetriableAPIError

from tap_leadintent.api.rate_limit import Wait, backoff
from tap_leadintent.errors import NoAccessError, RefusedError, StreamError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import requests

    from tap_leadintent.api.page import Page, Records
    from tap_leadintent.api.pagination import CursorPaginator
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.api.retry import Sender

    Fields = dict[str, Any]

_CURSOR_REFUSALS = frozenset({400, 404, 409, 410, 422})

_RESTARTS = 3
"""Fewer would fail on cursors that expire now and then; more would read a window again
in vain where the API accepts no cursor at all."""


_MANY_EMPTY = 100
"""Empty pages in a row that get a warning. Fewer would warn of servers that filter what
they have read; more would leave it open for longer why a run does not end."""


class _CursorRefusedError(StreamError):
    """The API refused a request with a cursor, which may have expired."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A list endpoint; safe for any number of threads."""

    sender: Sender
    """Sends the requests, with retries."""

    prepare: Callable[[Fields], requests.PreparedRequest]
    """Gives the first request of a chain; later requests differ in the body alone."""

    body: Callable[[Fields, str | None], Fields]
    """Gives a request's body from the fields of a window and `cursor.after`."""

    new_paginator: Callable[[], CursorPaginator]
    """Begins a chain."""

    def fetch(self, fields: Fields, after: str | None, check: Check) -> Page:
        """Send one request, with retries.

        Args:
            fields: The request fields of a window, empty for all records.
            after: The cursor, None for the first page.
            check: Called before the request and during waits; raises to end them.

        Returns:
            The page.

        Raises:
            NoAccessError: No connection could be made.
            StreamError: The request failed; see `responses`.
        """
        request = self.prepare(fields)
        request.prepare_body(data=None, files=None, json=self.body(fields, after))
        return self.sender.fetch(request, check)

    def read(self, fields: Fields, check: Check) -> Iterator[Page]:
        """Read one cursor chain, from the start again if the API refuses a cursor.

        Args:
            fields: The request fields of a window, empty for all records.
            check: Called before each request and during waits; raises to end the chain.

        Yields:
            Each page, as it arrives.

        Raises:
            NoAccessError: No connection could be made.
            StreamError: The chain cannot go on; see `responses` and `pagination`.
        """
        for restart in range(_RESTARTS + 1):
            try:
                yield from self._read_chain(fields, check)
            except _CursorRefusedError as error:
                if restart == _RESTARTS:
                    raise
                self.sender.logger.warning(
                    "The API refused a cursor; the window is read again: %s", error
                )
            else:
                return

    def _read_chain(self, fields: Fields, check: Check) -> Iterator[Page]:
        paginator, empty = self.new_paginator(), 0
        first = self.prepare(fields)
        while not paginator.finished:
            after = paginator.current_value
            request = first.copy()
            request.prepare_body(data=None, files=None, json=self.body(fields, after))
            try:
                page = self.sender.fetch(request, check)
            except RefusedError as error:
                if after is not None and error.status in _CURSOR_REFUSALS:
                    raise _CursorRefusedError(str(error)) from None
                raise
            except StreamError as error:
                # Without access there is no first page.
                if isinstance(error, NoAccessError) and not paginator.count:
                    raise
                msg = f"page {paginator.count + 1}: {error}"
                raise type(error)(msg, error.kind) from None
            yield page
            empty = 0 if page.count else empty + 1
            if empty == _MANY_EMPTY:
                self.sender.logger.warning(
                    "The API has sent %d empty pages in a row, each with the promise "
                    "of another; if the run does not end, report it to the API's "
                    "support",
                    empty,
                )
            paginator.advance(page)

    def decode_again(self, page: Page, error: ValueError, check: Check) -> Records:
        """Send the request of a page that cannot be decoded again.

        Args:
            page: A page of this endpoint.
            error: What its `decode` raised.
            check: As for `read`.

        Returns:
            The records of the new page.

        Raises:
            StreamError: The request failed, or its new page ends at another cursor.
        """
        for attempt in count(1):
            why = self.sender.shared.secret.summarize(error)
            failure = RetriableAPIError(f"the page cannot be decoded ({why})")
            self.sender.wait_for_retry(failure, attempt, Wait(backoff(attempt)), check)
            try:
                again = self.sender.fetch(page.request, check)
            except StreamError as failed:
                # The API has shown this page before, so it refuses neither the stream
                # nor its range.
                raise StreamError(str(failed)) from None
            if again.cursor.following != page.cursor.following:
                # The chain has gone on from the cursor that the page had at first.
                msg = (
                    "a page could not be decoded, and has another cursor when "
                    "requested again; the stream stops rather than miss records. The "
                    "next run reads it again"
                )
                raise StreamError(msg)
            try:
                return again.decode()
            except ValueError as still:
                error = still
        raise AssertionError  # count() has no end
