"""Plans what a run reads of a stream, from its state, its settings and the time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.times import EARLIEST, parse_instant

BEGINNING = 0
"""Where the ranges begin without a `start_date`, in seconds since 1970."""

_DAY = 86_400

_QUIET_SECONDS = 30 * _DAY
"""If a range has coverage, an interval of fewer seconds is what came since the last
run, and likely holds little."""


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
        return BEGINNING if self.start is None else self.start


class Step(NamedTuple):
    """A part of a plan: reads intervals of one time range, oldest first.

    A step without a range reads all records in one chain.
    """

    name: str
    """The range, or nothing."""

    intervals: list[Interval]
    """In UTC seconds since 1970. Without a range, it is one interval, which counts as
    covered afterwards."""

    covers: Sequence[str] = ()
    """The ranges of which each window counts as covered when it has been read."""

    has_coverage: bool = False
    """Whether earlier runs have read a part of the range."""

    unread: Sequence[Interval] = ()
    """If the newest version of a record must come last, the parts of `intervals` that
    earlier runs have not read, and the lookback. The API may return one record in
    several windows, and its newest version in the last one. So as soon as one of these
    parts has been read, everything after it is read again."""

    is_recheck: bool = False
    """Whether it is read because of `recheck_days`."""

    hint: str = ""
    """What to do if the API refuses to return all records."""

    @property
    def is_quiet(self) -> bool:
        """Whether each interval is likely to hold very little."""
        is_short = all(end - start < _QUIET_SECONDS for start, end in self.intervals)
        return self.has_coverage and is_short

    @property
    def drops_later(self) -> bool:
        """Whether reading a window takes everything after it out of the coverage."""
        return bool(self.unread)


class Plan(NamedTuple):
    """What a run reads."""

    coverage: Coverage
    """What counts as covered when the run begins."""

    steps: list[Step]
    """What it reads, in this order."""

    rechecked_before: int | None
    """When the last recheck was done, in UTC seconds since 1970. It is None without the
    setting: time that passes without rechecks must not count as rechecked later."""

    rechecked_after: int | None
    """What that becomes when all of this has been read."""


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
    kept = {**known}
    has_beginning = all(each and each[0][0] <= BEGINNING for each in known.values())
    if scope.start is None and scope.end is None and not has_beginning:
        # Nobody knows where the history begins, and windows from 1970 on would take
        # many requests.
        hint = "set start_date, so that the stream is read by time ranges"
        everything = Step("", [(BEGINNING, now)], scope.ranges, hint=hint)
        return Plan(kept, [everything], None, None)
    until = now if scope.end is None else min(now, scope.end)
    requested = (scope.since, until)
    kept[first], to_read = _to_read(known[first], requested, scope.lookback)
    steps = [Step(first, to_read, [first], bool(known[first]))]
    before = after = rechecked if scope.recheck else None
    if scope.end is None:
        for name in others:
            kept[name], to_read = _to_read(known[name], requested, scope.lookback)
            # The API may return a record in the window of each of its signals, and the
            # newest must come last: all is read from where the oldest interval begins.
            again = [(start, now) for start, _ in to_read[:1]]
            steps.append(Step(name, again, [name], bool(known[name]), to_read))
        if scope.recheck:
            before, after = (now if before is None else min(before, now)), now
            to_read = _to_recheck(scope.since, before, now, scope.recheck)
            known_before = bool(known[first])
            recheck = Step(first, to_read, [first], known_before, is_recheck=True)
            steps.append(recheck)
    needed = [step for step in steps if step.intervals]
    return Plan(kept, needed, before, after)


def _to_read(
    covered: list[Interval], requested: Interval, lookback: int
) -> tuple[list[Interval], list[Interval]]:
    """Return what stays covered of a range, and what to read of it, oldest first.

    The lookback stays covered, although it is read again. If `start_date` lies within
    it, its first part is not read now, and no later lookback reaches back to it, unless
    this run reads nothing newer. So this part is taken out of the coverage.
    """
    if not covered:
        return [], intervals.missing(requested, [])
    newest = covered[-1][1]
    oldest = newest - lookback
    settled = intervals.subtract(covered, (oldest, newest))
    to_read = intervals.missing(requested, settled)
    start, end = requested
    if oldest < start < end and newest < end:
        never_read_again = (oldest, min(newest, start))
        covered = intervals.subtract(covered, never_read_again)
    return covered, to_read


def _to_recheck(since: int, last: int, now: int, period: int) -> list[Interval]:
    """Return the intervals that a recheck reads, if the last one was done at `last`.

    Time is divided into periods since 1970. In each period, the rechecks go evenly from
    `since` to the present: when half of the period is over, they have read the first
    half of the time from `since` to then.
    """
    if now - last >= period:
        passed = [(since, now)]
    else:
        old, new = [since + (t - since) * (t % period) // period for t in (last, now)]
        is_same = last // period == now // period
        passed = [(old, new)] if is_same else [(since, new), (old, now)]
    return intervals.overlap(intervals.union(passed), (since, now))
