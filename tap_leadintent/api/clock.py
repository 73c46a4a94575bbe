"""Compares the server's clock with ours.

The API description says nothing about clocks; HTTP has the `Date` of a response.
"""

import logging
from math import inf

from tap_leadintent.times import format_instant

_SKEW = 60
"""Seconds of a difference between the server's clock and ours that is logged."""

_ODD = 3600
"""Seconds of a difference between two machines of the server that is logged."""


class ServerClock:
    """Compares the server's clock with ours; safe for several threads.

    If the server's clock is behind ours, the run is complete only up to what that clock
    showed at the run's first request. Later time is read by the next run, and nothing
    is lost. A single machine of the server whose clock is behind the others changes
    nothing, unless it answers first: then the next run reads again what was written
    before another machine answered.
    """

    def __init__(self, logger: logging.Logger) -> None:
        """Create the clock of a run.

        Args:
            logger: Gets a warning if clocks differ.
        """
        self._logger = logger
        self._first: float | None = None
        """Seconds by which the server's clock is ahead of ours, at the first response.
        """
        self._most = -inf
        """The most seconds by which it is ahead, at any response."""
        self._first_sent = inf
        """When the first request was sent, by our clock."""
        self._is_odd = False

    def complete_to(self, run_began: int) -> int:
        """Return up to when the responses of a run can be complete.

        Args:
            run_began: When it began by our clock, in UTC seconds since 1970.

        Returns:
            That time, or the server's time at the first request if that is earlier.
        """
        if self._first is None:
            return run_began
        return min(run_began, int(self._first_sent + self._most))

    def note(
        self,
        date: int | None,
        sent_at: float,
        seconds: float,
    ) -> int | None:
        """Note the `Date` of a response.

        Args:
            date: The `Date`, in UTC seconds since 1970, if the response has one.
            sent_at: When the request was sent, by our clock, in UTC seconds since 1970.
            seconds: How long it took.

        Returns:
            When the query began by the server's clock, in UTC seconds since 1970; None
            without a `Date`.
        """
        if date is None:
            return None
        # The `Date` is set when the response is ready. Windows overlap by a second, so
        # a fraction of a second does not matter.
        began = date - int(seconds)
        ahead = date - sent_at
        # No lock is needed: one request is in flight until one has succeeded, and a
        # value that two threads set at once only makes the next run read more again.
        is_first = self._first is None
        if self._first is None:
            self._first = ahead
        self._most = max(self._most, began - int(sent_at))
        self._first_sent = min(self._first_sent, int(sent_at))
        if is_first and not -_SKEW <= ahead <= seconds + _SKEW:
            self._logger.warning(
                "Correct the clock that is wrong: the server's says %s, this machine's "
                "says %s, and a run covers the time up to the earlier one",
                format_instant(date),
                format_instant(int(sent_at)),
            )
        difference = abs(ahead - self._first)
        if difference > seconds + _ODD and not self._is_odd:
            self._is_odd = True
            self._logger.warning(
                "Tell the API's support: machines of the API have different clocks; "
                "one says %s, another said %s at that time; the later one counts",
                format_instant(int(sent_at + ahead)),
                format_instant(int(sent_at + self._first)),
            )
        return began
