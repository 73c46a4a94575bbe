"""Plans what a run reads of a stream, from its state, its settings and the time."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import StreamError
from tap_leadintent.replication.recheck import Recheck
from tap_leadintent.times import EARLIEST, format_instant, parse_instant

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator, Mapping, Sequence

    from tap_leadintent.replication.coverage import Coverage
    from tap_leadintent.replication.intervals import Interval

SINCE_EVER = 0
"""Where coverage begins when no `start_date` is given, in seconds since 1970."""

_DAY = 86_400

_SKEW = 60
"""Seconds of future in a state that get no warning. Fewer would warn of harmless
clocks; more would hide a wrong state."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What the settings ask for; instants are in UTC seconds since 1970."""

    ranges: Sequence[str] = ()
    """The stream's time ranges, of which the first load reads the first."""

    start: int | None = None
    """`start_date`."""

    end: int | None = None
    """`end_date`."""

    lookback: int = 0
    """`lookback_minutes`, in seconds."""

    recheck: int | None = None
    """`recheck_days`, in seconds."""

    @classmethod
    def by(cls, config: Mapping[str, Any], ranges: Sequence[str] = ()) -> Asked:
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
        """Where the first range begins."""
        return SINCE_EVER if self.start is None else self.start


class Plan:
    """What a run reads of each range, and what is covered so far.

    The first load reads the first range and notes where the coverage of the others
    begins; later runs read all ranges. If the state lacks one of the others though the
    first is covered, its coverage begins at the earliest covered end of the first:
    later changes have not been read.
    """

    def __init__(
        self, asked: Asked, coverage: Coverage, now: int, logger: logging.Logger
    ) -> None:
        """Make the plan, before the first request.

        Args:
            asked: What the settings ask for.
            coverage: What the state covers; it grows as windows are read.
            now: When the run began by our clock, in seconds since 1970.
            logger: Gets a warning when the state covers the future.
        """
        self.now = now
        """Where the run ends; earlier than our clock if the server's is behind."""
        self.coverage = coverage
        self._asked = asked
        self._logger = logger
        self._clip()
        first, *others = asked.ranges
        self._recheck = (
            None
            if asked.recheck is None
            else Recheck(
                coverage=coverage,
                name=first,
                since=asked.since,
                period=asked.recheck,
                settled=(coverage.span(first) or (0, EARLIEST))[1] - asked.lookback,
            )
        )
        self._is_rechecking = False
        self._as_of: int | None = None
        absent = [name for name in others if coverage.span(name) is None]
        self._beginning: list[str] = []
        """Ranges whose coverage begins at the start of this run, which reads none."""
        if asked.since > now:
            self.ranges: list[str] = []
            """The ranges to read, in this order."""
        elif coverage.span(first) is None:
            self._beginning = absent
            self.ranges = [name for name in asked.ranges if name not in absent]
        else:
            coverage.begin_absent(asked.ranges)
            self.ranges = list(asked.ranges)
        self._begin()

    def passes(self, name: str) -> Iterator[list[Interval]]:
        """Say what to read of a range, step by step.

        Args:
            name: One of `ranges`.

        Yields:
            Stretches to read, oldest first: `stretches`, then those of the recheck.
            They must have been read when the next are asked for.
        """
        yield self.stretches(name)
        # Now the server's clock has been seen, by which the share is measured.
        if recheck := self._recheck_of(name):
            self._is_rechecking = True
            yield from recheck.passes(self._now_by_both)
            self._is_rechecking = False

    def rechecked(self, name: str) -> list[Interval]:
        """Compute what of a range a run reads again, as its turn has come.

        Args:
            name: One of `ranges`.

        Returns:
            The stretches in the order of reading, in seconds since 1970.
        """
        recheck = self._recheck_of(name)
        return [*chain.from_iterable(recheck.due(self.now))] if recheck else []

    def stretches(self, name: str) -> list[Interval]:
        """Compute what to read of a range.

        Args:
            name: One of `ranges`.

        Returns:
            The stretches to read, oldest first, in seconds since 1970.
        """
        asked, coverage = self._asked, self.coverage
        if name == asked.ranges[0]:
            until = self.now if asked.end is None else min(self.now, asked.end)
            return coverage.to_read(name, (asked.since, until), asked.lookback)
        oldest, newest = coverage.span(name) or (self.now, self.now)
        since = max(EARLIEST, min(oldest, newest - asked.lookback))
        return coverage.to_read(name, (since, self.now), asked.lookback)

    def is_everything(self, name: str, stretches: Sequence[Interval]) -> bool:
        """Tell whether to read a range whole, without a filter on time.

        Args:
            name: The range.
            stretches: The stretches to read of it.

        Returns:
            Whether no bound is set and nothing is covered.
        """
        asked = self._asked
        is_unbounded = asked.start is None and asked.end is None
        is_whole = list(stretches) == [(SINCE_EVER, self.now)]
        return name == asked.ranges[0] and is_unbounded and is_whole

    def read(self, name: str, window: Interval, as_of: int | None) -> None:
        """Note that a window of a range has been read whole and written.

        Args:
            name: The range.
            window: The window, in seconds since 1970.
            as_of: The server's time when it was read; None if it is not known.
        """
        start, end = window
        self._as_of = as_of
        end = min(end, self.now, self.now if as_of is None else as_of)
        if start < end:
            if self._recheck and name == self._asked.ranges[0]:
                self._recheck.grow((start, end))
                if self._is_rechecking:
                    self._recheck.read((start, end))
            self.coverage.add(name, (start, end))

    def learn_clock(self, began: int | None, reached: int | None) -> None:
        """Adjust the plan to the server's clock.

        Args:
            began: The server's time at the run's first query, at the earliest.
            reached: A time that the server's clock has reached; later times are not
                read.

        Raises:
            StreamError: By that clock, all that is asked for lies in the future.
        """
        if reached is not None and reached < self.now:
            self._check_clock(reached)
            self.now = reached
            self._begin()
            self._clip()
        self._begin(began)

    def _now_by_both(self) -> int:
        # While the server's clock and ours contradict each other, the earlier counts.
        return self.now if self._as_of is None else min(self.now, self._as_of)

    def _recheck_of(self, name: str) -> Recheck | None:
        # A run with `end_date` is part of a load, which later runs recheck.
        is_rechecked = name == self._asked.ranges[0] and self._asked.end is None
        return self._recheck if is_rechecked else None

    def _begin(self, began: int | None = None) -> None:
        for name in self._beginning:
            self.coverage.begin(name, min(self.now, began or self.now))

    def _check_clock(self, reached: int) -> None:
        since = self._asked.since
        if reached < max(since - _DAY, SINCE_EVER + _DAY):
            msg = (
                f"by the server's clock it is {format_instant(reached)}, long before "
                f"{format_instant(since)}, where its range begins; the stream stops, "
                "as it would read nothing. Check base_url, or report it to the API's "
                "support"
            )
            raise StreamError(msg)

    def _clip(self) -> None:
        newest = max((end for _, (_, end) in self.coverage), default=self.now)
        if newest > self.now + _SKEW:
            self._logger.warning(
                "Its state covers a time in the future, up to %s; only what comes "
                "before %s counts",
                format_instant(newest),
                format_instant(self.now),
            )
        self.coverage.clip(self.now)
