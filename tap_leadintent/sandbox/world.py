"""Everything the sandbox knows, under one clock that stands still."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tap_leadintent.sandbox.data.shelf import Shelf
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import DAY

if TYPE_CHECKING:
    from tap_leadintent.sandbox.options import Options

_FARTHEST = 3653 * DAY
"""How far the clock is moved at once; what happens until then takes time."""


class World:
    """All streams' records as of the clock.

    Attributes:
        options: What the world was built from.
        now: The clock, in microseconds since 1970.
        shelves: The visible records, by stream.
    """

    def __init__(self, options: Options) -> None:
        """Build the world as it is at the start."""
        self.options = options
        self.now = options.start
        self.shelves = {
            stream: Shelf(endpoint, options) for stream, endpoint in ENDPOINTS.items()
        }

    def advance(self, now: float) -> None:
        """Move the clock.

        Raises:
            ValueError: The clock would go back, or more than ten years ahead.
        """
        if not self.now <= now <= self.now + _FARTHEST:
            msg = "the clock only moves forward, by ten years at once at most"
            raise ValueError(msg)
        self.now = round(now)
        for shelf in self.shelves.values():
            shelf.advance(self.now)
