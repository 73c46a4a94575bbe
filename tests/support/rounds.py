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
from typing import Any

from hypothesis import strategies as st

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.ledger import State, Window
from tap_leadintent.replication.plan import Step
from tap_leadintent.replication.windows import Windows
from tap_leadintent.sandbox.world import SHAPES as SANDBOX_SHAPES

DAY = 86400
YEAR = 365 * DAY
PAGE = 100


class History:
    """Times of records; windows overlap by a second, as they do for the tap."""

    def __init__(self, times: list[int]) -> None:
        self.times = sorted(times)

    def held(self, start: int, end: int) -> int:
        return bisect_right(self.times, end) - bisect_left(self.times, start - 1)


def shaped(count: int, shape: Callable[[float], float]) -> History:
    """Spread records over a year: the x-th part of them has come after shape(x)."""
    return History([int(YEAR * shape(n / count)) for n in range(count)])


SHAPES: dict[str, Callable[[float], float]] = {
    "even": lambda share: share,
    **{name: shape for name, shape in SANDBOX_SHAPES.items() if name != "uniform"},
    "fading": lambda share: 1 - (1 - share) ** 0.33,
    "tail": lambda share: share / 4,
    "daily batches": lambda share: int(share * 365) / 365,
}


BATCHES = {
    "one second": (1, 1),
    "four seconds": (4, 1),
    "24 minutes": (24, 60),
    "spread": (0, 0),
}
"""How new records come: in so many batches, each of so many seconds."""


def increment(
    length: int, new: int, batches: int, seconds: int, seed: object
) -> History:
    """Return what a scheduled run finds in an interval of so many seconds."""
    draw = Random(f"{length}{new}{batches}{seed}")  # noqa: S311
    if not batches:
        return History([draw.randrange(length) for _ in range(new)])
    begins = [draw.randrange(max(1, length - seconds)) for _ in range(batches)]
    return History([draw.choice(begins) + draw.randrange(seconds) for _ in range(new)])


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
    return History(
        [
            start + draw.randrange(seconds)
            for start, seconds, count in clusters
            for _ in range(count)
        ]
    )


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

    def pages(self, start: int, end: int, held: int) -> list[int]:
        """Return how many records each page holds."""
        draw, pages = Random(start * 31 + end), []  # noqa: S311
        while held:
            luck = draw.random() if self.is_uneven else 1.0
            size = 0 if luck < 0.15 else self.served
            size = min(held, draw.randrange(1, size) if 0.15 <= luck < 0.3 else size)
            pages.append(size)
            held -= size
        return [*pages, 0] if self.ends_empty or not pages else pages


@dataclass(eq=False)
class _Query:
    """The pages of a window, or of the wider query that settles a doubtful one."""

    window: Window
    pages: list[int]
    settles: bool = False
    arrived: int = 0

    def next_page(self) -> tuple[int, bool]:
        self.arrived += 1
        return self.pages[self.arrived - 1], self.arrived < len(self.pages)

    @property
    def total(self) -> int:
        return sum(self.pages[: self.arrived])


def read(
    history: History, start: int, end: int, readers: int = 1, **options: Any
) -> Played:
    """Read an interval of a history with readers that take a round for a page.

    Options are `server`, `caps`, `widest` and `quiet`.
    """
    server, played = options.get("server", Server()), Played()
    caps = options.get("caps") or Caps(PAGE)
    widest = options.get("widest") or end - start
    quiet = options.get("quiet", False)
    step = Step(range_name="x", intervals=[(start, end)], has_coverage=quiet)
    windows = Windows(step, caps=caps, readers=readers, widest=widest)
    queries: list[tuple[int, int, _Query]] = []
    order = 0
    most = 30 * len(history.times) / server.served + 3000

    def begin(window: Window, since: int, *, settles: bool = False) -> None:
        nonlocal order
        order += 1
        held = history.held(since, window.end)
        query = _Query(window, server.pages(since, window.end, held), settles)
        heappush(queries, (played.rounds + 1, order, query))

    def choose() -> Window | None:
        front, doubtful = windows.ledger.front, windows.doubtful
        is_settling = any(query.settles for _, _, query in queries)
        if doubtful and doubtful is front and not is_settling:
            return doubtful
        return windows.next() or (None if is_settling else doubtful)

    while True:
        while len(queries) < readers and (window := choose()):
            is_doubtful = window.state is State.DOUBTFUL
            since = window.end - widest if is_doubtful else window.start
            if is_doubtful and widest <= window.seconds:
                total = window.records
                windows.settle(window, caps.settle(total, window.last, total))
            else:
                begin(window, since, settles=is_doubtful)
        if not queries:
            break
        while (front := windows.ledger.front) and front.state is State.READ:
            played.windows.append(front)
            windows.ledger.take_front()
        waiting = sum(q.arrived for _, _, q in queries if q.window is not front) + sum(
            len(w.pages) for w in windows.ledger if w.state is State.READ
        )
        played.waiting = max(played.waiting, waiting)
        played.rounds, number, query = heappop(queries)
        played.requests += 1
        assert played.requests < most, "windows are read again and again"
        window = query.window
        records, has_more = query.next_page()
        if query.settles:
            if records and query.total > records:
                previous = query.pages[query.arrived - 2]
                caps.note_page(query.total - records, previous, records)
            if has_more and caps.longest < window.records:
                heappush(queries, (played.rounds + 1, number, query))
            elif window.state is State.DOUBTFUL:
                wider = max(query.total, window.records)
                verdict = caps.settle(window.records, window.last, wider)
                windows.settle(window, verdict)
            windows.judge()
            continue
        if window.seconds > windows.rounding.shortest:
            seen = sum(map(bool, query.pages[: query.arrived]))
            played.longest = max(played.longest, seen)
        window.pages.append(records)
        windows.take(window, records=records, total=query.total, has_more=has_more)
        if has_more and window.state is State.READING:
            heappush(queries, (played.rounds + 1, number, query))
    played.windows += windows.ledger
    assert all(window.state is State.READ for window in played.windows)
    played.records = [window.records for window in played.windows]
    return played


def least(records: int, server: Server) -> int:
    """Return how many requests a plain cursor chain takes."""
    return max(1, ceil(records / server.served) + (server.ends_empty and records > 0))
