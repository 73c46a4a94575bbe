"""Times of records as they may lie in a year: even, growing, in bursts."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import ceil
from random import Random
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tap_leadintent.sandbox.data.histories import SHAPES as SANDBOX_SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.replication.windows import Window

DAY = 86400
YEAR = 365 * DAY
PAGE = 100


class History:
    """Times of records; windows overlap by a second, as they do for the tap."""

    def __init__(self, times: list[int]) -> None:
        self.times = sorted(times)
        self.pages = ceil(len(times) / PAGE)

    def held(self, window: Window) -> int:
        after = bisect_right(self.times, window.end)
        return after - bisect_left(self.times, window.start - 1)


def uniform(count: int, seed: int = 1, span: int = YEAR) -> list[int]:
    draw = Random(seed)  # noqa: S311
    return [draw.randrange(span) for _ in range(count)]


def growing(count: int) -> list[int]:
    draw = Random(1)  # noqa: S311
    return [int(YEAR * draw.random() ** 0.5) for _ in range(count)]


def gently_growing(count: int, seed: int = 1, span: int = YEAR) -> list[int]:
    """At the end there are twice as many as at the beginning."""
    draw = Random(seed)  # noqa: S311
    return [int(span * ((1 + 3 * draw.random()) ** 0.5 - 1)) for _ in range(count)]


def office_hours(count: int, seed: int = 1, span: int = YEAR) -> list[int]:
    draw = Random(seed)  # noqa: S311
    return [
        draw.randrange(span // (7 * DAY)) * 7 * DAY
        + draw.randrange(5) * DAY
        + draw.randrange(8 * 3600, 18 * 3600)
        for _ in range(count)
    ]


def bursts(count: int) -> list[int]:
    draw = Random(1)  # noqa: S311
    days = [draw.randrange(365) for _ in range(5)]
    return [
        draw.choice(days) * DAY + draw.randrange(DAY)
        if draw.random() < 0.8
        else draw.randrange(YEAR)
        for _ in range(count)
    ]


def daily(count: int) -> list[int]:
    draw = Random(1)  # noqa: S311
    return [n % 365 * DAY + 30_000 + draw.randrange(300) for n in range(count)]


CLUSTERS = st.lists(
    st.tuples(st.integers(0, YEAR), st.integers(1, 30 * DAY)), max_size=30
)
"""Where clusters of records begin, and how many seconds they last."""


def clustered(clusters: list[tuple[int, int]]) -> History:
    return History(
        [
            start + time
            for seed, (start, span) in enumerate(clusters)
            for time in uniform(300, seed, span)
        ]
    )


def shaped(count: int, shape: Callable[[float], float]) -> History:
    """Spread records over a year: the x-th part of them has come after shape(x)."""
    return History([int(YEAR * shape(n / count)) for n in range(count)])


SHAPES: dict[str, Callable[[float], float]] = {
    "even": lambda share: share,
    **SANDBOX_SHAPES,
}


HISTORIES = {
    name: History(times)
    for name, times in {
        **{f"uniform {n}": uniform(n) for n in (0, 1, 99, 100, 101, 500, 5000)},
        "uniform 200_000": uniform(200_000),
        "growing": growing(100_000),
        "bursts": bursts(50_000),
        "bursts every day": daily(100_000),
        "all in one second": [YEAR // 2 + 17] * 20_000,
    }.items()
}
