"""Plays the runs of the tap over a history, without a request.

It is the tap's own reading, so what a run takes is counted and not guessed.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import NamedTuple

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.plan import Scope
from tap_leadintent.replication.protocol import OVERLAP_SECONDS
from tap_leadintent.replication.run import ReplicationRun


class Cost(NamedTuple):
    """What a run takes."""

    requests: float = 0
    records: float = 0
    """Records that the API returns, as often as it does."""

    def times(self, factor: float) -> "Cost":
        """Return the cost of so many of these runs."""
        return Cost(self.requests * factor, self.records * factor)

    def plus(self, other: "Cost") -> "Cost":
        """Return the cost of this run and another one."""
        return Cost(self.requests + other.requests, self.records + other.records)


class HistoryPage(NamedTuple):
    """A page of a history."""

    first: int
    """Which record of the history is the first one of the page."""
    records: int
    has_more: bool
    body: bytes = b""

    @property
    def fingerprint(self) -> int:
        """A hash of its records."""
        return hash((self.first, self.records))

    @property
    def ends(self) -> tuple[int, int]:
        """Which records of the history are its first and its last one."""
        return self.first, self.first + self.records - 1


@dataclass
class History:
    """When the records of a stream come, as `replication.protocol.Api`."""

    times: Mapping[str, Sequence[int]]
    """When each comes by each range, oldest first, in UTC seconds since 1970."""

    page: int
    """The most records of a page."""

    ignores_limit: bool = False
    """Whether a page holds as many, however few were asked for."""

    promises_more: bool = False
    """Whether an empty page follows each last one."""

    unit: int = 1
    """Seconds that ranges are rounded to."""

    cap: int = 0
    """Records after which the API ends each query; 0 for never."""

    pages: list[HistoryPage] = field(default_factory=list)
    """The pages that were asked for."""

    def query(
        self,
        range_name: str,
        interval: Interval,
        limit: int,
    ) -> "HistoryQuery":
        """Begin a query."""
        start, end = interval
        start -= OVERLAP_SECONDS
        start -= start % self.unit
        end += -(end + 1) % self.unit
        times = self.times[range_name]
        first = bisect_left(times, start)
        after = bisect_right(times, end)
        if self.cap:
            after = min(after, first + self.cap)
        page = self.page if self.ignores_limit else min(limit, self.page)
        return HistoryQuery(
            self,
            first,
            after,
            page,
        )

    def parse(self, body: bytes) -> HistoryPage:
        """Return the page of a body; none is ever asked for, as they are empty."""
        raise NotImplementedError(body)

    def raise_if_interrupted(self) -> None:
        """Nothing interrupts it."""


@dataclass
class HistoryQuery:
    """A query of a history."""

    history: History
    first: int
    """The first record that it returns."""
    after: int
    """The first record after these."""
    page: int
    """The most records of a page."""
    records: int = 0

    def fetch(
        self,
        stopped: Event,  # noqa: ARG002
        max_retries: float,  # noqa: ARG002
    ) -> HistoryPage:
        """Return the next page."""
        place = self.first + self.records
        records = min(self.page, self.after - place)
        self.records += records
        has_more = place + records < self.after
        if self.history.promises_more:
            has_more = records > 0
        page = HistoryPage(
            place,
            records,
            has_more,
        )
        self.history.pages.append(page)
        return page


def play(  # noqa: PLR0913 - what a run depends on
    history: History,
    scope: Scope,
    now: int,
    *,
    page_size: int,
    readers: int,
    widest: int,
    covered_to: int | None = None,
) -> Cost:
    """Count what a run takes.

    Args:
        history: What it reads.
        scope: What it is to read.
        now: When it begins, in UTC seconds since 1970.
        page_size: How many records a page it asks for.
        readers: How many requests it sends at once.
        widest: The most seconds of a window.
        covered_to: Up to when it reads nothing again; None for a first load.

    Returns:
        Its cost.
    """
    bookmark = Bookmark(caps=Caps(page_size))
    if covered_to is not None:
        for name in scope.ranges:
            bookmark.coverage[name] = [(scope.start, covered_to)]
    replication = ReplicationRun(
        api=history,
        bookmark=bookmark,
        scope=scope,
        now=now,
        complete_to=lambda: now,
        save=lambda: None,
        readers=readers,
        at_once=lambda: min(readers, 4 + len(history.pages) // 4),
        widest=widest,
    )
    history.pages.clear()
    replication.begin()
    for name in replication.passes():
        for item in replication.read(name):
            if item.is_last:
                replication.commit(name, item)
    return Cost(len(history.pages), sum(page.records for page in history.pages))
