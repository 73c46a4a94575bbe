"""Learns whether the API ends queries too early, or sends smaller pages than asked for.

Some APIs end every query after a number of records, and do not say so. Others return
smaller pages than they were asked for, but still compare a page with the size that they
were asked for, and so say too early that there is no more. A query that may have ended
too early is compared with a wider one, once. The state keeps what that shows.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock
from typing import NamedTuple

from tap_leadintent.replication.intervals import Interval, gap

_ROUND = 50
"""Limits of real APIs are multiples of this, or powers of two."""

_SMALLEST_PAGE = 5
"""No API is known whose largest pages are smaller than this."""

_FEW_RECORDS = 10
"""Fewer records are no sign of a limit, however often they come."""

_FOLLOWED = 3
"""If this many pages of a run, each with a page after it, are all smaller than asked
for, the run asks for pages of the size of the largest from then on."""

_MAX_NUMBERS = 3
"""Numbers that are remembered, the newest ones."""


class Verdict(Enum):
    """What the end of a query says."""

    COMPLETE = "complete"
    DOUBTFUL = "doubtful"
    """A wider query can tell whether the API has ended it too early."""
    SINGLE_PAGE = "single page"
    """The same query in pages of as many records can tell whether the API has ended it
    too early."""
    CAPPED = "capped"
    """Records are likely missing."""


class Ended(NamedTuple):
    """A query that has ended, as if it were complete."""

    interval: Interval
    total: int
    """How many records it has returned."""
    last: int
    """How many the last of its pages with records held."""
    limit: int
    """How many records a page were asked for."""


@dataclass
class Caps:
    """What the queries of a stream have shown.

    Its state keeps `numbers`, `page` and `whole`.
    """

    page_size: int
    """How many records a page the settings ask for; 0 if that is not known."""

    numbers: list[int] = field(default_factory=list)
    """The numbers of records after which the API seems to end a query."""

    page: int = 0
    """The records of a page if the API sends no larger ones; 0 if it sends as many as
    asked for."""

    whole: int = 0
    """A page of at most this many records is the last one if it says so, because the
    API has returned larger ones."""

    uncut: int = field(default=0, compare=False)
    """The most records of a query of this run that the API seems to have ended too
    early, and that could not be cut."""

    _longest: int = field(default=0, compare=False)
    """The most records of a query of this run."""

    _checked: int = field(default=0, compare=False)
    """The most records of a page of this run that was asked for again."""

    _followed: int = field(default=0, compare=False)
    """How many pages of this run others follow."""

    _largest: int = field(default=0, compare=False)
    """The most records of one of them."""

    _last: set[int] = field(default_factory=set, compare=False)
    """The records of the last pages of the queries of this run."""

    _ended: defaultdict[str, list[Ended]] = field(
        default_factory=lambda: defaultdict(list),
        compare=False,
    )
    """The queries of each range that have ended in this run."""

    _suspects: defaultdict[str, list[Interval]] = field(
        default_factory=lambda: defaultdict(list),
        compare=False,
    )
    """What counted as complete in this run, and probably is not."""

    _lock: Lock = field(
        default_factory=Lock,
        compare=False,
        repr=False,
    )
    """Held while the suspects change."""

    @property
    def limit(self) -> int:
        """How many records a page to ask for."""
        return min(self.page, self.page_size) or self.page_size

    def note_page(
        self,
        *,
        total: int,
        records: int,
        previous: int,
        limit: int,
    ) -> None:
        """Note a page that has arrived.

        Args:
            total: How many records its query has returned, with this page.
            records: How many the page holds.
            previous: How many the last page of its query before it with records held.
            limit: How many it was asked for.
        """
        if not records:
            return
        if limit <= self.limit:
            self._longest = max(self._longest, total)
        # The API returns such pages, so it has not cut a smaller one to that size.
        self.whole = max(self.whole, records - 1)
        # The query has gone on beyond them.
        self.numbers = [number for number in self.numbers if number >= total]
        if not previous or limit < self.limit:
            return
        if previous > self.page:
            self.page = 0
        self._followed += 1
        self._largest = max(self._largest, previous)
        self._look_for_small_pages()

    def _look_for_small_pages(self) -> None:
        """Note which size to ask for, if all followed pages are smaller than asked for.

        A followed page is one with another page after it. If the API returns smaller
        pages than it was asked for, it may end a query with such a page although more
        records are left. It is a sign of that if a followed page and a last page have
        the same size, or if there are a few followed pages. Asking for that size costs
        nothing if the API returns no larger pages.
        """
        if self.page or not 0 < self._largest < self.page_size:
            return
        if self._largest in self._last or self._followed >= _FOLLOWED:
            self.note_small(self._largest)

    def note_checked(self, records: int) -> None:
        """Note that a page has been asked for again, and is the last one of its query.

        It says little about other queries that end with such a page, as its query may
        have just as many records as the API sends in a page.

        Args:
            records: How many the page holds.
        """
        self._checked = max(self._checked, records)

    def note_small(self, records: int) -> None:
        """Note that the API has ended a query with a page that is not the last one.

        Args:
            records: How many the page holds.
        """
        self.page = records
        # Some APIs end a query after a number of pages, which hold less from now on.
        self._longest = 0
        self._find_suspects()

    def note_number(self, number: int) -> None:
        """Note that a wider query has ended after as many records, too.

        Args:
            number: The number of records.
        """
        if number not in self.numbers:
            self.numbers = [*self.numbers, number][-_MAX_NUMBERS:]
        self._find_suspects()

    def judge(
        self,
        range_name: str,
        ended: Ended,
    ) -> Verdict:
        """Judge a query that has ended.

        Args:
            range_name: Its time range; empty for a list.
            ended: The query.
        """
        self._last.add(ended.last)
        self._look_for_small_pages()
        total = ended.total
        is_small = self._is_small(ended)
        if is_small and range_name:
            # `note_end` makes it a suspect, so it is read again after its range.
            return Verdict.COMPLETE
        has_small_end = is_small and ended.last == self.page
        if total in self.numbers or has_small_end:
            return Verdict.CAPPED
        if self._may_be_small(range_name, ended):
            return Verdict.SINGLE_PAGE
        if self._may_be_capped(range_name, ended):
            return Verdict.DOUBTFUL
        return Verdict.COMPLETE

    def _may_be_capped(
        self,
        range_name: str,
        ended: Ended,
    ) -> bool:
        """Return whether the API may have ended a query at a limit of records."""
        total = ended.total
        if total < max(self._longest, 1):
            return False
        is_full = ended.last == ended.limit
        is_round = total > ended.last and _is_round(total)
        return is_full or is_round or self._is_repeated(range_name, ended)

    def _may_be_small(
        self,
        range_name: str,
        ended: Ended,
    ) -> bool:
        """Return whether a page may be the only one because the API sends no larger."""
        is_single = ended.total == ended.last < ended.limit
        # Lists would be asked for twice in each run.
        if not is_single or not range_name:
            return False
        known = max(self.whole, self._checked)
        return ended.last >= _SMALLEST_PAGE and ended.last > known

    def _is_repeated(
        self,
        range_name: str,
        ended: Ended,
    ) -> bool:
        """Return whether another query has ended after as many records."""
        if ended.total < _FEW_RECORDS:
            return False
        for each in self._ended.get(range_name, []):
            # Windows that touch overlap, so one crowded second may be all that both
            # hold.
            is_apart = gap(each.interval, ended.interval) > 0
            if is_apart and each.total == ended.total:
                return True
        return False

    def _is_small(self, ended: Ended) -> bool:
        """Return whether more records a page were asked for than the API sends."""
        return 0 < self.page < ended.limit and ended.total > 0

    def _is_suspect(self, ended: Ended) -> bool:
        return self._is_small(ended) or ended.total in self.numbers

    def note_end(
        self,
        range_name: str,
        ended: Ended,
    ) -> None:
        """Note a query that counts as complete for now.

        Args:
            range_name: Its time range; empty for a list.
            ended: The query.
        """
        if self._is_suspect(ended):
            self.note_suspect(range_name, ended.interval)
        elif ended.total:
            self._ended[range_name].append(ended)

    def _find_suspects(self) -> None:
        """Judge again which queries are complete, because more is known now."""
        for name, ended in self._ended.items():
            kept: list[Ended] = []
            for each in ended:
                if self._is_suspect(each):
                    self.note_suspect(name, each.interval)
                else:
                    kept.append(each)
            self._ended[name] = kept

    def suspects(self, range_name: str) -> list[Interval]:
        """Return what counted as complete in this run, and probably is not.

        Args:
            range_name: The time range.

        Returns:
            The intervals, which are to be read again.
        """
        return [*self._suspects.get(range_name, [])]

    def note_suspect(self, range_name: str, interval: Interval) -> None:
        """Note what is to be read again, as it is likely not complete.

        Args:
            range_name: The time range.
            interval: The interval.
        """
        with self._lock:
            self._suspects[range_name].append(interval)

    def take_suspects(self, range_name: str) -> list[Interval]:
        """Return the suspects of a time range, which are read again now.

        Readers of another range may find more of them at any time.

        Args:
            range_name: The time range.
        """
        with self._lock:
            return self._suspects.pop(range_name, [])


def _is_round(number: int) -> bool:
    """Return whether a number looks like the limit of an API."""
    is_power_of_two = number & (number - 1) == 0
    return is_power_of_two or number % _ROUND == 0
