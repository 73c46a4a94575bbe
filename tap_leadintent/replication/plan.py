"""Plans what a run reads of a stream, from its state, its settings and the time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from tap_leadintent.replication import intervals
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.times import EARLIEST, parse_instant

Past = dict[str, list[Interval]]
"""What counts as covered of each range."""

SINCE_EVER = 0
"""Where coverage begins when no `start_date` is given, in seconds since 1970."""

_DAY = 86_400

_QUIET_SECONDS = 30 * _DAY
"""Seconds of a stretch that is likely to hold little, where its range has coverage.
More would read what came in a long pause in few windows; less would cut increments."""


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


class Step(NamedTuple):
    """A part of a plan: stretches of one time range, read oldest first."""

    name: str
    """The range; empty for one chain that reads everything."""

    stretches: list[Interval]
    """In UTC seconds since 1970."""

    covers: Sequence[str]
    """The ranges of which a window counts as covered when it has been read."""

    is_quiet: bool = False
    """Whether each stretch is likely to hold next to nothing."""

    is_in_order: bool = False
    """Whether nothing after a window that has been read counts as covered."""

    kind: str = "new"
    """What it is read for, in a word or three."""


class Plan(NamedTuple):
    """What a run reads."""

    coverage: Coverage
    """What counts as covered when the run begins."""

    steps: list[Step]
    """What it reads, in this order."""

    rechecked: int | None
    """What `coverage.rechecked` becomes when all of it has been read."""


def make_plan(scope: Scope, covered: Coverage, now: int) -> Plan:
    """Plan a run.

    Args:
        scope: What the settings ask for.
        covered: What the state covers; of it, the future does not count.
        now: When the run begins by our clock, in UTC seconds since 1970.

    Returns:
        The plan.
    """
    first, *others = scope.ranges
    bounds = (EARLIEST, now)
    past = {n: intervals.overlap(covered.pieces(n), bounds) for n in scope.ranges}
    left = {**past}
    until = now if scope.end is None else min(now, scope.end)
    left[first], stretches = _to_read(past[first], (scope.since, until), scope.lookback)
    steps, since = [_step(first, stretches, past)], scope.since
    if scope.start is None and stretches and stretches[0][0] == SINCE_EVER:
        # What begins there shows each record as it is by now: it counts for all ranges.
        since = stretches[0][1]
        is_everything = scope.end is None and since == now
        whole = Step("" if is_everything else first, stretches[:1], scope.ranges)
        steps = [whole, _step(first, stretches[1:], past)]
    mark = rechecked = covered.rechecked if scope.recheck else None
    if scope.end is None:
        for name in others:
            left[name], stretches = _to_read(past[name], (since, now), scope.lookback)
            # The API may show a record in the window of each of its signals, and the
            # newest must come last: all is read again from the oldest that is missing.
            stretches = [(start, now) for start, _ in stretches[:1]]
            steps.append(_step(name, stretches, past)._replace(is_in_order=True))
        if scope.recheck:
            mark = now if mark is None else min(mark, now)
            swept = _swept(scope.since, mark, now, scope.recheck)
            steps.append(_step(first, swept, past)._replace(kind="recheck"))
            rechecked = now
    pieces = ((name, piece) for name in left for piece in left[name])
    steps = [step for step in steps if step.stretches]
    return Plan(Coverage(pieces, rechecked=mark), steps, rechecked)


def _step(name: str, stretches: list[Interval], past: Past) -> Step:
    is_short = all(end - start < _QUIET_SECONDS for start, end in stretches)
    if not past[name]:
        return Step(name, stretches, [name])
    return Step(name, stretches, [name], is_quiet=is_short, kind="new or lookback")


def _to_read(
    covered: list[Interval], asked: Interval, lookback: int
) -> tuple[list[Interval], list[Interval]]:
    """Give what stays covered of a range, and what to read of it, oldest first.

    The part of the lookback that lies before `asked` does not stay covered when the run
    reads later times, because no later lookback would read it again.
    """
    if not covered:
        return [], intervals.missing(asked, [])
    newest = covered[-1][1]
    unsettled = (newest - lookback, newest)
    stretches = intervals.missing(asked, intervals.subtract(covered, unsettled))
    if unsettled[0] < asked[0] < asked[1] and newest < asked[1]:
        left_behind = (unsettled[0], min(newest, asked[0]))
        covered = intervals.subtract(covered, left_behind)
    return covered, stretches


def _swept(since: int, mark: int, now: int, period: int) -> list[Interval]:
    """Give what the sweep of a recheck has passed between two instants.

    It goes from `since` to the present once in each period, evenly.
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
