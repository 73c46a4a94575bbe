"""How many pages a second a time range holds, as far as windows have shown."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

_MEAN_PAGES = 30
"""Pages that the mean goes back over. Fewer follow growth sooner; more see past nights
and weekends."""

_RECENT_PAGES = 0.5
"""Pages that show a change. Fewer show it sooner; more are misled less by chance."""

_CHANGE = 4.0
"""How many times denser than the mean the latest pages must be to count alone. Less
takes every morning for a change; more meets a burst with windows that are too long."""

_LEARNING_REQUESTS = 3
"""Requests of a window that tell what a page holds. Fewer let part-filled last pages
mislead; more learn later."""

_MOST_REMEMBERED = 128
"""Windows that are remembered. Fewer than a mean goes back over would shorten it; more
take time with each window."""


class Stretch(NamedTuple):
    """What a window has shown of a stretch of time, in UTC seconds since 1970."""

    start: int
    end: int
    amount: float
    """Records where it was read whole; pages, at the least, where it was given up."""

    @property
    def density(self) -> float:
        """Its amount in a second."""
        return self.amount / (self.end - self.start)


class Density:
    """Estimates from the windows that were read, and from those that were given up."""

    def __init__(self, page_size: int) -> None:
        """Begin without knowing anything.

        Args:
            page_size: Records in a full page, until pages have shown what they hold.
        """
        self._read: list[Stretch] = []
        self._given_up: list[Stretch] = []
        self._records, self._pages = float(page_size), 1.0
        self.peak = 0.0
        """The most pages a second that any window has shown."""

    @property
    def page_records(self) -> float:
        """How many records a page holds on average, last pages aside."""
        return self._records / self._pages

    def learn(self, start: int, end: int, *, records: int, requests: int) -> None:
        """Learn what a window held that has been read whole.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            end: Where it ends.
            records: How many records it held.
            requests: How many requests it took.
        """
        if requests >= _LEARNING_REQUESTS and records:
            self._records += records
            # Its last page is half full on average.
            self._pages += requests - 0.5
        insort(self._read, Stretch(start, end, records))
        pages = records / self.page_records
        if pages >= _RECENT_PAGES:
            self.peak = max(self.peak, pages / (end - start))

    def learn_bound(self, start: int, end: int, pages: int) -> None:
        """Learn that a window was given up.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            end: Where it ends.
            pages: How many pages it has shown, and more were to come.
        """
        apart = [s for s in self._given_up if s.start < start or s.end > end]
        self._given_up = [*apart, Stretch(start, end, pages)]

    def forget(self, before: int) -> None:
        """Forget what no estimate needs any more.

        Args:
            before: Where all that is left begins, in UTC seconds since 1970.
        """
        self._given_up = [s for s in self._given_up if s.end > before]
        old = sum(s.end <= before for s in self._read)
        if old > _MOST_REMEMBERED:
            del self._read[: old - _MOST_REMEMBERED // 2]

    def given_up_at(self, instant: int) -> list[Stretch]:
        """Find what was given up around an instant.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            The stretches that hold it.
        """
        return [s for s in self._given_up if s.start <= instant < s.end]

    def estimate(self, instant: int) -> float | None:
        """Estimate how dense it is from an instant on.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            The mean of the pages that were read last before it, in pages a second; that
            of the latest ones alone where the range has become far denser. None when
            nothing was found before it.
        """
        seconds = pages = 0.0
        mean = recent = None
        for stretch in reversed(self._read):
            if stretch.end > instant:
                continue
            seconds += stretch.end - stretch.start
            pages += stretch.amount / self.page_records
            if pages:
                mean = pages / seconds
            if recent is None and pages >= _RECENT_PAGES:
                recent = mean
            if pages >= _MEAN_PAGES:
                break
        if mean is None or recent is None:
            return mean
        return recent if recent > _CHANGE * mean else mean
