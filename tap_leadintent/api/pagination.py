"""The paginator of the cursor that travels in a request's body.

API description: "Page envelope", "Pagination and ordering".
"""

from dataclasses import dataclass

from singer_sdk.pagination import BaseAPIPaginator
from typing_extensions import override

from tap_leadintent.api.page import Page
from tap_leadintent.errors import Action, StreamError

_MANY_EMPTY = 20
"""Empty pages in a row after which a window is cut."""

_TOO_MANY_EMPTY = 1_000
"""Empty pages in a row after which a list fails, as it cannot be cut."""

_NO_END = (
    "report it to the API's support: page {number} {problem}, so the stream stops "
    "rather than miss records"
)


@dataclass
class EmptyPages:
    """Counts the pages of a stream that hold no records, and are not the last.

    A race of two threads makes a window be cut a little later.
    """

    in_a_row: int = 0
    """How many have come since the last page with records, or the last end of a query,
    or since a window was cut."""

    most: int = _MANY_EMPTY
    """After so many a window is cut. It is halved each time, so that a query without an
    end takes few requests."""

    were_many: bool = False
    """Whether a window or a list had too many."""

    repeated_cursor: bool = False
    """Whether an empty page with the cursor of its request was taken for an end."""

    def note_end(self) -> None:
        """Note a page with records, or one that ends a query."""
        self.in_a_row = 0
        self.most = _MANY_EMPTY

    def note_empty(self) -> bool:
        """Note an empty page before the end; return whether there are too many."""
        self.in_a_row += 1
        self.were_many |= self.in_a_row >= _MANY_EMPTY
        return self.in_a_row >= self.most

    def note_cut(self) -> None:
        """Note that a window is cut, as there were too many."""
        self.in_a_row = 0
        self.most = max(1, self.most // 2)


class CursorPaginator(BaseAPIPaginator[str | None]):
    """Follows `cursor.next` until `cursor.has_more` is false.

    An empty page does not end the chain, unless it has the cursor of its own request. A
    missing cursor, a cursor or a page that the chain has seen before, and too many
    empty pages are errors.
    """

    def __init__(
        self,
        empty_pages: EmptyPages,
        *,
        can_be_cut: bool,
    ) -> None:
        """Begin a chain.

        Args:
            empty_pages: Counts the empty pages of the stream.
            can_be_cut: Whether a part of the chain can be asked for.
        """
        super().__init__(None)
        # Hashes take less memory: cursors can be long, and chains have many pages.
        self._cursors: set[int] = set()
        self._pages: set[int] = set()
        self._empty = empty_pages
        self._can_be_cut = can_be_cut

    @override
    def has_more(self, response: Page) -> bool:  # type: ignore[override]
        if response.raw or not response.cursor.has_more:
            self._empty.note_end()
        return response.cursor.has_more

    @override
    def get_next(self, response: Page) -> str | None:  # type: ignore[override]
        after = response.cursor.next
        content = response.fingerprint
        is_empty = not response.raw
        if is_empty and after and after == self.current_value:
            self._empty.repeated_cursor = True
            self._empty.note_end()
            return None
        has_many_empty = is_empty and self._empty.note_empty()
        if not after:
            problem = "says has_more but carries no next cursor"
        elif hash(after) in self._cursors:
            problem = "repeats a cursor that this chain has followed before"
        elif not is_empty and content in self._pages:
            problem = "repeats all records of an earlier page of this chain"
        elif has_many_empty and self._can_be_cut:
            count = self._empty.in_a_row
            self._empty.note_cut()
            problem = f"is the last of {count:,} empty pages in a row, without an end"
            text = _NO_END.format(number=self.count, problem=problem)
            raise StreamError(text, actions=Action.CUT)
        elif self._empty.in_a_row >= _TOO_MANY_EMPTY:
            problem = f"is the last of {_TOO_MANY_EMPTY:,} empty pages in a row"
        else:
            self._cursors.add(hash(after))
            self._pages.add(content)
            return after
        raise StreamError(_NO_END.format(number=self.count, problem=problem))
