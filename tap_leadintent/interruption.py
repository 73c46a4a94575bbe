"""Ends a run soon after SIGTERM or SIGINT, where no message is half written if it can.

The run itself ends at its next safe point. It may not reach one: a write into a full
pipe waits until the target reads. So a timer ends the process in any case.
"""

from __future__ import annotations

import os
import signal

SECONDS = 1.8
"""From a signal to the end of the process. Fewer may leave too little time to write a
last STATE; more may let the sender of the signal lose patience and send a SIGKILL."""


class Interruption:
    """Remembers a signal until the run reaches a safe point, but not for long."""

    def __init__(self) -> None:
        """Start without a signal."""
        self._code: int | None = None

    def signal(self, signum: int) -> None:
        """Remember a signal; a second one ends the process. To be called by handlers.

        Args:
            signum: Number of the signal.
        """
        code = 128 + signum
        if self._code is not None:
            os._exit(code)
        self._code = code
        # Nothing is flushed: a line that is half written cannot be completed then.
        signal.signal(signal.SIGALRM, lambda *_: os._exit(code))
        signal.setitimer(signal.ITIMER_REAL, SECONDS)

    def check(self) -> None:
        """End the run if a signal has come. Call it at safe points only.

        Raises:
            SystemExit: With 128 plus the signal's number, as shells expect.
        """
        if self._code is not None:
            raise SystemExit(self._code)
