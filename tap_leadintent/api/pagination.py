"""The cursor that travels in the request body.

API description: "Page envelope", "Pagination and ordering".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from singer_sdk.pagination import BaseAPIPaginator
from typing_extensions import override

from tap_leadintent.errors import StreamError

if TYPE_CHECKING:
    from tap_leadintent.api.page import Page


class CursorPaginator(BaseAPIPaginator[str | None]):
    """Follows `cursor.next` until `cursor.has_more` is false.

    The value is the `cursor.after` to send, None for the first page. An empty page does
    not end the chain. A missing cursor, and one that was followed before, are errors.
    """

    def __init__(self) -> None:
        """Start before the first page."""
        super().__init__(None)
        self._seen: set[int] = set()

    # The SDK only passes on what `advance` is given: here a page, not a response.

    @override
    def advance(self, response: Page) -> None:  # type: ignore[override]
        super().advance(response)  # type: ignore[arg-type]

    @override
    def has_more(self, response: Page) -> bool:  # type: ignore[override]
        return response.cursor.has_more

    @override
    def get_next(self, response: Page) -> str:  # type: ignore[override]
        after = response.cursor.next
        if not after:
            problem = "says has_more but carries no next cursor"
            raise self._error(problem)
        # Hashes take less memory: cursors can be long, and chains have many pages.
        if hash(after) in self._seen:
            problem = "repeats a cursor that this chain has followed before"
            raise self._error(problem)
        self._seen.add(hash(after))
        return after

    def _error(self, problem: str) -> StreamError:
        return StreamError(
            f"page {self.count} {problem}; the stream stops rather than miss records. "
            "Report it to the API's support."
        )
