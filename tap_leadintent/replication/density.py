"""How dense a time range is, as far as windows have shown."""

from __future__ import annotations

from bisect import bisect_right
from math import inf, sqrt
from statistics import fmean

# How far windows may belie what the probes made expect: they may have met a gap.
_DOUBT = 1.5

GROWTH = 8
"""How much longer windows get after an empty one."""


class Density:
    """What the probes and the window that was read last tell, in pages a second."""

    def __init__(self) -> None:
        """Begin without knowing anything."""
        self._probes: dict[int, float] = {}
        self._oldest = inf
        self._end = -inf
        self._last_pages = 0.0
        self.last_seconds = 0
        """How long the window was that was read last."""

    @property
    def probes(self) -> int:
        """How many probes have told something."""
        return len(self._probes)

    @property
    def guess(self) -> float:
        """The last window's density, or the probes' average if that is more."""
        return max(self._last, fmean(self._probes.values()))

    @property
    def _last(self) -> float:
        return self._last_pages / self.last_seconds

    def learn_probe(self, start: int, seconds: int, pages: float) -> None:
        """Learn what a probe held.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            seconds: How long it is.
            pages: How many pages it held.
        """
        self._probes[start] = pages / seconds
        self._note(start, pages)

    def learn_window(self, start: int, seconds: int, pages: float) -> None:
        """Learn what a window held that has been read whole.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            seconds: How long it is.
            pages: How many pages it held.
        """
        self._last_pages, self.last_seconds = pages, seconds
        self._note(start, pages)

    def learn_end(self, end: int) -> None:
        """Learn that a window held so much that it was given up.

        Args:
            end: Where it ends, in UTC seconds since 1970.
        """
        self._end = end

    def _note(self, start: int, pages: float) -> None:
        if pages:
            self._oldest = min(self._oldest, start)

    def has_begun(self, instant: int) -> bool:
        """Tell whether anything has been found that begins by an instant.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            Whether it has.
        """
        return self._oldest <= instant

    def is_dense_at(self, instant: int) -> bool:
        """Tell whether a probe begins at an instant that held something.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            Whether one does.
        """
        return bool(self._probes.get(instant))

    def dense_after(self, instant: int) -> float:
        """Find by when there is something.

        Args:
            instant: After which to look, in UTC seconds since 1970.

        Returns:
            Where the next probe begins that held something, or where the window ends
            that was given up last, whichever is nearer; infinity if there is neither.
        """
        dense = [start for start, density in self._probes.items() if density]
        return min((at for at in (*dense, self._end) if at > instant), default=inf)

    def forecast(self, instant: int) -> float:
        """Guess from the probes before and after an instant.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            Pages a second.
        """
        starts = sorted(self._probes)
        after = bisect_right(starts, instant)
        return fmean(self._probes[at] for at in starts[max(0, after - 1) : after + 1])

    def seconds(self, instant: int, pages: float) -> float:
        """Guess how long a window has to be.

        Args:
            instant: Where it begins, in UTC seconds since 1970.
            pages: How many pages it is to hold.

        Returns:
            Its length.
        """
        forecast = self.forecast(instant)
        if forecast and self.probes > 1:
            return pages / max(self._last, forecast / _DOUBT)
        if not self._last_pages:
            return self.last_seconds * GROWTH
        # Growing by the square root holds even where the density grows with time.
        change = pages / self._last_pages
        return self.last_seconds * min(change, sqrt(change))
