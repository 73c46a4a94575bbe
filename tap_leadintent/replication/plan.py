"""Plans what a run reads of a stream, from its state, its settings and the time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.times import EARLIEST, parse_instant

SINCE_EVER = 0
"""Where coverage begins when no `start_date` is given, in seconds since 1970."""

_DAY = 86_400

_QUIET_SECONDS = 30 * _DAY
"""Seconds of an interval that is likely to hold little, if its range has coverage. More
would read what came in a long pause in few windows; less would cut increments."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What the settings ask for; instants are in UTC seconds since 1970."""

    ranges: Sequence[str] = ()
    """The stream's time ranges; runs with an end read the first alone."""

    start: int | None = None
    """`start_date`."""

    end: int | None = None
    """`end_date`."""

    lookback: int = 0
    """`lookback_minutes`, in seconds."""

    recheck: int | None = None
    """`recheck_days`, in seconds."""

    @classmethod
    def of(cls, config: Mapping[str, Any], ranges: Sequence[str] = ()) -> Self:
        """Read the settings.

        Args:
            config: Valid settings.
            ranges: The stream's time ranges.

        Returns:
            What they ask for.
        """
        start, end = config.get("start_date"), config.get("end_date")
        days = config.get("recheck_days")
        return cls(
            ranges=ranges,
            start=None if start is None else parse_instant(start),
            end=None if end is None else parse_instant(end, round_up=True),
            lookback=int(config["lookback_minutes"]) * 60,
            recheck=None if days is None else int(days) * _DAY,
        )

    @property
    def since(self) -> int:
        """Where the ranges begin."""
        return SINCE_EVER if self.start is None else self.start


class FullRead(NamedTuple):
    """A step that reads all records in one chain, without a time range."""

    intervals: list[Interval]
    """The one interval that counts as covered afterwards, in UTC seconds since 1970."""

    covers: Sequence[str] = ()
    """The ranges of which it counts as covered."""


class RangeRead(NamedTuple):
    """A step that reads intervals of a time range, oldest first."""

    name: str
    """The range."""

    intervals: list[Interval]
    """In UTC seconds since 1970."""

    is_quiet: bool = False
    """Whether each interval is likely to hold next to nothing."""

    drops_later: bool = False
    """Whether what lies after a window stops counting as covered when the window has
    been read; the run then reads it again, to write the newest version last."""

    is_recheck: bool = False
    """Whether it is read because of `recheck_days`; for the state tool."""

    @property
    def covers(self) -> Sequence[str]:
        """The ranges of which each window counts as covered when it has been read."""
        return [self.name]


Step = FullRead | RangeRead


class Plan(NamedTuple):
    """What a run reads."""

    coverage: Coverage
    """What counts as covered when the run begins."""

    steps: list[Step]
    """What it reads, in this order."""

    mark: int | None
    """When the last recheck counts as done, in UTC seconds since 1970, if it was."""

    rechecked: int | None
    """The same, after all of this has been read."""


def make_plan(scope: Scope, covered: Coverage, rechecked: int | None, now: int) -> Plan:
    """Plan a run.

    Args:
        scope: What the settings ask for.
        covered: What the state covers; of it, the future does not count.
        rechecked: When the last recheck was done, in UTC seconds since 1970.
        now: When the run begins by our clock, in UTC seconds since 1970.

    Returns:
        The plan.
    """
    first, *others = scope.ranges
    known = {
        name: intervals.overlap(covered.get(name, []), (EARLIEST, now))
        for name in scope.ranges
    }
    if scope.start is None and scope.end is None and not any(known.values()):
        everything = FullRead([(SINCE_EVER, now)], scope.ranges)
        return Plan({}, [everything], None, None)
    kept = {**known}
    until = now if scope.end is None else min(now, scope.end)
    requested = (scope.since, until)
    kept[first], to_read = _to_read(known[first], requested, scope.lookback)
    steps = [_range_read(first, to_read, known)]
    mark = rechecked = rechecked if scope.recheck else None
    if scope.end is None:
        for name in others:
            kept[name], to_read = _to_read(known[name], requested, scope.lookback)
            # The API may return a record in the window of each of its signals, and the
            # newest must come last: all is read from where the oldest interval begins.
            again = [(start, now) for start, _ in to_read[:1]]
            steps.append(_range_read(name, again, known)._replace(drops_later=True))
        if scope.recheck:
            mark = now if mark is None else min(mark, now)
            to_read = _to_recheck(scope.since, mark, now, scope.recheck)
            steps.append(_range_read(first, to_read, known)._replace(is_recheck=True))
            rechecked = now
    needed: list[Step] = [step for step in steps if step.intervals]
    return Plan(kept, needed, mark, rechecked)


def _range_read(
    name: str, to_read: list[Interval], known: Mapping[str, list[Interval]]
) -> RangeRead:
    """Return the step that reads intervals of a range."""
    is_short = all(end - start < _QUIET_SECONDS for start, end in to_read)
    return RangeRead(name, to_read, is_quiet=bool(known[name]) and is_short)


def _to_read(
    covered: list[Interval], requested: Interval, lookback: int
) -> tuple[list[Interval], list[Interval]]:
    """Give what stays covered of a range, and what to read of it, oldest first.

    The lookback stays covered, although it is read again. Only its part before the
    requested interval does not, when the run reads later times: no later lookback would
    read it again.
    """
    if not covered:
        return [], intervals.missing(requested, [])
    newest = covered[-1][1]
    unsettled = (newest - lookback, newest)
    to_read = intervals.missing(requested, intervals.subtract(covered, unsettled))
    start, end = requested
    if unsettled[0] < start < end and newest < end:
        never_read_again = (unsettled[0], min(newest, start))
        covered = intervals.subtract(covered, never_read_again)
    return covered, to_read


def _to_recheck(since: int, mark: int, now: int, period: int) -> list[Interval]:
    """Give the intervals that a recheck reads, if the last one was done at `mark`.

    In each period, the rechecks of all runs go once from `since` to the present,
    evenly. At an instant t, they have come as far into the time from `since` to t as t
    lies within its period: half-way at half of the period, for example.
    """
    if now - mark >= period:
        passed = [(since, now)]
    else:
        before, place = [
            since + (t - since) * (t % period) // period for t in (mark, now)
        ]
        is_same = mark // period == now // period
        passed = [(before, place)] if is_same else [(since, place), (before, now)]
    return intervals.overlap(intervals.union(passed), (since, now))
