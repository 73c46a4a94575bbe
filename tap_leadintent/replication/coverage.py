"""Knows which time intervals of each range have been read whole."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.times import EARLIEST


class Coverage:
    """The intervals that a stream has read whole, by range."""

    def __init__(
        self, covered: Iterable[tuple[str, Interval]] = (), rechecked: int | None = None
    ) -> None:
        """Start with what was covered before.

        Args:
            covered: Intervals, each with its range, in any order.
            rechecked: See the attribute.
        """
        pieces: defaultdict[str, list[Interval]] = defaultdict(list)
        for name, interval in covered:
            pieces[name].append(interval)
        self._covered = {name: intervals.union(pieces[name]) for name in pieces}
        self.rechecked = rechecked
        """When the sweep of `recheck_days` was done last, in seconds since 1970."""

    def __iter__(self) -> Iterator[tuple[str, Interval]]:
        """Give each interval with its range, by range and time."""
        for name, covered in self._covered.items():
            for interval in covered:
                yield name, interval

    def pieces(self, name: str) -> list[Interval]:
        """Give what is covered of a range.

        Args:
            name: The range.

        Returns:
            The intervals, in seconds since 1970, oldest first.
        """
        return [*self._covered.get(name, ())]

    def add(self, name: str, interval: Interval, *, until: int | None = None) -> None:
        """Note that an interval of a range has been read whole and written.

        Args:
            name: The range.
            interval: The interval, in seconds since 1970.
            until: What comes after it is covered no longer; None if all stays.
        """
        covered = self._covered.get(name, [])
        if until is not None:
            covered = intervals.overlap(covered, (EARLIEST, until))
        self._covered[name] = intervals.union([*covered, interval])
