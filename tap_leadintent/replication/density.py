"""Learns from the pages that arrive how full pages are, and how dense records are."""

from bisect import bisect_left, insort

_PAGES = 8
"""Pages over which the density is measured."""

FEW_RECORDS = 20
"""A last page with fewer records is no sign of a full one: by chance, too many small
pages are as full as others."""


class Density:
    """How many pages a second the windows hold that have been read completely."""

    def __init__(self) -> None:
        self._read: list[tuple[int, int, float]] = []
        """Start, end and pages of each window, oldest first."""

    def note(self, start: int, end: int, pages: float) -> None:
        """Note that a window has been read.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            end: Where it ends.
            pages: How many pages it held.
        """
        insort(self._read, (start, end, pages))

    def before(self, instant: int) -> float:
        """Estimate the pages a second from what was read last before an instant.

        The mean is taken over the last window before the instant, over the last two,
        and so on, until they hold enough pages. The highest of these means counts.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            The pages a second; 0 if nothing was found.
        """
        seconds = pages = density = 0.0
        for n in range(bisect_left(self._read, (instant,)) - 1, -1, -1):
            start, end, held = self._read[n]
            # A crowded moment must not make all windows short that come after it.
            seconds, pages = seconds + end - start, pages + min(held, 2 * _PAGES)
            density = max(density, pages / seconds)
            if pages > _PAGES:
                break
        return density


class PageSizes:
    """How many records the pages hold."""

    def __init__(self, page_size: int, *, is_ordinary: bool) -> None:
        """Create it for the pages of a step.

        Args:
            page_size: How many records are asked for.
            is_ordinary: Whether a scheduled run reads what came since the last one.
        """
        self._asked_for = page_size
        self._is_ordinary = is_ordinary
        self._full = page_size / 2
        """Records that count as a full page: the most that one page has held so far, as
        the API may return fewer than it is asked for. It begins with half of that."""
        self._most_before_another = 0
        """The most records of a page that was not the last one."""

    def share(self, records: int) -> float:
        """Return which share of a full page a last page is."""
        return records / self._full

    def share_before_another(self, records: int) -> float:
        """Note a page before another one, and return which share of a full page it is.

        It counts at least half. An empty page says nothing about how dense records are.
        """
        self._full = max(self._full, records)
        self._most_before_another = max(self._most_before_another, records)
        return max(0.5, self.share(records)) if records else 0.0

    def may_be_capped(self, records: int) -> bool:
        """Return whether a last page may hide that more follow.

        Some APIs end every query after a number of records. Then the last page is as
        full as the others. By chance, so is the last page of one window in a hundred.

        Args:
            records: How many records the last page held.
        """
        is_full = records >= (self._most_before_another or self._asked_for)
        if not (self._is_ordinary or self._most_before_another):
            # A server may send half of what it is asked for, or a quarter.
            is_full = is_full or self._asked_for % max(1, records) == 0
        return is_full and records >= FEW_RECORDS
