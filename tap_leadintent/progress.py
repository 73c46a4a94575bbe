"""Reports how far a stream has come."""

from __future__ import annotations

import time
from collections import deque
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SECONDS_BETWEEN_LINES = 15
"""Shorter would fill the log; longer would leave it open whether a run is alive."""

_LINES_FOR_A_PACE = 5
"""The pace is that of the last five lines, about a minute. More lines follow an uneven
history late; fewer make the minutes left jump."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number with its noun.

    Args:
        number: The number.
        noun: The noun in the singular.
        plural: Its plural, where that is not the noun with an s.

    Returns:
        Text such as "1 record" or "1,234 records".
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


class _Sample(NamedTuple):
    time: float
    records: int
    covered: int


class Progress:
    """Logs every 15 seconds how far a stream has come.

    It looks at the clock only when a page has been handed over.
    """

    def __init__(
        self,
        tell: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start now.

        Args:
            tell: Gets each line.
            clock: A monotonic clock, in seconds.
        """
        self._tell = tell
        self._clock = clock
        self._records = 0
        self._range = ""
        self._stretches: Sequence[tuple[int, int]] = ()
        self._reached = 0
        self._samples = deque([self._sample()], maxlen=_LINES_FOR_A_PACE)

    @property
    def share(self) -> str:
        """How much of the range has been read; empty for an unfiltered chain."""
        if not self._stretches:
            return ""
        seconds = self._seconds_until(self._stretches[-1][1])
        # Rounded down: 100 % is all of it.
        percent = (
            100 * self._seconds_until(self._reached) // seconds if seconds else 100
        )
        return f"{percent} % of {self._range}"

    def begin_range(self, name: str, stretches: Sequence[tuple[int, int]]) -> None:
        """Start another time range.

        Args:
            name: The range.
            stretches: The intervals to read, in seconds since 1970, oldest first; empty
                for an unfiltered chain.
        """
        self._range = name
        self._stretches = stretches
        self._reached = 0
        self._samples.clear()
        self._samples.append(self._sample())

    def end_by(self, latest: int) -> None:
        """Leave out what lies after an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        self._stretches = [
            (start, min(end, latest))
            for start, end in self._stretches
            if start < latest
        ]

    def reach(self, instant: int) -> None:
        """Note that everything before an instant has been read.

        Args:
            instant: The instant, in seconds since 1970.
        """
        self._reached = instant

    def page(self, records: int) -> None:
        """Note a page, and log a line if the last one is 15 seconds old.

        Args:
            records: How many records of the stream have been handed over so far.
        """
        self._records = records
        if self._clock() - self._samples[-1].time >= _SECONDS_BETWEEN_LINES:
            self._tell(self._line())

    def _line(self) -> str:
        before, now = self._samples[0], self._sample()
        self._samples.append(now)
        seconds = now.time - before.time
        rate = (now.records - before.records) / seconds
        parts = [f"{counted(now.records, 'record')} so far, {rate:,.0f} a second"]
        if share := self.share:
            reached = max(self._reached, self._stretches[0][0])
            parts.append(f"{share}, up to {format_instant(reached)}")
            if now.covered > before.covered:
                pace = (now.covered - before.covered) / seconds
                left = self._seconds_until(self._stretches[-1][1]) - now.covered
                minutes = counted(ceil(left / pace / 60), "minute")
                parts.append(f"about {minutes} left")
        return "; ".join(parts)

    def _sample(self) -> _Sample:
        covered = self._seconds_until(self._reached)
        return _Sample(self._clock(), self._records, covered)

    def _seconds_until(self, instant: int) -> int:
        return sum(max(0, min(end, instant) - start) for start, end in self._stretches)
