"""When a request may be sent: waits, shared by all streams and threads."""

from __future__ import annotations

import random
import time
from threading import Lock
from typing import TYPE_CHECKING

from tap_leadintent.times import parse_http_date

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyrate_limiter import Limiter, RateItem

    from tap_leadintent.interruption import Interruption

LONGEST_BACKOFF = 60.0
"""Seconds."""

LONGEST_RETRY_AFTER = 600.0
"""Seconds that a server may ask for; more is cut to this."""

_NAP = 0.1


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
    """Lets requests go: not while the server wants rest, nor faster than allowed."""

    def __init__(
        self, interruption: Interruption, requests_per_minute: int | None = None
    ) -> None:
        """Begin without a wait.

        Args:
            interruption: Ends waits early.
            requests_per_minute: Most requests in a minute, evenly spread.
        """
        self._interruption = interruption
        self._limiter = _limiter(requests_per_minute) if requests_per_minute else None
        self._lock = Lock()
        self._rest_until = 0.0

    def check(self) -> None:
        """End the run if a signal has come.

        Raises:
            SystemExit: A signal came.
        """
        self._interruption.check()

    def rest(self, seconds: float) -> None:
        """Hold all requests, as the server asked.

        Args:
            seconds: How long from now.
        """
        with self._lock:
            self._rest_until = max(self._rest_until, time.monotonic() + seconds)

    def wait(self, seconds: float) -> None:
        """Sleep, but not through a signal.

        Args:
            seconds: How long.

        Raises:
            SystemExit: A signal came.
        """
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check()
            time.sleep(min(left, _NAP))

    def wait_for_turn(self) -> float:
        """Wait until a request may be sent.

        Returns:
            The seconds that this took.

        Raises:
            SystemExit: A signal came.
        """
        begun = time.monotonic()
        self.check()
        while (left := self._rest_until - time.monotonic()) > 0:
            self.wait(left)
        while self._limiter and not self._limiter.try_acquire("api", blocking=False):
            self.wait(_NAP / 10)
        return time.monotonic() - begun


def _limiter(requests_per_minute: int) -> Limiter:
    # Imported late: most runs need none.
    from pyrate_limiter import (  # noqa: PLC0415
        InMemoryBucket,
        Limiter,
        Rate,
        SingleBucketFactory,
    )

    class Bucket(InMemoryBucket):
        def put(self, item: RateItem) -> bool:
            # The library would leave this to a thread.
            self.leak(item.timestamp)
            return super().put(item)

    rate = Rate(1, max(1, -(-60_000 // requests_per_minute)))
    return Limiter(SingleBucketFactory(Bucket([rate]), schedule_leak=False))
