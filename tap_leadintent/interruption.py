"""Ends a run soon after SIGTERM or SIGINT, where no message is half written if it can.

The run itself ends at its next safe point. It may not reach one: a write into a full
pipe waits until the target reads. So a timer ends the process once the target has taken
nothing for a while; while it takes something, what is being written goes out whole.
"""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOOKS = 7
"""How often in a row the timer looks, and nothing has been written, before it ends the
process. Fewer may leave too little time to write a last STATE; more may let the sender
of the signal lose patience and send a SIGKILL."""

_SECONDS = 0.2
"""Between two looks. A look interrupts a write, so that what a slow target has taken of
it is seen by the next one."""


class Interruption:
    """Remembers a signal until the run reaches a safe point, but not for long."""

    def __init__(self, written: Callable[[], int] = lambda: 0) -> None:
        """Start without a signal.

        Args:
            written: Gives a number that grows whenever the target takes something.
        """
        self._written = written
        self._seen = 0
        self._looks = 0
        self._signum: int | None = None
        self._is_waiting = False

    def signal(self, signum: int) -> None:
        """Remember a signal; a second one ends the process. To be called by handlers.

        Args:
            signum: Number of the signal.

        Raises:
            SystemExit: The run is inside `waiting`.
        """
        if self._signum is not None:
            os._exit(128 + signum)
        self._signum = signum
        signal.signal(signal.SIGALRM, lambda *_: self._look(128 + signum))
        signal.setitimer(signal.ITIMER_REAL, _SECONDS, _SECONDS)
        if self._is_waiting:
            self.check()

    def _look(self, code: int) -> None:
        seen, self._seen = self._seen, self._written()
        self._looks = self._looks + 1 if seen == self._seen else 0
        if self._looks == LOOKS:
            # Nothing is flushed: a line that is half written cannot be completed here.
            os._exit(code)

    def check(self) -> None:
        """End the run if a signal has come. Call it at safe points only.

        Raises:
            SystemExit: With 128 plus the signal's number, as shells expect.
        """
        if self._signum is not None:
            raise SystemExit(128 + self._signum)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Let a signal end the run at any point inside the context.

        Raises:
            SystemExit: A signal came.
        """
        self._is_waiting = True
        try:
            self.check()
            yield
        finally:
            self._is_waiting = False
