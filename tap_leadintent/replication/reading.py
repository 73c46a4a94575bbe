"""A window that is being read, and what has come of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tap_leadintent.api.page import Page
    from tap_leadintent.replication.windows import Window


@dataclass(eq=False)
class Reading:
    """A window that is being read."""

    window: Window

    pages: deque[Page] = field(default_factory=deque)
    """Those that wait to be handed over."""

    last_records: int = 0
    """How many records the page held that came last."""

    has_ended: bool = False
    """Whether its last page has come, or cannot come."""

    error: BaseException | None = None
    """Why the last page cannot come, if so."""

    def add(self, page: Page) -> None:
        """Take a page that has come.

        Args:
            page: The page.
        """
        self.pages.append(page)
        self.last_records = page.count
        self.has_ended = not page.cursor.has_more

    @property
    def size(self) -> int:
        """Bytes that the pages take that wait."""
        return sum(page.size for page in self.pages)

    @property
    def is_ready(self) -> bool:
        """Whether its pages can be handed over, as it is not to be read again."""
        return self.has_ended or (self.window.is_kept and bool(self.pages))
