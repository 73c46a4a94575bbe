"""Learns from the pages that arrive how full pages are, and how dense records are."""

from bisect import bisect_left, insort

from tap_leadintent.replication.intervals import Interval

_PAGES = 8
"""Pages over which the density is measured."""

_SAMPLES = 8
"""Samples of the first interval of a history."""

_SAMPLE_SHARE = 365
"""Each sample covers this part of the history: a 365th, such as a day of a year.
Shorter samples would see only a day or only a night."""


def samples(
    start: int,
    end: int,
    widest: int,
) -> list[Interval]:
    """Spread short intervals evenly over a long one.

    Args:
        start: Where the long one begins, in UTC seconds since 1970.
        end: Where it ends.
        widest: The most seconds of a short one.

    Returns:
        The short intervals, oldest first.
    """
    seconds = min(widest, max(1, (end - start) // _SAMPLE_SHARE))
    step = (end - start - seconds) / (_SAMPLES - 1)
    found: list[Interval] = []
    for number in range(_SAMPLES):
        sample_start = start + int(step * number)
        sample = (sample_start, sample_start + seconds)
        if sample not in found:
            found.append(sample)
    return found


class Density:
    """How full pages are, and how many a second the read windows hold."""

    def __init__(self, page_size: int) -> None:
        """Begin without any window.

        Args:
            page_size: How many records are asked for in a page.
        """
        self._full = page_size / 2
        """Records that count as a full page: the most that one page has held so far, as
        the API may return fewer than it is asked for. It begins with half of that."""
        self._read: list[tuple[int, int, float]] = []
        """Start, end and pages of each window, oldest first."""

    def note(
        self,
        start: int,
        end: int,
        pages: float,
    ) -> None:
        """Note that a window has been read.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            end: Where it ends.
            pages: How many pages it held.
        """
        insort(self._read, (start, end, pages))

    def expect(
        self,
        instant: int,
        pages_a_second: float,
    ) -> None:
        """Count on a density before anything has been read.

        Args:
            instant: Where the first window begins, in UTC seconds since 1970.
            pages_a_second: The density.
        """
        seconds = max(1, int(1 / pages_a_second))
        self.note(
            instant - seconds,
            instant,
            pages_a_second * seconds,
        )

    def before(self, instant: int) -> float:
        """Estimate the pages a second from what was read last before an instant.

        The mean is taken over the last window before the instant, over the last two,
        and so on, until they hold enough pages. The highest of these means counts.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            The pages a second; 0 if nothing was found.
        """
        seconds = 0.0
        pages = 0.0
        density = 0.0
        before = bisect_left(self._read, (instant,))
        for number in reversed(range(before)):
            start, end, held = self._read[number]
            seconds += end - start
            # One crowded moment must not make all later windows short.
            pages += min(held, 2 * _PAGES)
            density = max(density, pages / seconds)
            if pages > _PAGES:
                break
        return density

    def fullness(
        self,
        records: int,
        *,
        has_more: bool,
    ) -> float:
        """Return how full a page is: 1 if it holds as many records as any so far.

        A page before another one counts at least half. An empty page says nothing about
        how dense records are.

        Args:
            records: How many records it holds.
            has_more: Whether another page follows.
        """
        if has_more:
            self._full = max(self._full, records)
        fullness = records / self._full
        if has_more and records:
            return max(0.5, fullness)
        return fullness
