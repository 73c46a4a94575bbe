"""Follows a chain of cursors, from page to page.

API description: "Page envelope", "Pagination and ordering".
"""

import logging
from dataclasses import replace
from typing import Any

from singer_sdk.pagination import BaseAPIPaginator
from typing_extensions import override

from tap_leadintent.api.page import Cursor, Page
from tap_leadintent.errors import StreamError
from tap_leadintent.times import LATEST

_CURSOR_REFUSALS = frozenset({400, 404, 409, 410, 422})
"""Statuses with which a server may refuse a cursor that has expired."""

_RESTARTS = 3
"""How often a chain begins again. A lower value would fail if cursors expire now and
then. With a higher one, a window is read more often in vain if the API accepts no
cursor at all."""

_TOO_MANY_EMPTY = 1_000
"""Empty pages in a row after which the stream fails. A lower value might fail although
the next page has records. With a higher one, more requests are sent to a server that
never returns any."""


class Chain(BaseAPIPaginator[str | None]):
    """Follows `cursor.next` until `cursor.has_more` is false. It sends nothing.

    Its `current_value` is the `cursor.after` to send, None for the first page; its
    `count` is the number of pages. An empty page does not end the chain. A missing
    cursor, and one that was followed before, are errors.
    """

    def __init__(self, fields: dict[str, Any], logger: logging.Logger) -> None:
        """Start before the first page.

        Args:
            fields: The request fields of a window, empty for all records.
            logger: Gets a line for a restart.
        """
        super().__init__(None)
        self.fields = fields
        """The request fields, without the cursor."""
        self._complete_until = LATEST
        self._logger = logger
        self._seen: set[int] = set()
        self._restarts = 0
        self._empty = 0

    def take(self, page: Page) -> Page:
        """Take the page that was requested.

        Args:
            page: The page.

        Returns:
            The page. It counts as complete up to the earliest time of all pages of the
            chain so far, because records may have moved between the pages.

        Raises:
            StreamError: It has no next cursor, or one that was followed before; or it
                is one of too many empty pages.
        """
        self._empty = 0 if page.raw else self._empty + 1
        if self._empty == _TOO_MANY_EMPTY:
            raise StreamError(
                f"the API has sent {self._empty:,} empty pages in a row, each with the "
                "promise of another; report it to the API's support"
            )
        # The SDK only passes it on to the two methods below.
        self.advance(page)  # type: ignore[arg-type]
        self._complete_until = min(self._complete_until, page.as_of)
        return replace(page, as_of=self._complete_until)

    @override
    def has_more(self, response: Page) -> bool:  # type: ignore[override]
        return response.cursor.has_more

    @override
    def get_next(self, response: Page) -> str:  # type: ignore[override]
        after = response.cursor.next
        # Hashes take less memory: cursors can be long, and chains have many pages.
        if after and hash(after) not in self._seen:
            self._seen.add(hash(after))
            return after
        problem = "says has_more but carries no next cursor"
        if after:
            problem = "repeats a cursor that this chain has followed before"
        raise StreamError(
            f"page {self.count} {problem}; the stream stops rather than miss records. "
            "Report it to the API's support."
        )

    def recover(self, error: BaseException) -> None:
        """Begin again if the request failed because its cursor may have expired.

        The pages that have arrived are kept, and the same records arrive once more: a
        record may have moved between the pages.

        Args:
            error: Why it failed.

        Raises:
            BaseException: The chain cannot go on.
        """
        if not (self.count and isinstance(error, StreamError)):
            raise error
        if error.status not in _CURSOR_REFUSALS or self._restarts == _RESTARTS:
            raise replace(error, message=f"page {self.count + 1}: {error}")
        self._restarts += 1
        super().__init__(None)
        self._seen.clear()
        self._logger.warning(
            "The API refused a cursor; the window is read again: %s", error
        )


class FirstPage(Chain):
    """A chain that ends with its first page."""

    @override
    def take(self, page: Page) -> Page:
        return replace(page, cursor=Cursor(has_more=False))
