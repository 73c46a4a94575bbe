"""When a request may be sent: waits, shared by all streams and threads."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

from tap_leadintent.times import parse_http_date

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tap_leadintent.interruption import Interruption

    Check = Callable[[], None]

LONGEST_BACKOFF = 60.0
"""Seconds."""

LONGEST_RETRY_AFTER = 600.0
"""Seconds that a server may ask for; more is cut to this."""

_NAP = 0.1

_RISE = 0.05
"""How many more requests may be under way after an answer."""


def backoff(attempt: int) -> float:
    """Choose a wait: exponential with full jitter.

    Args:
        attempt: How many tries have failed, from 1.

    Returns:
        Seconds, at most `LONGEST_BACKOFF`.
    """
    longest = min(LONGEST_BACKOFF, 2.0 ** min(attempt, 10))
    return random.uniform(0, longest)  # noqa: S311


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read what a server says of when to come back.

    Args:
        headers: The headers of its answer.

    Returns:
        Seconds from now, uncut; None when it says nothing that makes sense, or
        nothing but "now".
    """
    text = headers.get("Retry-After", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _seconds_until(text, headers.get("Date", ""))
    return seconds if 0 < seconds < float("inf") else None


def _seconds_until(text: str, now: str) -> float:
    # By the server's own clock, which may differ from ours.
    then, present = parse_http_date(text), parse_http_date(now)
    return 0.0 if then is None else then - (time.time() if present is None else present)


class Pace:
    """Lets requests go: not while the server wants rest, nor faster than allowed.

    Who asks a server for rest is asking for fewer requests at once, too: each rest
    halves how many may be under way, and answers raise it again slowly.
    """

    def __init__(
        self,
        interruption: Interruption,
        *,
        at_once: int = 1,
        requests_per_minute: int | None = None,
    ) -> None:
        """Begin without a wait.

        Args:
            interruption: Ends waits early.
            at_once: Most requests under way.
            requests_per_minute: Most requests in a minute, evenly spread.
        """
        self.check = interruption.check
        """Ends the run with SystemExit if a signal has come."""
        self._interval = 60 / requests_per_minute if requests_per_minute else 0.0
        self._next_leave = 0.0
        self._changed = Condition()
        self._rest_until = 0.0
        self._most = self._at_once = float(at_once)
        self._under_way = 0
        self.has_succeeded = False
        """Whether any request of the run has been answered with a page."""

    def rest(self, seconds: float) -> None:
        """Hold all requests, as the server asked.

        Args:
            seconds: How long from now.
        """
        now = time.monotonic()
        with self._changed:
            # Whoever is refused during a rest had been sent before it.
            if now >= self._rest_until:
                self._most = max(1.0, self._most / 2)
            self._rest_until = max(self._rest_until, now + seconds)

    def wait(self, seconds: float, check: Check | None = None) -> None:
        """Sleep, but not through a signal.

        Args:
            seconds: How long.
            check: Called now and then; what it raises ends the wait.

        Raises:
            SystemExit: A signal came.
        """
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            (check or self.check)()
            time.sleep(min(left, _NAP))

    @contextmanager
    def turn(self, check: Check | None = None) -> Iterator[float]:
        """Wait until a request may be sent, which is then sent inside the context.

        Args:
            check: Called now and then; what it raises ends the wait.

        Yields:
            The seconds that the wait took.

        Raises:
            SystemExit: A signal came.
        """
        check = check or self.check
        begun = time.monotonic()
        self._await_place(check)
        rise = 0.0
        try:
            self._await_leave(check)
            yield time.monotonic() - begun
            rise = _RISE
            self.has_succeeded = True
        finally:
            with self._changed:
                self._under_way -= 1
                self._most = min(self._at_once, self._most + rise)
                self._changed.notify_all()

    def _await_place(self, check: Check) -> None:
        while True:
            check()
            self.wait(self._rest_until - time.monotonic(), check)
            with self._changed:
                if self._under_way < int(self._most):
                    self._under_way += 1
                    return
                self._changed.wait(_NAP)

    def _await_leave(self, check: Check) -> None:
        while True:
            # First the rest: leave that is kept through it would be used in a crowd.
            while (left := self._rest_until - time.monotonic()) > 0:
                self.wait(left, check)
            if (left := self._take_leave()) <= 0:
                return
            self.wait(left, check)

    def _take_leave(self) -> float:
        """Take the leave to send a request; give the seconds until there is one."""
        now = time.monotonic()
        with self._changed:
            left = self._next_leave - now
            if left <= 0:
                self._next_leave = now + self._interval
        return left
