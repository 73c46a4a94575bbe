"""How busy this process keeps the processor."""

from __future__ import annotations

import time

_LATELY = 1.0
"""Seconds that one look at the clocks is good for."""


class Load:
    """The time that this process has worked, as a share of the time that passed."""

    def __init__(self) -> None:
        """Begin to measure."""
        self._before = self._lately = self._look()

    def share(self) -> float:
        """Tell the share over the last second or two, if asked at least so often.

        Returns:
            The share; 1 is the whole time of one processor.
        """
        now, worked = self._look()
        if now - self._lately[0] >= _LATELY:
            self._before, self._lately = self._lately, (now, worked)
        since, had_worked = self._before
        return (worked - had_worked) / (now - since) if now > since else 1.0

    def _look(self) -> tuple[float, float]:
        return time.monotonic(), time.process_time()
