"""Determines up to which time a response is complete.

The API description says nothing about clocks; HTTP has the `Date` of a response.
"""

import logging
from itertools import count

from tap_leadintent.times import format_instant

_SKEW = 60
"""Seconds of difference that get a warning. Less would warn of harmless differences,
more would hide harmful ones."""


class ServerClock:
    """Compares the server's clock with ours; safe for several threads."""

    def __init__(self, logger: logging.Logger) -> None:
        """Start without a response.

        Args:
            logger: Gets one warning if the two clocks differ.
        """
        self._logger = logger
        self._differences = count()

    def as_of(self, date: int | None, sent_at: float, seconds: float) -> int:
        """Return the latest time for which a response is known to be complete.

        This is the earlier of two times: when the request was sent, by our clock, and
        when its query began, by the server's. If one of the clocks is wrong, more is
        read again, and nothing is lost.

        Args:
            date: The `Date` of the response, in UTC seconds since 1970, if it has one.
            sent_at: When the request was sent, by our clock, in UTC seconds since 1970.
            seconds: How long it took.

        Returns:
            UTC seconds since 1970, rounded down, as windows overlap by a second.
        """
        if date is None:
            return int(sent_at)
        are_close = -_SKEW <= date - sent_at <= seconds + _SKEW
        # The counter is shared by threads, and only the first of them logs.
        if not are_close and next(self._differences) == 0:
            self._logger.warning(
                "The server's clock says %s, this machine's says %s; a run covers the "
                "time up to the earlier one, so correct the clock that is wrong",
                *map(format_instant, (date, int(sent_at))),
            )
        return min(int(sent_at), date - int(seconds))
