"""Plans what a run reads of a stream, from its state, its settings and the time."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.times import EARLIEST

DAY = 86_400

_QUIET_SECONDS = 30 * DAY
"""If a range has coverage, an interval of fewer seconds is what came since the last
run, and likely holds little."""

_SHORTEST_PERIOD = 450
"""7.5 minutes: the first age at which an instant is read again."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What is to be read; instants are in UTC seconds since 1970."""

    ranges: Sequence[str] = ()
    """The time ranges; runs with an end read the first alone."""

    start: int
    """Where the ranges begin."""

    end: int | None = None
    """Where the range ends, if that is not the present."""

    lookback: int = 0
    """How many seconds late a record may appear and is loaded all the same."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A part of a plan: reads intervals of one time range, oldest first."""

    range_name: str
    """The range; empty for a list of all records."""

    intervals: Sequence[Interval]
    """What it reads, in UTC seconds since 1970."""

    holes: Sequence[Interval] = ()
    """Parts of it that an earlier run could not read."""

    has_coverage: bool = False
    """Whether earlier runs have read a part of the range."""

    read_again_to: int | None = None
    """As soon as one of the intervals has been read, everything after it is read again
    up to this instant, if there is one. The API may return one record in several
    windows, and its newest version, which must come last, in the last one."""

    first_gap: int | None = None
    """The beginning of the oldest interval that is not covered although a later one is;
    known holes do not count. Only steps with `read_again_to` have it."""

    @property
    def is_quiet(self) -> bool:
        """Whether each interval is likely to hold very little."""
        is_short = all(end - start < _QUIET_SECONDS for start, end in self.intervals)
        return self.has_coverage and is_short


LIST = Step(range_name="", intervals=[(0, 1)], has_coverage=True)
"""Reads all records without a time range. One second stands for the time of the list,
so it is read in one query."""


class Plan(NamedTuple):
    """What a run reads."""

    coverage: Coverage
    """What counts as covered when the run begins."""

    steps: list[Step]
    """What it reads, in this order."""


def make_plan(
    scope: Scope,
    covered: Coverage,
    now: int,
    *,
    holes: Coverage | None = None,
    settled: Collection[str] = (),
) -> Plan:
    """Plan a run.

    Args:
        scope: What is to be read.
        covered: What the state covers; of it, the future does not count.
        now: When the run begins by our clock, in UTC seconds since 1970.
        holes: What earlier runs could not read.
        settled: The ranges whose newest covered instant is not read again.

    Returns:
        The plan.
    """
    until = now if scope.end is None else min(now, scope.end)
    ranges = scope.ranges if scope.end is None else scope.ranges[:1]
    kept: Coverage = {
        name: intervals.overlap(covered.get(name, []), (EARLIEST, now))
        for name in scope.ranges
    }
    steps: list[Step] = []
    for name in ranges:
        has_coverage = bool(kept[name])
        again = 0
        if has_coverage and name not in settled:
            again = seconds_to_read_again(kept[name][-1][1], now, scope.lookback)
        kept[name], to_read = _to_read(kept[name], (scope.start, until), again)
        inside = [
            part
            for each in to_read
            for part in intervals.overlap((holes or {}).get(name, []), each)
        ]
        known = intervals.union([*kept[name], *inside])
        newest = kept[name][-1][1] if kept[name] else scope.start
        gaps = intervals.missing((scope.start, newest), known)
        is_first = name == scope.ranges[0]
        if to_read:
            steps.append(
                Step(
                    range_name=name,
                    intervals=to_read,
                    holes=inside,
                    has_coverage=has_coverage,
                    read_again_to=None if is_first else until,
                    first_gap=None if is_first or not gaps else gaps[0][0],
                )
            )
    return Plan(kept, steps)


def seconds_to_read_again(newest: int, now: int, lookback: int) -> int:
    """Return how many seconds before the newest covered instant are read again.

    An instant is read again when its age has about doubled. Time is divided into
    periods of 7.5 minutes, of 15, of 30 and so on; the longest is the first that is at
    least `lookback`. If the run lies in another period than the newest covered instant,
    twice the period is read again. So a record that appears `d` seconds late, at most
    `lookback`, is read at most `2 * d` seconds after it appears, or by the next run.

    Args:
        newest: The newest covered instant, in UTC seconds since 1970.
        now: When the run begins.
        lookback: As in `Scope`; with 0, nothing is read again.

    Returns:
        The seconds.
    """
    changed = (p for p in _periods(lookback) if newest // p != now // p)
    return 2 * max(changed, default=0)


def next_readings(newest: int, lookback: int) -> list[Interval]:
    """Return from when on a run reads again, and what, for each period.

    Args:
        newest: The newest covered instant, in UTC seconds since 1970.
        lookback: As in `Scope`.

    Returns:
        For each period an instant, and how many seconds before the newest covered
        instant the first run reads again that begins after it. The last one is the
        deepest.
    """
    return [((newest // p + 1) * p, 2 * p) for p in _periods(lookback)]


def _periods(lookback: int) -> Iterator[int]:
    """Yield the periods that time is divided into, the shortest first."""
    period = _SHORTEST_PERIOD
    while lookback:
        yield period
        if period >= lookback:
            return
        period *= 2


def _to_read(
    covered: list[Interval], requested: Interval, again: int
) -> tuple[list[Interval], list[Interval]]:
    """Return what stays covered of a range, and what to read of it, oldest first.

    What is read again stays covered. If the requested interval begins within it, its
    first part is not read now, and perhaps not when its age has doubled. So this part
    is taken out of the coverage.
    """
    if not covered:
        return [], intervals.missing(requested, [])
    newest = covered[-1][1]
    oldest = newest - again
    to_read = intervals.missing(
        requested, intervals.subtract(covered, (oldest, newest))
    )
    start, end = requested
    if oldest < start < end and newest < end:
        not_read = (oldest, min(newest, start))
        covered = intervals.subtract(covered, not_read)
    return covered, to_read
