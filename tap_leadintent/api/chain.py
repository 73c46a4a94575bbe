"""Reads a chain of cursors, from page to page.

API description: "Page envelope", "Pagination and ordering".
"""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from threading import Event
from typing import Any

from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page
from tap_leadintent.errors import StreamError

_TOO_MANY_EMPTY = 1_000
"""Empty pages in a row after which the stream fails."""


class Chain:
    """The pages of one request, and of those that follow its cursors.

    An empty page does not end the chain. A missing cursor, and a cursor or a page that
    the chain has seen before, are errors.
    """

    def __init__(
        self, client: Client, fields: Mapping[str, Any], *, only_first: bool = False
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
        self._only_first = only_first
        self._has_restarted = False
        self._begin()

    def _begin(self) -> None:
        self.count = 0
        """How many pages have arrived since the last restart."""
        self.records = 0
        """How many records they hold."""
        self._after: str | None = None
        self._empty = 0
        # Hashes take less memory: cursors can be long, and chains have many pages.
        self._cursors: set[int] = set()
        self._pages: set[int] = set()

    def fetch(self, stopped: Event, max_retries: float = inf) -> Page:
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
            try:
                page = self.client.fetch(self.fields, self._after, stopped, max_retries)
            except StreamError as error:
                self.recover(error)
                continue
            self.count += 1
            self.records += len(page.raw)
            if page.has_more:
                self._follow(page)
            return page.as_last() if self._only_first else page

    def _follow(self, page: Page) -> None:
        """Take the cursor of a page, unless that would lead nowhere."""
        after, content = page.cursor.next, page.fingerprint
        self._empty = 0 if page.raw else self._empty + 1
        if not after:
            problem = "says has_more but carries no next cursor"
        elif hash(after) in self._cursors:
            problem = "repeats a cursor that this chain has followed before"
        elif page.raw and content in self._pages:
            problem = "repeats all records of an earlier page of this chain"
        elif self._empty == _TOO_MANY_EMPTY:
            problem = f"is the last of {self._empty:,} empty pages in a row"
        else:
            self._after = after
            self._cursors.add(hash(after))
            self._pages.add(content)
            return
        raise StreamError(
            f"report it to the API's support: page {self.count} {problem}, so the "
            "stream stops rather than miss records"
        )

    def recover(self, error: StreamError) -> None:
        """Begin again, once, if a request failed because its cursor may have expired.

        The pages that have arrived are kept, and the same records arrive once more: a
        record may have moved between the pages.

        Args:
            error: Why it failed.

        Raises:
            StreamError: The chain cannot go on.
        """
        if not self.count:
            raise error
        # A cursor that is refused again has not expired: the API may have a limit of
        # records in one query.
        if not error.may_be_cursor or self._has_restarted:
            error = replace(error, detail=f"page {self.count + 1}: {error.detail}")
            raise error
        self._has_restarted = True
        self._begin()
        self.client.logger.warning(
            "The API refused a cursor; the window is read again: %s", error.why
        )
