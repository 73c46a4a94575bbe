"""Learns whether the API rounds a time range, or ignores it."""

from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.ledger import Window

OVERLAP_SECONDS = 1
"""How many seconds before its start a window is requested, because an API may leave out
the ends of a range. The records of this second are read twice."""

_SHORTEST = 10


class Rounding:
    """Compares the windows of a step by the first pages that they begin with.

    If two windows that do not touch begin with the same full page, the API reads both
    ranges as a longer one that holds them: it rounds the range, or ignores it.
    """

    def __init__(self) -> None:
        """Begin without any evidence."""
        self.shortest = _SHORTEST
        """Seconds of the shortest window that is cut because it is long or capped.
        Shorter ones would not help, or be read twice in great part, as windows overlap.
        """
        self._first_pages: dict[int, Interval] = {}

    def note_first_page(self, window: Window, fingerprint: int) -> bool:
        """Note the first page of a window that has more pages.

        Args:
            window: The window.
            fingerprint: The hash of the page's records.

        Returns:
            Whether it is the first sign that the API may ignore the range.
        """
        own = (window.start, window.end)
        start, end = self._first_pages.setdefault(fingerprint, own)
        if start <= window.start and window.end <= end:
            # A part of a window may begin with the same page.
            self._first_pages[fingerprint] = own
        gap = max(start - window.end, window.start - end)
        if gap <= OVERLAP_SECONDS:
            return False
        both = gap + window.seconds + end - start
        longer = (each for each in (60, 3600, 86_400) if each >= both)
        is_first = self.shortest == _SHORTEST
        self.shortest = max(self.shortest, next(longer, both))
        return is_first
