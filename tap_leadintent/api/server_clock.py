"""The server's clock, so that no time counts as covered before the server reached it.

The API description says nothing about clocks; HTTP has the `Date` of a response.
"""

from __future__ import annotations

from collections import deque
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    import logging

_APART = 3600
"""Seconds of difference at which one of two clocks counts as wrong. With less, clocks
that drift would count as wrong; with more, a run would trust a clock that is wrong."""

_REMEMBERED = 7
"""Responses. With fewer, one wrong machine could outvote the others; with more, it
takes longer to accept that a server has set its clock during a run."""

_SKEW = 60
"""Seconds of difference that get a warning. Less would warn of harmless differences,
more would hide harmful ones."""


class ClockReading(NamedTuple):
    """What one response says about the time."""

    shown: int
    """Its `Date`: when the response was ready, in UTC seconds since 1970."""

    sent_at: float
    """When its request was sent, by our clock, in UTC seconds since 1970."""

    seconds: float
    """How long the request took."""

    @property
    def as_of(self) -> int:
        """The earliest second, by the server's clock, in which the query can have run.

        A fraction is left out: windows overlap by a second.
        """
        return self.shown - int(self.seconds)

    @property
    def ahead(self) -> float:
        """The least number of seconds by which the server's clock is ahead of ours.

        It is negative when the server's clock is behind. It is 0 when both clocks may
        be right: `Date` was written at some time between request and response.
        """
        since_sent = self.shown - self.sent_at
        return min(since_sent, 0) or max(since_sent - self.seconds, 0)

    def agrees(self, ahead: float) -> bool:
        """Tell whether another clock shows about the same time.

        Args:
            ahead: By how many seconds the other clock is ahead of ours.

        Returns:
            Whether the two differ by an hour at most.
        """
        return abs(self.ahead - ahead) <= _APART


class ServerClock:
    """The time by all responses of a run; safe for several threads.

    One of the server's machines may have a wrong clock, and so may this machine. A time
    counts when two clocks agree: those of two responses, or one response and ours.
    """

    def __init__(self, logger: logging.Logger) -> None:
        """Start before the first response.

        Args:
            logger: Gets a warning when our clock and the server's differ.
        """
        self._logger = logger
        self._heard: deque[ClockReading] = deque(maxlen=_REMEMBERED)
        self._agreed: ClockReading | None = None
        self._confirmed: int | None = None
        """The earliest time of answers that another clock agreed with."""
        self._disputed: ClockReading | None = None
        """The first answer, if no other clock agreed with it."""
        self._has_conceded = False
        self._has_warned = False
        self._lock = Lock()

    @property
    def began(self) -> int | None:
        """The earliest time, by the server's clock, of the run's first query.

        In UTC seconds since 1970; None before a response has a `Date`.
        """
        disputed = self._disputed and self.as_of(self._disputed)
        known = [time for time in (self._confirmed, disputed) if time is not None]
        return min(known, default=None)

    @property
    def reached(self) -> int | None:
        """A time that the server's clock has reached, in UTC seconds since 1970.

        None until two clocks agree. After that, only `concede` changes it, to an
        earlier time.
        """
        if self._agreed is None:
            return None
        return self.began if self._has_conceded else self._agreed.shown

    @property
    def is_disputed(self) -> bool:
        """Whether there are responses, but no two clocks agree."""
        return bool(self._heard) and self._agreed is None

    def learn(self, reading: ClockReading) -> bool:
        """Learn from a response, whether it is a page or a refusal.

        Args:
            reading: What the response says about the time.

        Returns:
            Whether to trust it: more of the latest responses agree with it than with
            any other. Our own clock alone does not outvote a response.
        """
        with self._lock:
            self._heard.append(reading)
            votes = self._votes(reading)
            others = (r for r in self._heard if not r.agrees(reading.ahead))
            is_trusted = votes > max(map(self._votes, others), default=0)
            if is_trusted and votes > 1:
                if self._agreed is None:
                    self._agreed = min(
                        r for r in self._heard if r.agrees(reading.ahead)
                    )
                earliest = self._confirmed
                as_of = reading.as_of
                self._confirmed = as_of if earliest is None else min(as_of, earliest)
            elif is_trusted:
                self._disputed = reading
            if is_trusted:
                self._warn(reading)
        return is_trusted

    def concede(self) -> None:
        """Take the earlier of two times as `reached`, after a refused request.

        The request may have asked for a time after its own query. `reached` was when a
        response was ready; from now on it is when the first query ran.
        """
        self._has_conceded = True

    def as_of(self, reading: ClockReading) -> int:
        """Tell up to which time a response is complete.

        Args:
            reading: What the response says about the time.

        Returns:
            The earliest second in which its query can have run, in UTC seconds since
            1970. The clock of a first response that was outvoted does not count.
        """
        agreed = self._agreed
        is_outvoted = agreed is not None and not agreed.agrees(reading.ahead)
        if agreed is None or not is_outvoted or reading != self._disputed:
            return reading.as_of
        return int(reading.sent_at + agreed.shown - agreed.sent_at - agreed.seconds)

    def _votes(self, reading: ClockReading) -> int:
        heard = sum(other.agrees(reading.ahead) for other in self._heard)
        return heard + reading.agrees(0)

    def _warn(self, reading: ClockReading) -> None:
        if self._has_warned or abs(reading.ahead) <= _SKEW:
            return
        self._has_warned = True
        shown = format_instant(reading.shown)
        apart = timedelta(seconds=round(abs(reading.ahead)))
        if reading.ahead < 0:
            self._logger.warning(
                "By the server's clock it is %s, %s behind ours; the run reads up to "
                "there",
                shown,
                apart,
            )
        else:
            self._logger.warning(
                "By the server's clock it is %s, %s ahead of ours; the run reads up to "
                "ours, so set the clock of this machine",
                shown,
                apart,
            )
