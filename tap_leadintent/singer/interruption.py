"""Ends a run soon after SIGTERM or SIGINT, if possible between two messages.

After a signal, the run ends at its next safe point. It may not reach one, because a
write into a full pipe waits until the target reads. Therefore a timer checks how much
the target has taken, and ends the process when that has not changed for a while. As
long as the target goes on reading, the message that is being written is completed.
"""

import os
import signal
from collections.abc import Callable

_CHECKS = 7
"""How many checks in a row must find that the target has taken nothing, before the
process ends."""

_SECONDS = 0.2
"""The time between two checks. Each check interrupts a write."""


class Interruption:
    """Remembers a signal until the run reaches a safe point.

    If the target takes nothing for 1.4 seconds meanwhile, it ends the process.
    """

    def __init__(self, taken: Callable[[], int] = lambda: 0) -> None:
        """Create it; it does nothing before `install`.

        Args:
            taken: Returns how much the target has taken so far, in any unit.
        """
        self._taken = taken
        self._taken_before = 0
        self._idle_checks = 0
        self._exit_code: int | None = None

    def install(self) -> None:
        """Handle SIGINT and SIGTERM from now on; a second one ends the process.

        Call it only in a process that is the tap's own.
        """
        for signum in (signal.SIGINT, signal.SIGTERM):
            signal.signal(signum, self._remember)

    def raise_if_interrupted(self) -> None:
        """End the run if a signal has come. Call it at safe points only.

        Raises:
            SystemExit: With 128 plus the signal's number, as shells expect.
        """
        if self._exit_code is not None:
            raise SystemExit(self._exit_code)

    def _remember(self, signum: int, _: object) -> None:
        code = 128 + signum
        if self._exit_code is not None:
            os._exit(code)
        self._exit_code = code
        signal.signal(signal.SIGALRM, lambda *_: self._end_if_idle(code))
        signal.setitimer(
            signal.ITIMER_REAL,
            _SECONDS,
            _SECONDS,
        )

    def _end_if_idle(self, code: int) -> None:
        taken = self._taken()
        if taken == self._taken_before:
            self._idle_checks += 1
        else:
            self._idle_checks = 0
            self._taken_before = taken
        if self._idle_checks == _CHECKS:
            # Nothing is flushed: a line that is half written cannot be completed here.
            os._exit(code)
