"""Knows which time intervals of each range have been read completely."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tap_leadintent.replication import intervals
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.times import EARLIEST


class Coverage:
    """The intervals that have been read completely and written, by range."""

    def __init__(
        self, covered: Iterable[tuple[str, Interval]] = (), rechecked: int | None = None
    ) -> None:
        """Start with what was covered before.

        Args:
            covered: Intervals, each with its range, in any order.
            rechecked: See the attribute.
        """
        by_range: defaultdict[str, list[Interval]] = defaultdict(list)
        for name, interval in covered:
            by_range[name].append(interval)
        self._covered = {name: intervals.union(by_range[name]) for name in by_range}
        self.rechecked = rechecked
        """When the last recheck was done, in UTC seconds since 1970; None without one.
        """

    def __iter__(self) -> Iterator[tuple[str, Interval]]:
        """Iterate over the intervals, each with its range, by range and time."""
        for name, covered in self._covered.items():
            for interval in covered:
                yield name, interval

    def of_range(self, name: str) -> list[Interval]:
        """Return what is covered of a range.

        Args:
            name: The range.

        Returns:
            The intervals, in UTC seconds since 1970, oldest first.
        """
        return [*self._covered.get(name, ())]

    def add(self, name: str, interval: Interval, *, until: int | None = None) -> None:
        """Note that an interval of a range has been read completely and written.

        Args:
            name: The range.
            interval: The interval, in UTC seconds since 1970.
            until: Nothing after this instant stays covered; None if everything does.
        """
        covered = self._covered.get(name, [])
        if until is not None:
            covered = intervals.overlap(covered, (EARLIEST, until))
        self._covered[name] = intervals.union([*covered, interval])
