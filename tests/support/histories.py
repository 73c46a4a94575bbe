"""Times of records as they may lie in a year, or in the stretch of a scheduled run."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from random import Random
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from tap_leadintent.sandbox.world import SHAPES as SANDBOX_SHAPES

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

    def held(self, window: Window) -> int:
        after = bisect_right(self.times, window.end)
        return after - bisect_left(self.times, window.start - 1)


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
    """Give what a scheduled run finds in a stretch of so many seconds."""
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
