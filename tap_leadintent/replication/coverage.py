"""Knows which time intervals of each range have been read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tap_leadintent.replication import intervals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tap_leadintent.replication.intervals import Interval
    from tap_leadintent.replication.recheck import Mark


class Coverage:
    """The intervals that a stream has read whole, by range."""

    def __init__(self, covered: Iterable[tuple[str, Interval]] = ()) -> None:
        """Start with what was covered before.

        Args:
            covered: Intervals, each with its range, in any order.
        """
        by_range: dict[str, list[Interval]] = {}
        for name, interval in covered:
            by_range.setdefault(name, []).append(interval)
        self._covered = {
            name: intervals.union(pieces) for name, pieces in by_range.items()
        }
        self.recheck: Mark | None = None
        """How far the recheck of the first range has come; None before it begins."""

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

    def add(self, name: str, interval: Interval) -> None:
        """Note that an interval of a range has been read whole and written.

        Args:
            name: The range.
            interval: The interval, in seconds since 1970.
        """
        self._covered[name] = intervals.add(self._covered.get(name, []), interval)

    def begin(self, name: str, instant: int) -> None:
        """Note where the coverage of a range begins, before anything of it is read.

        Args:
            name: The range.
            instant: The beginning, in seconds since 1970; earlier times are not needed.
        """
        self._covered[name] = [(instant, instant)]

    def begin_absent(self, ranges: Sequence[str]) -> None:
        """Begin ranges of which nothing is covered where the first was first complete.

        What has moved since then has not been read.

        Args:
            ranges: The stream's time ranges; nothing happens while the first of them
                is not covered.
        """
        first, *others = ranges
        if covered := self._covered.get(first):
            for name in others:
                if self.span(name) is None:
                    self.begin(name, covered[0][1])

    def forget(
        self, name: str, gone: Interval, *, read_from_oldest: bool
    ) -> list[Interval]:
        """Take a stretch back, so that a run reads it again.

        Args:
            name: The range.
            gone: The stretch, in seconds since 1970.
            read_from_oldest: Whether runs read the range from its oldest covered
                instant on, as they do with all but a stream's first. It then keeps
                the start of `gone` as an instant where nothing older is left.

        Returns:
            What was covered of the stretch, oldest first; the coverage stays as it
            is where that is nothing.
        """
        covered = self._covered.get(name, [])
        forgotten = intervals.missing(gone, intervals.missing(gone, covered))
        if forgotten:
            left = intervals.subtract(covered, gone)
            if read_from_oldest and (not left or left[0][0] > gone[0]):
                left = intervals.add(left, (gone[0], gone[0]))
            self._covered[name] = left
        return forgotten

    def clip(self, latest: int) -> None:
        """Forget what lies in the future.

        Args:
            latest: The present, in seconds since 1970.
        """
        for name, covered in self._covered.items():
            if covered and covered[-1][1] > latest:
                self._covered[name] = intervals.clip(covered, latest)

    def span(self, name: str) -> Interval | None:
        """Find the oldest and the newest covered instant of a range.

        Args:
            name: The range.

        Returns:
            Both, in seconds since 1970, or None when nothing of the range is covered.
        """
        covered = self._covered.get(name)
        return (covered[0][0], covered[-1][1]) if covered else None

    def to_read(self, name: str, asked: Interval, lookback: int) -> list[Interval]:
        """Compute what a run must read of a range.

        It is what is asked and not covered, and again the lookback: the stretch before
        the newest covered instant. The part of the lookback that lies before `asked` is
        removed from the coverage when the run reads later times, because no later
        lookback would read it again.

        Args:
            name: The range.
            asked: What the run should cover, in seconds since 1970.
            lookback: Length of the lookback, in seconds.

        Returns:
            The stretches to read, oldest first.
        """
        covered = self._covered.get(name)
        if not covered:
            return intervals.missing(asked, [])
        newest = covered[-1][1]
        unsettled = (newest - lookback, newest)
        if unsettled[0] < asked[0] and newest < asked[1]:
            left_behind = (unsettled[0], min(newest, asked[0]))
            self._covered[name] = intervals.subtract(covered, left_behind)
        settled = intervals.subtract(covered, unsettled)
        return intervals.missing(asked, settled)
