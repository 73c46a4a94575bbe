"""Ends a run soon after SIGTERM or SIGINT, where no message is half written if it can.

The run itself ends at its next safe point. It may not reach one: a write into a full
pipe waits until the target reads. So a timer ends the process once the target has taken
nothing for a while; while it takes something, what is being written goes out whole.
"""

import os
import signal
from collections.abc import Callable

LOOKS = 7
"""How often in a row the timer looks, and the target has taken nothing, before it ends
the process. Fewer may leave too little time to write a last STATE; more may let the
sender of the signal lose patience and send a SIGKILL."""

_SECONDS = 0.2
"""Between two looks. A look interrupts a write, so that what a slow target has taken of
it is seen by the next one."""


class Interruption:
    """Remembers a signal until the run reaches a safe point, but not for long."""

    def __init__(self, taken: Callable[[], int] = lambda: 0) -> None:
        """Start without a signal.

        Args:
            taken: Gives a number that grows whenever the target takes something.
        """
        self._taken = taken
        self._seen = 0
        self._looks = 0
        self._code: int | None = None

    def install(self) -> None:
        """Handle SIGINT and SIGTERM from now on; a second one ends the process.

        Call it only in a process that is the tap's own.
        """
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, self._remember)

    def _remember(self, signum: int, _: object) -> None:
        code = 128 + signum
        if self._code is not None:
            os._exit(code)
        self._code = code
        signal.signal(signal.SIGALRM, lambda *_: self._look(code))
        signal.setitimer(signal.ITIMER_REAL, _SECONDS, _SECONDS)

    def _look(self, code: int) -> None:
        seen, self._seen = self._seen, self._taken()
        self._looks = self._looks + 1 if seen == self._seen else 0
        if self._looks == LOOKS:
            # Nothing is flushed: a line that is half written cannot be completed here.
            os._exit(code)

    def check(self) -> None:
        """End the run if a signal has come. Call it at safe points only.

        Raises:
            SystemExit: With 128 plus the signal's number, as shells expect.
        """
        if self._code is not None:
            raise SystemExit(self._code)
