"""One cursor chain: what it asks for next, and what a page or a refusal changes.

API description: "Page envelope", "Pagination and ordering".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tap_leadintent.api.page import Cursor
from tap_leadintent.errors import RefusedError, StreamError

if TYPE_CHECKING:
    import logging

    from tap_leadintent.api.page import Page

    Fields = dict[str, Any]

_CURSOR_REFUSALS = frozenset({400, 404, 409, 410, 422})
"""Statuses with which a server may refuse a cursor that has expired."""

_RESTARTS = 3
"""Fewer would fail on cursors that expire now and then; more would read a window again
in vain where the API accepts no cursor at all."""


class Chain:
    """A cursor chain, page by page. It says what to ask for, and sends nothing.

    It follows `cursor.next` until `cursor.has_more` is false. An empty page does not
    end it. A missing cursor, and one that was followed before, are errors.
    """

    def __init__(self, fields: Fields, logger: logging.Logger) -> None:
        """Start before the first page.

        Args:
            fields: The request fields of a window, empty for all records.
            logger: Gets a line for a restart.
        """
        self.fields = fields
        """What to ask for, besides the cursor."""
        self.ends_early = False
        """Whether it ends after its first page."""
        self._logger = logger
        self._restarts = 0
        self._begin()

    def _begin(self) -> None:
        self.after: str | None = None
        """The cursor to send next; None for the first page."""
        self._pages = 0
        self._followed: set[int] = set()

    @property
    def has_begun(self) -> bool:
        """Whether its first page has come."""
        return self._pages > 0

    def take(self, page: Page) -> Page | None:
        """Take the page that was asked for.

        Args:
            page: The page.

        Returns:
            The page, as it may be emitted; None if it may not.

        Raises:
            StreamError: It has no next cursor, or one that was followed before.
        """
        self._pages += 1
        if page.cursor.has_more:
            self._follow(page.cursor.next)
        return replace(page, cursor=Cursor(has_more=False)) if self.ends_early else page

    def _follow(self, after: str | None) -> None:
        # Hashes take less memory: cursors can be long, and chains have many pages.
        mark = hash(after)
        if not after:
            problem = "says has_more but carries no next cursor"
        elif mark in self._followed:
            problem = "repeats a cursor that this chain has followed before"
        else:
            self._followed.add(mark)
            self.after = after
            return
        msg = (
            f"page {self._pages} {problem}; the stream stops rather than miss records. "
            "Report it to the API's support."
        )
        raise StreamError(msg)

    def refuse(self, error: BaseException) -> None:
        """Learn that the request failed; begin again if a cursor may have expired.

        Args:
            error: Why it failed.

        Raises:
            BaseException: The chain cannot go on.
        """
        if not (self.has_begun and isinstance(error, StreamError)):
            raise error
        may_have_expired = (
            isinstance(error, RefusedError) and error.status in _CURSOR_REFUSALS
        )
        if not may_have_expired or self._restarts == _RESTARTS:
            msg = f"page {self._pages + 1}: {error}"
            raise type(error)(msg, error.kind)
        self._restarts += 1
        self._begin()
        self._logger.warning(
            "The API refused a cursor; the window is read again: %s", error
        )
