"""Reads again what is covered, a slice each run, so that each instant has its turn.

What is covered is taken as a circle. The recheck goes round it once in a period, from
the oldest instant to the newest and on from the oldest. So its next slice is always
what was read longest ago, up to what has been covered since.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from tap_leadintent.replication import intervals
from tap_leadintent.times import EARLIEST, LATEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.replication.coverage import Coverage
    from tap_leadintent.replication.intervals import Interval


@dataclass
class Mark:
    """How far a recheck has come; times are UTC seconds since 1970.

    From there on it goes round once a period. So each instant is read again within a
    period of its last reading.
    """

    name: str
    """The time range."""

    place: int
    """Where it goes on."""

    done: float
    """The time up to which its share has been read."""


@dataclass(frozen=True, kw_only=True)
class Recheck:
    """The recheck of a stream's first time range during a run."""

    coverage: Coverage
    """What is covered; its `recheck` says how far the recheck has come."""

    name: str
    """The range."""

    since: int
    """Where what is asked for begins, in UTC seconds since 1970."""

    period: int
    """Seconds in which all that is covered is to be read once."""

    settled: int
    """Up to where it reads; what comes later, the run reads anyway."""

    def due(self, now: int) -> list[list[Interval]]:
        """Compute what to read again by now.

        Args:
            now: The present. A share of more than a period is dropped, since all is
                read once anyway.

        Returns:
            Up to two lists of stretches, each oldest first: up to the newest covered
            instant, and on from the oldest. What the run reads anyway is not in them.
        """
        cut = (
            intervals.overlap(share, (EARLIEST, self.settled))
            for share in self._shares(now)
        )
        return [each for each in cut if each]

    def passes(self, now: Callable[[], int]) -> Iterator[list[Interval]]:
        """Give what is `due`, step by step; the share is done after the last.

        Args:
            now: Gives the present, which may turn out to be earlier in between.

        Yields:
            Stretches, oldest first. They must have been read when the next are asked
            for.
        """
        mark = self._mark(now())
        for share in self._shares(now()):
            if cut := intervals.overlap(share, (EARLIEST, self.settled)):
                yield cut
                if mark.place != cut[-1][1]:
                    return
            if mark.place != share[-1][1]:
                self.read((mark.place, share[-1][1]))
        mark.done = now()

    def read(self, window: Interval) -> None:
        """Note that a window has been read again.

        The recheck goes on at its end, unless something before it was left out.

        Args:
            window: A window of `passes`, in seconds since 1970.
        """
        mark, circle = self.coverage.recheck, self._circle()
        start, end = window
        if mark and (start == mark.place or not _way(circle, mark.place, start)):
            way = _way(circle, mark.place, end)
            mark.done += self.period * way / intervals.length(circle)
            mark.place = end

    def grow(self, window: Interval) -> None:
        """Note that a window is about to be covered, which makes the circle longer.

        What comes after it has its turn later. `done` goes back by as much, so that
        the recheck catches up.

        Args:
            window: The window, in seconds since 1970.
        """
        if not (mark := self.coverage.recheck):
            return
        circle = self._circle()
        before = intervals.length(circle)
        for new in intervals.missing(window, circle):
            after = before + intervals.length([new])
            if before:
                behind = _way(circle, new[0], mark.place)
                late = self.period * behind * (1 / before - 1 / after)
                mark.done = max(EARLIEST, mark.done - late)
            circle, before = intervals.add(circle, new), after

    def _shares(self, now: int) -> list[list[Interval]]:
        mark, circle = self._mark(now), self._circle()
        mark.done = min(max(mark.done, now - self.period), now)
        left = ceil(intervals.length(circle) * (now - mark.done) / self.period)
        shares = []
        for bounds in ((mark.place, LATEST), (EARLIEST, mark.place)):
            taken = [*_first_seconds(intervals.overlap(circle, bounds), left)]
            left -= intervals.length(taken)
            if taken:
                shares.append(taken)
        return shares

    def _mark(self, now: int) -> Mark:
        if self.coverage.recheck is None:
            self.coverage.recheck = Mark(self.name, self.since, now)
        return self.coverage.recheck

    def _circle(self) -> list[Interval]:
        covered = self.coverage.pieces(self.name)
        return intervals.overlap(covered, (self.since, LATEST))


def _way(circle: list[Interval], start: int, end: int) -> int:
    """Measure how much of a circle lies from one instant to another.

    From an instant to itself it is all of it.
    """
    if start < end:
        return intervals.length(intervals.overlap(circle, (start, end)))
    back = intervals.overlap(circle, (end, start))
    return intervals.length(circle) - intervals.length(back)


def _first_seconds(stretches: list[Interval], seconds: int) -> Iterator[Interval]:
    for start, end in stretches:
        if seconds <= 0:
            return
        yield start, min(end, start + seconds)
        seconds -= end - start
