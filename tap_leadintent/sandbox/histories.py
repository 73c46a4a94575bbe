"""The ways in which records can be spread over the history of the sandbox."""

from collections.abc import Callable, Mapping

_IN_BURSTS = 0.9
_IMPORTED = 0.8


def _office(share: float) -> float:
    working_hours = share * 365 / 7 * 5 * 8
    days, hour = divmod(working_hours, 8)
    weeks, day = divmod(days, 5)
    days_passed = weeks * 7 + day + (9 + hour) / 24
    return min(0.999999, days_passed / 365)


def _bursts(share: float) -> float:
    burst, inside = divmod(share * 10, 1)
    if inside < _IN_BURSTS:
        part_of_tenth = inside / 9
    else:
        later = inside - _IN_BURSTS
        part_of_tenth = 0.1 + later * 9
    return (burst + part_of_tenth) / 10


def _import(share: float) -> float:
    if share < _IMPORTED:
        of_import = share / _IMPORTED
        return 0.3 + of_import * 0.0005
    later = share - _IMPORTED
    return 0.3005 + later * 3.4


SHAPES: Mapping[str, Callable[[float], float]] = {
    "uniform": float,
    "growing": lambda share: share**0.33,
    "office": _office,
    "head": lambda share: 0.75 + share / 4,
    "bursts": _bursts,
    "import": _import,
}
"""For each history, the part of a year after which a share of the records has appeared.

`office`: eight hours a day, five days a week. `head`: nothing in the first three
quarters. `bursts`: nine tenths of the records in ten bursts of less than four days
each. `import`: nothing for four months, then four fifths of the records in four hours.
"""
