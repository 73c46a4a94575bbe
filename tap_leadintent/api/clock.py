"""Determines up to which time a response is complete.

The API description says nothing about clocks; HTTP has the `Date` of a response.
"""

import logging

from tap_leadintent.times import format_instant

_SKEW = 60
"""Seconds of a difference that is not yet worth a warning. A lower value would warn of
harmless differences; a higher one would hide harmful ones."""


class ServerClock:
    """Compares the server's clock with ours; safe for several threads."""

    def __init__(self, logger: logging.Logger) -> None:
        """Start without a response.

        Args:
            logger: Gets a warning if the clocks differ at the first response.
        """
        self._logger = logger
        # A dictionary, because several threads may try to set its only value at once;
        # the value is a tuple, so that `is` shows which of them has set it.
        self._first: dict[str, tuple[int]] = {}

    def as_of(self, date: int | None, sent_at: float, seconds: float) -> int:
        """Return the latest time for which a response is known to be complete.

        This is the earlier of two times: when the request was sent, by our clock, and
        when its query began, by the server's. If one of the clocks is wrong, more is
        read again, and nothing is lost.

        It is never later than for the run's first response. Otherwise, if our clock is
        ahead, a run of two days would count as complete up to the server's time at its
        end. The next lookback would then miss records that appeared meanwhile in the
        windows that the run read first.

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
