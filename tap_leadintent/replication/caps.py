"""Learns whether the API ends queries too early.

Some APIs end every query after a number of records, without a word. Then the last page
is as full as the others, or the total is a round number. By chance, so is one query in
a hundred. That a longer query has gone on is evidence that there is no such limit.
"""

from dataclasses import dataclass, field
from enum import Enum

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

    capped: int = field(default=0, compare=False)
    """The most records of a query of this run that the API may have ended too early,
    and that could not be cut."""

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

    def judge(self, total: int, last: int, *, is_final: bool = False) -> Verdict:
        """Judge a query that has ended.

        Args:
            total: How many records it has returned.
            last: How many its last page with records held.
            is_final: Whether a wider query has returned no more, or there is none.
        """
        # An API that sends smaller pages may reckon with the size that it was asked for
        # when it says that there is no more.
        is_small = 0 < self.page < self.page_size and not self.is_exact
        if is_small and last >= max(_FEW_RECORDS, self.page):
            return Verdict.CAPPED
        if total <= self.longest or total < _FEW_RECORDS:
            return Verdict.COMPLETE
        is_round = total % _ROUND == 0 or total & (total - 1) == 0
        full = self.page_size if is_final else max(_FEW_RECORDS, self.page)
        if last < full and not is_round:
            return Verdict.COMPLETE
        return Verdict.CAPPED if is_final else Verdict.DOUBTFUL
