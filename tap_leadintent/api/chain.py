"""Reads a chain of cursors, from page to page.

API description: "Page envelope", "Pagination and ordering".
"""

from collections.abc import Mapping
from threading import Event
from typing import Any

from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page
from tap_leadintent.api.pagination import CursorPaginator
from tap_leadintent.errors import Action, StreamError


class Chain:
    """The pages of one request, and of those that follow its cursors."""

    def __init__(
        self,
        client: Client,
        fields: Mapping[str, Any],
        *,
        only_first: bool = False,
    ) -> None:
        """Begin a chain; nothing is sent yet.

        Args:
            client: Sends the requests.
            fields: The request fields of a window, empty for all records.
            only_first: Whether it ends with its first page.
        """
        self.client = client
        """Sends the requests."""
        self.fields = fields
        """The request fields, without the cursor."""
        self.records = 0
        """How many records have arrived since the last restart."""
        self.paginator = self._begin()
        """Follows the cursor, and counts the pages since the last restart."""
        self._only_first = only_first
        self._has_restarted = False
        self._last_record = b""

    def fetch(self, stopped: Event, max_retries: float) -> Page:
        """Request the next page.

        Args:
            stopped: Set when the page is not wanted any more.
            max_retries: As for `Client.fetch`.

        Returns:
            The page. If it `has_more`, its cursor has not been seen before.

        Raises:
            StreamError: The page cannot be read. Or another page is to come, but its
                cursor is missing, or the cursor or the records were seen before, or too
                many pages were empty.
            StoppedError: The page is not wanted any more.
        """
        while True:
            after = self.paginator.current_value
            try:
                page = self.client.fetch(self.fields, after, stopped, max_retries)
            except StreamError as error:
                self.restart_or_raise(error)
                continue
            self._count(page)
            # The SDK only passes it on to the methods of the paginator.
            self.paginator.advance(page)  # type: ignore[arg-type]
            if self._only_first or self.paginator.finished:
                return page.as_last()
            return page

    def _count(self, page: Page) -> None:
        """Count the records of a page, without one that the page before ended with."""
        if not page.raw:
            return
        self.records += len(page.raw)
        if bytes(page.raw[0]) == self._last_record:
            self.records -= 1
        self._last_record = bytes(page.raw[-1])

    def _begin(self) -> CursorPaginator:
        return CursorPaginator(
            self.client.empty_pages,
            # Only a part of a time range can be asked for.
            can_be_cut=bool(self.fields),
        )

    def restart_or_raise(self, error: StreamError) -> None:
        """Begin again, once, if a request failed because its cursor may have expired.

        The pages that have arrived are kept, and the same records arrive once more: a
        record may have moved between the pages.

        Args:
            error: Why it failed.

        Raises:
            StreamError: The chain cannot go on.
        """
        if not self.paginator.count:
            raise error
        # A cursor that is refused again has not expired: the API may have a limit of
        # records in one query.
        if Action.RESTART not in error.actions or self._has_restarted:
            detail = f"page {self.paginator.count + 1}: {error.detail}"
            raise error.changed(detail=detail)
        self._has_restarted = True
        self.paginator = self._begin()
        self.records = 0
        self._last_record = b""
        self.client.logger.warning(
            "The API refused a cursor; the window is read again: %s",
            error.why,
        )
