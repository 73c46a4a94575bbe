"""Ends a run on SIGTERM or SIGINT, at a point where no message is half written."""

from __future__ import annotations

from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


CHECK_SECONDS = 0.1
"""Seconds between two checks for a signal. More delays the end of a run; less costs
processor time."""


class Interruption:
    """Remembers a signal until the run reaches a safe point."""

    def __init__(self) -> None:
        """Start without a signal."""
        self._signum: int | None = None
        self._is_waiting = False

    def signal(self, signum: int) -> None:
        """Remember a signal; safe to call from a signal handler.

        Args:
            signum: Number of the signal.

        Raises:
            SystemExit: The main thread is inside `waiting`.
        """
        self._signum = signum
        if self._is_waiting:
            self.check()

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

        Outside the main thread, which alone handles signals, it does nothing.

        Raises:
            SystemExit: A signal came.
        """
        if current_thread() is not main_thread():
            yield
            return
        self._is_waiting = True
        try:
            self.check()
            yield
        finally:
            self._is_waiting = False
