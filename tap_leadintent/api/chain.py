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

    Only `has_more` ends it, not an empty page. A missing cursor, and a cursor or a page
    that the chain has seen before, are errors.
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
        """How many pages have arrived since the chain began."""
        self.records = 0
        """How many records have arrived since then."""
        self._after: str | None = None
        # Hashes take less memory: cursors can be long, and chains have many pages.
        self._cursors: set[int] = set()
        self._pages: set[int] = set()
        self._empty = 0

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
        is_changed = False
        while True:
            request = (self.fields, self._after, stopped, max_retries)
            try:
                page = self.client.fetch(*request, is_changed=is_changed)
            except StreamError as error:
                is_changed = True
                self.recover(error)
                continue
            self.count += 1
            self.records += page.records
            self._empty = 0 if page.records else self._empty + 1
            if page.has_more:
                self._follow(page)
            return page.as_last() if self._only_first else page

    def _follow(self, page: Page) -> None:
        """Go on to the cursor of a page."""
        after, content = page.cursor.next, page.fingerprint
        if not after:
            problem = "says has_more but carries no next cursor"
        elif hash(after) in self._cursors:
            problem = "repeats a cursor that this chain has followed before"
        elif page.records and content in self._pages:
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
        """Begin again if a request failed because its cursor may have expired.

        The pages that have arrived are kept, and the same records arrive once more: a
        record may have moved between the pages. A chain begins again only once: the API
        may have a limit of records in one query.

        Args:
            error: Why it failed.

        Raises:
            StreamError: The chain cannot go on.
        """
        if not self.count:
            raise error
        if not error.may_be_cursor or self._has_restarted:
            detail = f"page {self.count + 1}: {error.detail}"
            raise replace(error, detail=detail)
        self._has_restarted = True
        self._begin()
        self.client.logger.warning(
            "The API refused a cursor; the window is read again: %s", error.why
        )
