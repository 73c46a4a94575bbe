"""Learns whether the API ends queries too early.

Some APIs end every query after a number of records, without a word. Then the last page
is as full as the others, or the total is a round number. By chance, so is one query in
a hundred. That a longer query has gone on is evidence that there is no such limit.
"""

from dataclasses import dataclass
from enum import Enum

from tap_leadintent.replication.ledger import Window

_FEW_RECORDS = 20
"""Fewer records are no sign of a limit: by chance, too many small pages are as full as
others."""

_ROUND = 50
"""Limits of real APIs are multiples of this, or powers of two."""


class Verdict(Enum):
    """What the end of a query says."""

    COMPLETE = "complete"
    DOUBTFUL = "doubtful"
    """A wider query can tell whether the API ends queries after so many records."""
    CAPPED = "capped"
    """Records are likely missing."""


@dataclass
class Caps:
    """What the queries of a stream have shown; its state keeps it."""

    page_size: int
    """How many records are asked for."""

    longest: int = 0
    """The most records after which a query has gone on, so that no limit is there."""

    page: int = 0
    """The most records of a page that another one followed; 0 if none did."""

    is_exact: bool = False
    """Whether a short page has followed another one. An API that reckons with the size
    that it was asked for, when it says that there is more, never does that."""

    def note_page(self, *, total: int, records: int, previous: int) -> None:
        """Note a page; it shows something if its query has gone on with records.

        Args:
            total: How many records the query has returned, with this page.
            records: How many the page holds.
            previous: How many the last page before it with records held.
        """
        if records and total > records:
            self.page = max(self.page, previous)
            self.is_exact |= records < self.page
            self.longest = max(self.longest, total - records)

    def judge(self, total: int, last: int) -> Verdict:
        """Judge a query that has ended.

        Args:
            total: How many records it has returned.
            last: How many its last page with records held.

        Returns:
            The verdict. If it is doubtful, `settle` gives the final one.
        """
        if self._is_small_page(last):
            return Verdict.CAPPED
        if total <= self.longest or total < _FEW_RECORDS:
            return Verdict.COMPLETE
        is_full = last >= max(_FEW_RECORDS, self.page)
        is_doubtful = is_full or _is_round(total)
        return Verdict.DOUBTFUL if is_doubtful else Verdict.COMPLETE

    def settle(self, total: int, last: int, wider: int) -> Verdict:
        """Judge a doubtful query by one for the same records and others.

        Args:
            total: How many records the query has returned.
            last: How many its last page with records held.
            wider: How many the wider query has returned, `total` if there was none.

        Returns:
            Whether the query is complete or capped.
        """
        if wider > total:
            self.longest = max(self.longest, total)
            return Verdict.CAPPED if self._is_small_page(last) else Verdict.COMPLETE
        if last < self.page_size and not _is_round(total):
            return Verdict.COMPLETE
        return Verdict.CAPPED

    def _is_small_page(self, last: int) -> bool:
        """Return whether a last page is full although it holds less than was asked for.

        An API that sends smaller pages may reckon with the size that it was asked for
        when it says that there is no more.
        """
        is_small = 0 < self.page < self.page_size and not self.is_exact
        return is_small and last >= max(_FEW_RECORDS, self.page)


class WiderQuery:
    """Compares a doubtful query with one for an interval around its window."""

    def __init__(self, window: Window, caps: Caps) -> None:
        """Begin without any page.

        Args:
            window: The window of the doubtful query.
            caps: Learns from the pages of the wider query.
        """
        self._window, self._caps = window, caps
        self._total = self._last = 0
        self._has_more = True

    @property
    def is_needed(self) -> bool:
        """Whether another page is needed.

        None is when a query has gone on after as many records as the doubtful one has
        returned, as no limit is there.
        """
        return self._has_more and self._caps.longest < self._window.records

    def take(self, *, records: int, total: int, has_more: bool) -> None:
        """Note that a page of the wider query has arrived.

        Args:
            records: How many records the page holds.
            total: How many the query has returned, with this page.
            has_more: Whether another page is to come.
        """
        self._caps.note_page(total=total, records=records, previous=self._last)
        self._total, self._last = total, records or self._last
        self._has_more = has_more

    def verdict(self) -> Verdict:
        """Return whether the doubtful query is complete or capped."""
        wider = max(self._window.records, self._total)
        return self._caps.settle(self._window.records, self._window.last, wider)


def _is_round(total: int) -> bool:
    return total % _ROUND == 0 or total & (total - 1) == 0
