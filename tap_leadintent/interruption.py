"""Ends a run on SIGTERM or SIGINT where nothing is half done."""

from __future__ import annotations


class Interruption:
    """Remembers a signal until the run reaches a safe point."""

    def __init__(self) -> None:
        """Begin without a signal."""
        self._signum: int | None = None

    def signal(self, signum: int) -> None:
        """Take a signal; safe to call from a signal handler.

        Args:
            signum: Its number.
        """
        self._signum = signum

    def check(self) -> None:
        """End the run if a signal has come; to be called at safe points only.

        Raises:
            SystemExit: With 128 and the signal's number, as a shell would see it.
        """
        if self._signum is not None:
            raise SystemExit(128 + self._signum)
