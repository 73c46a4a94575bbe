"""Ends a run on SIGTERM or SIGINT where nothing is half done."""

from __future__ import annotations

from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Interruption:
    """Remembers a signal until the run reaches a safe point."""

    def __init__(self) -> None:
        """Begin without a signal."""
        self._signum: int | None = None
        self._is_waiting = False

    def signal(self, signum: int) -> None:
        """Take a signal; safe to call from a signal handler.

        Args:
            signum: Its number.

        Raises:
            SystemExit: What it interrupts is `waiting`.
        """
        self._signum = signum
        if self._is_waiting:
            self.check()

    def check(self) -> None:
        """End the run if a signal has come; to be called at safe points only.

        Raises:
            SystemExit: With 128 and the signal's number, as a shell would see it.
        """
        if self._signum is not None:
            raise SystemExit(128 + self._signum)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Make every point inside a safe one, where the main thread takes signals.

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
