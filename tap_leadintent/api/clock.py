"""Determines up to which time a response is complete.

The API description says nothing about clocks; HTTP has the `Date` of a response.
"""

import logging

from tap_leadintent.times import format_instant

_SKEW = 60
"""Seconds of difference that get a warning. Less would warn of harmless differences,
more would hide harmful ones."""


class ServerClock:
    """Compares the server's clock with ours; safe for several threads."""

    def __init__(self, logger: logging.Logger) -> None:
        """Start without a response.

        Args:
            logger: Gets a warning if the clocks differ at the first response.
        """
        self._logger = logger
        # A dictionary, as several threads may set its only value at once.
        self._first: dict[str, tuple[int]] = {}

    def as_of(self, date: int | None, sent_at: float, seconds: float) -> int:
        """Return the latest time for which a response is known to be complete.

        This is the earlier of two times: when the request was sent, by our clock, and
        when its query began, by the server's. If one of the clocks is wrong, more is
        read again, and nothing is lost. It is not later than that of the run's first
        response: the lookback of the next run counts from the newest time that a run
        covers, and would not reach the windows that a long run has read first.

        Args:
            date: The `Date` of the response, in UTC seconds since 1970, if it has one.
            sent_at: When the request was sent, by our clock, in UTC seconds since 1970.
            seconds: How long it took.

        Returns:
            UTC seconds since 1970, rounded down, as windows overlap by a second.
        """
        # The `Date` is set when the response is ready.
        ready = sent_at + seconds if date is None else date
        began = (int(min(sent_at, ready - int(seconds))),)
        first = self._first.setdefault("began", began)
        if first is began and not -_SKEW <= ready - sent_at <= seconds + _SKEW:
            self._logger.warning(
                "The server's clock says %s, this machine's says %s; a run covers the "
                "time up to the earlier one, so correct the clock that is wrong",
                *(format_instant(int(each)) for each in (ready, sent_at)),
            )
        return min(*began, *first)
