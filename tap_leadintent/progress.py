"""Reports how far a stream has come."""

import time
from collections.abc import Callable, Sequence

from tap_leadintent.times import format_instant

_SECONDS_BETWEEN_LINES = 15
"""Shorter would fill the log; longer would leave it open whether a run is alive."""


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


class Progress:
    """Logs every 15 seconds how far a stream has come.

    It looks at the clock only when a page has been handed over.
    """

    def __init__(self, tell: Callable[[str], object]) -> None:
        """Start now.

        Args:
            tell: Gets each line.
        """
        self._tell = tell
        self._last = time.monotonic()
        self.begin_range("", ())

    def begin_range(self, name: str, stretches: Sequence[tuple[int, int]]) -> None:
        """Start another time range.

        Args:
            name: The range.
            stretches: The intervals to read, in seconds since 1970, oldest first; empty
                for an unfiltered chain.
        """
        self._range = name
        self._stretches = stretches
        self._reached = stretches[0][0] if stretches else 0

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
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN_LINES:
            return
        self._last = now
        line = f"{counted(records, 'record')} so far"
        if self._stretches:
            whole = self._seconds_until(self._stretches[-1][1])
            # Rounded down: 100 % is all of it.
            percent = 100 * self._seconds_until(self._reached) // whole
            reached = format_instant(self._reached)
            line += f"; {percent} % of {self._range}, up to {reached}"
        self._tell(line)

    def _seconds_until(self, instant: int) -> int:
        return sum(max(0, min(end, instant) - start) for start, end in self._stretches)
