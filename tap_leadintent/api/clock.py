"""Keeps the earliest time that the responses of a run have shown.

The API description says nothing about clocks; HTTP has the `Date` of a response.
"""

import logging
from threading import Lock

from tap_leadintent.times import LATEST, format_instant

_SKEW = 60
"""Seconds of a difference between two clocks that is not worth a warning."""


class ServerClock:
    """Keeps the server's time; safe for several threads.

    No interval counts as covered beyond `earliest`. If the server's clock is behind
    ours, or one of its machines has a clock that is wrong, some time is read again, and
    nothing is lost.
    """

    def __init__(self, logger: logging.Logger) -> None:
        """Create the clock of a run.

        Args:
            logger: Gets a warning if the clocks differ at the first response.
        """
        self._logger = logger
        self._lock = Lock()
        self._earliest: int | None = None

    @property
    def earliest(self) -> int:
        """The earliest time that a response has shown, in UTC seconds since 1970.

        It is `LATEST` if no response had a `Date`.
        """
        return LATEST if self._earliest is None else self._earliest

    def note(self, date: int | None, sent_at: float, seconds: float) -> int | None:
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
        with self._lock:
            is_first = self._earliest is None
            self._earliest = min(began, self.earliest)
        if is_first and not -_SKEW <= date - sent_at <= seconds + _SKEW:
            self._logger.warning(
                "The server's clock says %s, this machine's says %s; a run covers the "
                "time up to the earlier one, so correct the clock that is wrong",
                *(format_instant(int(each)) for each in (date, sent_at)),
            )
        return began
