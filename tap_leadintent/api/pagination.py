"""The paginator of the cursor that travels in a request's body.

API description: "Page envelope", "Pagination and ordering".
"""

from singer_sdk.pagination import BaseAPIPaginator
from typing_extensions import override

from tap_leadintent.api.page import Page
from tap_leadintent.errors import StreamError

_TOO_MANY_EMPTY = 1_000
"""Empty pages in a row after which the stream fails."""


class CursorPaginator(BaseAPIPaginator[str | None]):
    """Follows `cursor.next` until `cursor.has_more` is false.

    An empty page does not end the chain. A missing cursor, a cursor or a page that the
    chain has seen before, and too many empty pages are errors.
    """

    def __init__(self) -> None:
        super().__init__(None)
        # Hashes take less memory: cursors can be long, and chains have many pages.
        self._cursors: set[int] = set()
        self._pages: set[int] = set()
        self._empty = 0

    @override
    def has_more(self, response: Page) -> bool:  # type: ignore[override]
        return response.cursor.has_more

    @override
    def get_next(self, response: Page) -> str:  # type: ignore[override]
        after, content = response.cursor.next, response.fingerprint
        self._empty = 0 if response.raw else self._empty + 1
        if not after:
            problem = "says has_more but carries no next cursor"
        elif hash(after) in self._cursors:
            problem = "repeats a cursor that this chain has followed before"
        elif response.raw and content in self._pages:
            problem = "repeats all records of an earlier page of this chain"
        elif self._empty == _TOO_MANY_EMPTY:
            problem = f"is the last of {self._empty:,} empty pages in a row"
        else:
            self._cursors.add(hash(after))
            self._pages.add(content)
            return after
        raise StreamError(
            f"report it to the API's support: page {self.count} {problem}, so the "
            "stream stops rather than miss records"
        )
