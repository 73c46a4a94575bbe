"""How far a stream has come, in words."""

from __future__ import annotations

import time
from collections import deque
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SECONDS_BETWEEN_LINES = 15
"""Often enough to see that a run lives; four lines a minute fill no log."""

_LINES_FOR_A_PACE = 5
"""The pace is that of the last minute: histories are uneven, and single lines jump."""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Write a number of things.

    Args:
        number: How many.
        noun: One of them.
        plural: Several of them, where it is not the noun with an s.

    Returns:
        Such as "1 record" or "1,234 records".
    """
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


class _Sample(NamedTuple):
    time: float
    records: int
    covered: int


class Progress:
    """Tells now and then how far a stream has come.

    It looks at the clock only when it is told of a page.
    """

    def __init__(
        self,
        tell: Callable[[str], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin now.

        Args:
            tell: Gets each line.
            clock: Gives seconds that pass.
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
        """How much of the range has been read, empty where nobody can know."""
        if not self._stretches:
            return ""
        seconds = self._seconds_until(self._stretches[-1][1])
        # Rounded down: 100 % is all of it.
        percent = (
            100 * self._seconds_until(self._reached) // seconds if seconds else 100
        )
        return f"{percent} % of {self._range}"

    def begin_range(self, name: str, stretches: Sequence[tuple[int, int]]) -> None:
        """Go on with another time range.

        Args:
            name: The range.
            stretches: What is to be read of it, in seconds since 1970, oldest first.
        """
        self._range = name
        self._stretches = stretches
        self._reached = 0
        self._samples.clear()
        self._samples.append(self._sample())

    def end_by(self, latest: int) -> None:
        """Leave out what lies beyond an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        self._stretches = [
            (start, min(end, latest))
            for start, end in self._stretches
            if start < latest
        ]

    def reach(self, instant: int) -> None:
        """Note that all before an instant has been read.

        Args:
            instant: In seconds since 1970.
        """
        self._reached = instant

    def page(self, records: int) -> None:
        """Tell how far the stream has come, if it is time to.

        Args:
            records: How many records have been handed over since the beginning.
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
