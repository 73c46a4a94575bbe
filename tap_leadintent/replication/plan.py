"""Plans what a run reads of a stream, from its state, its settings and the time.

What is due to be read again is taken out of the coverage at the beginning of a run. So
a run reads nothing but what is not covered, and whatever ends it, the next run goes on
with what is not covered then.

`planned` is the time for which the last successful plan was made: the beginning of the
last run that has completed a window, by our clock, or by the API's if that was earlier.
The state keeps it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.times import EARLIEST, LATEST

DAY = 86_400

LONGEST_UNREADABLE = 15 * 60
"""An API may not return yet what came in so many seconds before the run began."""

_SHORTEST_PERIOD = 450
"""7.5 minutes: the first age at which an instant is read again."""


@dataclass(frozen=True, kw_only=True)
class Scope:
    """What is to be read; instants are in UTC seconds since 1970.

    A run with an end reads the first range alone:

        >>> scope = Scope(ranges=["date_found", "latest_signal"], start=0, end=3600)
        >>> scope.ranges_to_read, scope.until(now=9999)
        (['date_found'], 3600)
    """

    ranges: Sequence[str] = ()
    """The time ranges of the stream."""

    start: int
    """Where the ranges begin."""

    end: int | None = None
    """Where the range ends, if that is not the present."""

    lookback: int = 0
    """How many seconds late a record may appear and is loaded all the same."""

    @property
    def ranges_to_read(self) -> Sequence[str]:
        """The ranges that a run reads: with an end, the first one alone."""
        if self.end is None:
            return self.ranges
        return self.ranges[:1]

    def until(self, now: int) -> int:
        """Return the end of the time that a run reads.

        Args:
            now: When the run begins, in UTC seconds since 1970.
        """
        if self.end is None:
            return now
        return min(now, self.end)


@dataclass(frozen=True, kw_only=True)
class Step:
    """Intervals of one time range that are read together, oldest first."""

    range_name: str
    """The range; empty for a list of all records."""

    intervals: Sequence[Interval]
    """What is read, in UTC seconds since 1970."""

    holes: Sequence[Interval] = ()
    """Parts of it that an earlier run could not read."""

    pages_per_year: int = 0
    """How many pages a year are expected; 0 if nothing is expected."""

    is_first_load: bool = False
    """Whether no earlier run has read anything of the stream. An interval of a later
    run likely holds little."""


LIST = Step(
    range_name="",
    intervals=[(0, 1)],
)
"""Reads all records without a time range. One second stands for the time of the list,
so it is read in one query."""


def without_due(
    scope: Scope,
    covered: Coverage,
    planned: int | None,
    now: int,
) -> Coverage:
    """Return what counts as covered when a run begins; the run reads everything else.

    Args:
        scope: What is to be read.
        covered: What the state covers; of it, the future does not count.
        planned: When the last run began, see above, in UTC seconds since 1970; None if
            there was none, or if nothing is due.
        now: When the run begins by our clock, in UTC seconds since 1970.

    Returns:
        For each range of the scope, what is covered and not due to be read again.
    """
    kept: Coverage = {}
    for name in scope.ranges:
        known = covered.get(name, [])
        kept[name] = intervals.overlap(known, (EARLIEST, now))
    if planned is not None and planned > now:
        # A clock has gone back.
        planned = newest_common(kept)
    if planned is None:
        return kept
    again = seconds_to_read_again(
        planned,
        now,
        scope.lookback,
    )
    if not again:
        return kept
    due = (planned - again, LATEST)
    for name, each in kept.items():
        kept[name] = intervals.subtract(each, due)
    return kept


def newest_common(coverage: Coverage) -> int | None:
    """Return up to when all ranges that have any coverage are covered.

    Args:
        coverage: What is covered of each range.

    Returns:
        The earliest of their newest covered instants, in UTC seconds since 1970; None
        if nothing is covered.
    """
    newest: list[int] = []
    for covered in coverage.values():
        if covered:
            _, end = covered[-1]
            newest.append(end)
    return min(newest, default=None)


def seconds_to_read_again(
    planned: int,
    now: int,
    lookback: int,
) -> int:
    """Return how many seconds before the last run are read again.

    An instant is read again when its age has about doubled. Time is divided into
    periods of 7.5 minutes, of 15, of 30 and so on; the longest is the first that is at
    least `lookback`. If the run lies in another period than the last one, twice the
    period is read again. So a record that appears `d` seconds late, at most `lookback`,
    is read at most `2 * d` seconds after it appears, or by the next run.

    Args:
        planned: When the last run began, see above, in UTC seconds since 1970.
        now: When the run begins.
        lookback: As in `Scope`; with 0, nothing is read again.

    Returns:
        The seconds.
    """
    longest = 0
    for period in _periods(lookback):
        if planned // period != now // period:
            longest = period
    return 2 * longest


def next_readings(
    planned: int,
    lookback: int,
) -> list[Interval]:
    """Return from when on a run reads again, and what, for each period.

    Args:
        planned: When the last run began, see above, in UTC seconds since 1970.
        lookback: As in `Scope`.

    Returns:
        For each period an instant, and how many seconds before `planned` the first run
        reads again that begins after it. The last one is the deepest.
    """
    readings: list[Interval] = []
    for period in _periods(lookback):
        next_begin = (planned // period + 1) * period
        readings.append((next_begin, 2 * period))
    return readings


def _periods(lookback: int) -> Iterator[int]:
    """Yield the periods that time is divided into, the shortest first."""
    period = _SHORTEST_PERIOD
    while lookback:
        yield period
        if period >= lookback:
            return
        period *= 2
