"""Reads a chain of cursors, from page to page.

API description: "Page envelope", "Pagination and ordering".
"""

import logging
from collections.abc import Callable, Generator
from dataclasses import replace
from math import inf
from queue import SimpleQueue
from threading import Event
from typing import Any

from typing_extensions import override

from tap_leadintent import threads
from tap_leadintent.api.page import Page
from tap_leadintent.api.pagination import CursorPaginator
from tap_leadintent.errors import StreamError

Fetch = Callable[[dict[str, Any], str | None, Event, float], Page]
"""Sends a request, see `Client.fetch`."""

_RESTARTS = 3
"""How often a chain begins again."""

_TOO_MANY_EMPTY = 1_000
"""Empty pages in a row after which the stream fails."""


class Chain:
    """The requests of one cursor chain. It sends nothing."""

    def __init__(self, fields: dict[str, Any], logger: logging.Logger) -> None:
        """Create the chain of a request.

        Args:
            fields: The request fields of a window, empty for all records.
            logger: Gets a line for a restart.
        """
        self.fields = fields
        """The request fields, without the cursor."""
        self.records = 0
        """How many records have arrived since the last restart."""
        self._logger = logger
        self._paginator = CursorPaginator()
        self._restarts = 0
        self._refused_after: int | None = None
        self._empty = 0

    @property
    def after(self) -> str | None:
        """The `cursor.after` to send next, None for the first page."""
        return self._paginator.current_value

    @property
    def count(self) -> int:
        """How many pages have arrived since the last restart."""
        return self._paginator.count

    def take(self, page: Page) -> bool:
        """Take the page that was requested.

        Args:
            page: The page.

        Returns:
            Whether another page is to come.

        Raises:
            StreamError: Another page is to come, but its cursor is missing, or the
                cursor or the records were seen before; or too many pages were empty.
        """
        self._empty = 0 if page.raw else self._empty + 1
        if self._empty == _TOO_MANY_EMPTY:
            raise StreamError(
                f"report it to the API's support: {self._empty:,} empty pages in a row "
                "have come, each with the promise of another"
            )
        self.records += len(page.raw)
        # The SDK only passes it on to the methods of the paginator.
        self._paginator.advance(page)  # type: ignore[arg-type]
        return not self._paginator.finished

    def narrowest(self, _: BaseException) -> int | None:
        """Return how far the window may be divided after an error that ends the chain.

        Returns:
            The length in seconds from which on it is not divided any more; None if
            shorter windows would not help.
        """
        return None

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
        # A cursor that is refused at the same page again has not expired: the API may
        # have a limit of records in one query.
        is_final = self._restarts == _RESTARTS or self._refused_after == self.count
        if not error.may_be_cursor or is_final:
            raise replace(error, detail=f"page {self.count + 1}: {error.detail}")
        self._restarts += 1
        self._refused_after = self.count
        self._paginator, self.records = CursorPaginator(), 0
        self._logger.warning(
            "The API refused a cursor; the window is read again: %s", error.why
        )


class FirstPage(Chain):
    """A chain that ends with its first page."""

    @override
    def take(self, page: Page) -> bool:
        super().take(page)
        return False


def read_chain(
    chain: Chain, fetch: Fetch, raise_if_interrupted: Callable[[], None]
) -> Generator[Page]:
    """Read a chain; the next page is requested while one is used.

    Args:
        chain: The chain.
        fetch: Sends the requests, in a thread of its own.
        raise_if_interrupted: Called while a page is awaited; raises if a signal came.

    Yields:
        Each page.

    Raises:
        StreamError: A page cannot be read.
        SystemExit: A signal came while a page was awaited.
    """
    stopped, wanted = Event(), SimpleQueue[Chain | None]()
    results = SimpleQueue[Page | BaseException]()

    def send() -> None:
        while one := wanted.get():
            try:
                results.put(fetch(one.fields, one.after, stopped, inf))
            except BaseException as error:  # noqa: BLE001 - raised by the other thread
                results.put(error)

    threads.start(send, "reader")
    try:
        wanted.put(chain)
        has_more = True
        while has_more:
            result = threads.wait_for(results, raise_if_interrupted)
            if isinstance(result, BaseException):
                chain.recover(result)
                wanted.put(chain)
                continue
            if has_more := chain.take(result):
                wanted.put(chain)
            yield result
    finally:
        stopped.set()
        wanted.put(None)
