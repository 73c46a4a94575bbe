"""The server's clock, so that nothing counts as read before it could be read.

API description: it says nothing of clocks; HTTP has the `Date` of an answer.
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
"""Seconds. Less, and machines that drift would count as wrong; more, and a run would
go by a machine that is wrong by as much."""

_REMEMBERED = 7
"""Answers. Fewer, and a few of one wrong machine would outvote the others; more, and a
server that sets its clock during a run would be contradicted for longer."""

_SKEW = 60
"""Seconds. Less would warn of clocks that do no harm, more would hide some that do."""


class Reading(NamedTuple):
    """What one answer says of the time."""

    shown: int
    """Its `Date`: when it was ready, in UTC seconds since 1970."""

    sent_at: float
    """When its request was sent, by our clock, in UTC seconds since 1970."""

    seconds: float
    """How long it took."""

    @property
    def as_of(self) -> int:
        """The second of the server's clock in which its query ran at the earliest.

        A fraction is left out, as windows overlap by a second.
        """
        return self.shown - int(self.seconds)

    @property
    def ahead(self) -> float:
        """Seconds by which the server's clock is ahead of ours at least.

        Less than 0 when it is behind, and 0 when both may be right, as `Date` was
        written at some time between the request and the answer.
        """
        since_sent = self.shown - self.sent_at
        return min(since_sent, 0) or max(since_sent - self.seconds, 0)

    def agrees(self, ahead: float) -> bool:
        """Tell whether two clocks are the same, as far as it matters.

        Args:
            ahead: By how many seconds the other is ahead of ours.

        Returns:
            Whether they differ by less than an hour.
        """
        return abs(self.ahead - ahead) <= _APART


class ServerClock:
    """What the answers of a run say together; safe for several threads.

    One of a server's machines may have a wrong clock, and so may this one. What two
    clocks agree on counts: those of two answers, or that of one answer and ours.
    """

    def __init__(self, logger: logging.Logger) -> None:
        """Begin without an answer.

        Args:
            logger: Gets a warning when our clock and the server's differ.
        """
        self._logger = logger
        self._heard: deque[Reading] = deque(maxlen=_REMEMBERED)
        self._agreed: Reading | None = None
        self._confirmed: int | None = None
        """The earliest time of answers that another clock agreed with."""
        self._disputed: Reading | None = None
        """The first answer, if no other clock agreed with it."""
        self._has_conceded = False
        self._has_warned = False
        self._lock = Lock()

    @property
    def began(self) -> int | None:
        """The server's time when the run sent its first request, at the earliest.

        In UTC seconds since 1970; None before an answer has a `Date`.
        """
        disputed = self._disputed and self.as_of(self._disputed)
        known = [time for time in (self._confirmed, disputed) if time is not None]
        return min(known, default=None)

    @property
    def reached(self) -> int | None:
        """A time that the server's clock has reached, in UTC seconds since 1970.

        None as long as no two clocks agree. Afterwards it only falls, by `concede`.
        """
        if self._agreed is None:
            return None
        return self.began if self._has_conceded else self._agreed.shown

    @property
    def is_disputed(self) -> bool:
        """Whether there are answers, but no two clocks agree."""
        return bool(self._heard) and self._agreed is None

    def learn(self, reading: Reading) -> bool:
        """Learn from an answer, be it a page or a refusal.

        Args:
            reading: What it says.

        Returns:
            Whether it is to be trusted: more of the latest answers agree with it than
            with any other. Our own clock alone contradicts no answer.
        """
        with self._lock:
            self._heard.append(reading)
            votes = self._votes(reading)
            others = (r for r in self._heard if not r.agrees(reading.ahead))
            is_trusted = votes > max(map(self._votes, others), default=0)
            if is_trusted and votes > 1:
                agreeing = (r for r in self._heard if r.agrees(reading.ahead))
                self._agreed = self._agreed or min(agreeing)
                earliest = self._confirmed
                as_of = reading.as_of
                self._confirmed = as_of if earliest is None else min(as_of, earliest)
            elif is_trusted:
                self._disputed = reading
            if is_trusted:
                self._warn(reading)
        return is_trusted

    def concede(self) -> None:
        """Learn that a request was refused, maybe for a time that its query's was not.

        `reached` was the time of an answer; from now on it is that of a first query.
        """
        self._has_conceded = True

    def as_of(self, reading: Reading) -> int:
        """Tell as of when an answer is complete.

        Args:
            reading: What it says.

        Returns:
            The second in which its query ran at the earliest, in UTC since 1970. The
            clock of a first answer that has been outvoted does not count.
        """
        agreed = self._agreed
        is_outvoted = agreed is not None and not agreed.agrees(reading.ahead)
        if agreed is None or not is_outvoted or reading != self._disputed:
            return reading.as_of
        return int(reading.sent_at + agreed.shown - agreed.sent_at - agreed.seconds)

    def _votes(self, reading: Reading) -> int:
        heard = sum(other.agrees(reading.ahead) for other in self._heard)
        return heard + reading.agrees(0)

    def _warn(self, reading: Reading) -> None:
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
