"""Plays how windows read histories, in rounds: the time that one request takes.

A history is times of records, as they may lie in a year, or in the interval of a
scheduled run.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil
from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.ledger import Question, State, Window
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.reader import MOST_PARTS
from tap_leadintent.replication.windows import MOST_PAGES, Windows
from tap_leadintent.sandbox.histories import SHAPES as SANDBOX_SHAPES

DAY = 86400
YEAR = 365 * DAY
PAGE = 100


class History:
    """Times of records; windows overlap by a second, as they do for the tap."""

    def __init__(self, times: list[int]) -> None:
        self.times = sorted(times)

    def held(
        self,
        start: int,
        end: int,
    ) -> int:
        first = bisect_left(self.times, start - 1)
        after = bisect_right(self.times, end)
        return after - first


Shape = Callable[[float], float]

# `even` is the same as its `uniform`.
_OF_THE_SANDBOX = {**SANDBOX_SHAPES}
del _OF_THE_SANDBOX["uniform"]

SHAPES: dict[str, Shape] = {
    "even": lambda share: share,
    **_OF_THE_SANDBOX,
    "fading": lambda share: 1 - (1 - share) ** 0.33,
    "tail": lambda share: share / 4,
    "daily batches": lambda share: int(share * 365) / 365,
}


def shaped(count: int, shape: Shape) -> History:
    """Spread records over a year: the x-th part of them has come after shape(x)."""
    times: list[int] = []
    for number in range(count):
        share = shape(number / count)
        times.append(int(YEAR * share))
    return History(times)


BATCHES = {
    "one second": (1, 1),
    "four seconds": (4, 1),
    "24 minutes": (24, 60),
    "spread": (0, 0),
}
"""How new records come: in so many batches, each of so many seconds."""


def increment(
    length: int,
    new: int,
    batches: int,
    seconds: int,
    seed: object,
) -> History:
    """Return what a scheduled run finds in an interval of so many seconds."""
    draw = Random(f"{length}{new}{batches}{seed}")  # noqa: S311
    if not batches:
        times = [draw.randrange(length) for _ in range(new)]
        return History(times)
    times = []
    last = max(1, length - seconds)
    begins = [draw.randrange(last) for _ in range(batches)]
    for _ in range(new):
        begin = draw.choice(begins)
        times.append(begin + draw.randrange(seconds))
    return History(times)


CLUSTERS = st.lists(
    st.tuples(
        st.integers(0, YEAR),
        st.sampled_from([1, 60, 3600, 30 * DAY]),
        st.sampled_from([1, 90, 300, 5000]),
    ),
    max_size=12,
)
"""Where clusters of records begin, how many seconds they last, how many they hold."""


def clustered(clusters: list[tuple[int, int, int]]) -> History:
    draw = Random(1)  # noqa: S311
    times: list[int] = []
    for start, seconds, count in clusters:
        times += [start + draw.randrange(seconds) for _ in range(count)]
    return History(times)


@dataclass
class Played:
    """What it took to read a history."""

    rounds: int = 0
    requests: int = 0
    waiting: int = 0
    """The most pages that ever waited for an older window."""
    windows: list[Window] = field(default_factory=list)
    """Those that were read whole."""
    records: list[int] = field(default_factory=list)
    """How many records each of them held."""
    longest: int = 0
    """The most pages with records of a chain, also of one that was abandoned; windows
    of ten seconds aside."""


@dataclass(frozen=True)
class Server:
    """Cuts what a window holds into pages."""

    served: int = PAGE
    """Records in a full page, whatever was asked for."""
    is_uneven: bool = False
    """Whether nearly a third of the pages are short or empty."""
    ends_empty: bool = False
    """Whether another page is promised after each that holds records."""

    def pages(
        self,
        start: int,
        end: int,
        held: int,
    ) -> list[int]:
        """Return how many records each page holds."""
        pages: list[int] = []
        draw = Random(start * 31 + end) if self.is_uneven else None  # noqa: S311
        while held:
            luck = draw.random() if draw else 1.0
            size = 0 if luck < 0.15 else self.served
            if draw and 0.15 <= luck < 0.3:
                size = draw.randrange(1, size)
            pages.append(min(held, size))
            held -= pages[-1]
        if self.ends_empty or not pages:
            pages.append(0)
        return pages


class Page(NamedTuple):
    """What `Windows` looks at in a page."""

    records: int
    has_more: bool
    fingerprint: int
    body: bytes = b""
    ends: tuple[int, int] = (0, 0)


@dataclass(eq=False)
class _Query:
    """The pages of a window or a question."""

    number: int
    """How many queries began before it."""
    start: int
    pages: list[int]
    arrived: int = 0

    def next_page(self) -> Page:
        records = self.pages[self.arrived]
        self.arrived += 1
        return Page(
            records=records,
            has_more=self.arrived < len(self.pages),
            fingerprint=self.start,
        )

    @property
    def total(self) -> int:
        return sum(self.pages[: self.arrived])


def read(
    history: History,
    start: int,
    end: int,
    readers: int = 1,
    **options: Any,
) -> Played:
    """Read an interval of a history with readers that take a round for a page.

    Options are `server`, `caps`, `widest`, `quiet`, `most_pages` and `pages_per_year`.
    """
    step = Step(
        range_name="x",
        intervals=[(start, end)],
        is_first_load=not options.get("quiet", False),
        pages_per_year=options.get("pages_per_year", 0),
    )
    return _Play(
        history=history,
        readers=readers,
        server=options.get("server", Server()),
        caps=options.get("caps") or Caps(PAGE),
        widest=options.get("widest") or end - start,
        most_pages=options.get("most_pages", MOST_PAGES),
    ).read(step)


@dataclass
class _Play:
    """Plays what the threads of `Reader` do."""

    history: History
    readers: int
    server: Server
    caps: Caps
    widest: int
    most_pages: int
    played: Played = field(default_factory=Played)
    requests: list[tuple[int, int, Window]] = field(default_factory=list)
    """The rounds in which pages arrive, in the order of arrival."""
    begun: int = 0

    def read(self, step: Step) -> Played:
        self.windows = Windows(
            step,
            caps=self.caps,
            readers=min(self.readers, MOST_PARTS),
            widest=self.widest,
            now=step.intervals[-1][1],
            most_pages=self.most_pages,
        )
        most = 30 * len(self.history.times) / self.server.served + 3000
        while True:
            self._request_all()
            if not self.requests:
                break
            self._emit()
            self.played.rounds, _, window = heappop(self.requests)
            self.played.requests += 1
            assert self.played.requests < most, "windows are read again and again"
            self._take(window)
        self.played.windows += self.windows.ledger
        for window in self.played.windows:
            assert window.state is State.READ
            self.played.records.append(window.records)
        return self.played

    def _request_all(self) -> None:
        """Give each reader a window, as long as there are any."""
        while len(self.requests) < self.readers:
            window = self.windows.next()
            if not window:
                return
            self._request(window)

    def _request(self, window: Window) -> None:
        if not window.query:
            held = self.history.held(window.start, window.end)
            window.query = _Query(
                number=self.begun,
                start=window.start,
                pages=self.server.pages(window.start, window.end, held),
            )
            self.begun += 1
        arrival = (self.played.rounds + 1, window.query.number, window)
        heappush(self.requests, arrival)

    def _emit(self) -> None:
        """Take out the oldest windows that have been read, and count what waits."""
        ledger = self.windows.ledger
        while (front := ledger.front) and front.state is State.READ:
            self.played.windows.append(front)
            ledger.take_front()
        waiting = sum(len(each.pages) for each in ledger)
        if front:
            waiting -= len(front.pages)
        self.played.waiting = max(self.played.waiting, waiting)

    def _take(self, window: Window) -> None:
        page = window.query.next_page()
        if not isinstance(window, Question):
            if window.seconds > self.windows.rounding.shortest:
                arrived = window.query.pages[: window.query.arrived]
                seen = sum(map(bool, arrived))
                self.played.longest = max(self.played.longest, seen)
            window.pages.append(page)
        self.windows.note_page(window, page, window.query.total)


def least(records: int, server: Server) -> int:
    """Return how many requests a plain cursor chain takes."""
    pages = ceil(records / server.served)
    if server.ends_empty and records:
        pages += 1
    return max(1, pages)
