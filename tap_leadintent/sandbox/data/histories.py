"""How the initial records spread over the history, as real ones may."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_IN_BURSTS = 0.9
_IMPORTED = 0.8


def _office(share: float) -> float:
    days, hour = divmod(share * 365 / 7 * 5 * 8, 8)
    weeks, day = divmod(days, 5)
    return min(0.999999, (weeks * 7 + day + (9 + hour) / 24) / 365)


def _bursts(share: float) -> float:
    burst, inside = divmod(share * 10, 1)
    spent = inside / 9 if inside < _IN_BURSTS else 0.1 + (inside - _IN_BURSTS) * 9
    return (burst + spent) / 10


def _import(share: float) -> float:
    if share < _IMPORTED:
        return 0.3 + share / _IMPORTED * 0.0005
    return 0.3005 + (share - _IMPORTED) * 3.4


SHAPES: Mapping[str, Callable[[float], float]] = {
    "growing": lambda share: share**0.33,
    "fading": lambda share: 1 - (1 - share) ** 0.33,
    "office": _office,
    "tail": lambda share: share / 4,
    "head": lambda share: 0.75 + share / 4,
    "bursts": _bursts,
    "import": _import,
}
"""By which part of a year's history a share of the records has come.

Office: eight hours, five days of seven. Tail and head: nothing in the last or first
three quarters. Bursts: nine tenths in ten bursts of less than four days each. Import:
nothing for four months, then four fifths in four hours.
"""
