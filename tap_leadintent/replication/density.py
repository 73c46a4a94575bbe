"""How many pages a time range holds, as far as its windows have shown."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from math import ceil
from operator import attrgetter
from typing import NamedTuple

_MEAN_PAGES = 12
"""Pages that the mean goes back over. Fewer follow growth sooner; more see past nights
and weekends."""

_RECENT_PAGES = 0.5
"""Pages that show a change. Fewer show it sooner; more are misled less by chance."""

_CHANGE = 4.0
"""How many times denser than the mean the latest pages must be to count alone. Less
takes every morning for a change; more cuts windows too long when a burst begins."""

_WEEK = 7 * 86400
_WEEKS = 4
"""How many weeks back a rhythm is looked for. What is read far ahead needs more of
them; older ones tell less."""

_RHYTHM_ERROR = 0.8
"""The share of the mean's error that the weeks before must stay below to be believed.
Less leaves nights unseen for longer; more is misled by chance."""

_ERROR_MEMORY = 0.99
"""What is left of an error's weight with each further window. Less gives a rhythm up
after one unusual day; more notices its end late."""

_LEARNING_REQUESTS = 3
"""Requests of a window that tell what a page holds. Fewer let part-filled last pages
mislead; more learn later."""

_MOST_REMEMBERED = 512
"""Windows that are remembered. Fewer would forget weeks; more take time with each
window."""


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
    """Forecasts from the windows that were read, and from those that were given up.

    A stretch is expected to be as dense as what was read last before it; or as the same
    hours of the weeks before, once these have proved to say more.
    """

    def __init__(self, page_size: int) -> None:
        """Begin without knowing anything.

        Args:
            page_size: Records in a full page, until pages have shown what they hold.
        """
        self._read: list[Stretch] = []
        self._given_up: list[Stretch] = []
        self._page_size = page_size
        self._records, self._pages = float(page_size), 1.0
        self._mean_error = self._weekly_error = 0.0
        self.peak = 0.0
        """The most pages a second that any window has shown."""

    @property
    def page_records(self) -> float:
        """How many records a page holds on average, last pages aside."""
        return min(self._page_size, self._records / self._pages)

    @property
    def is_weekly(self) -> bool:
        """Whether the weeks before say more than what was read last."""
        return self._weekly_error < _RHYTHM_ERROR * self._mean_error

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
        pages = records / self.page_records
        mean, weekly = self.mean(start), self._weeks_before(start, end)
        if mean is not None and weekly is not None:
            self._mean_error *= _ERROR_MEMORY
            self._mean_error += abs(mean * (end - start) - pages)
            self._weekly_error *= _ERROR_MEMORY
            self._weekly_error += abs(weekly - pages)
        insort(self._read, Stretch(start, end, records))
        if pages >= _RECENT_PAGES:
            self.peak = max(self.peak, pages / (end - start))

    def learn_bound(self, start: int, end: int, pages: int) -> None:
        """Learn that a window was given up.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            end: Where it ends.
            pages: How many pages it has, at the least.
        """
        apart = [s for s in self._given_up if s.start < start or s.end > end]
        self._given_up = [*apart, Stretch(start, end, pages)]

    def forget(self, before: int) -> None:
        """Forget what no forecast needs any more.

        Args:
            before: Where all that is left begins, in UTC seconds since 1970.
        """
        self._given_up = [s for s in self._given_up if s.end > before]
        old = sum(s.end <= before for s in self._read)
        if old > _MOST_REMEMBERED:
            del self._read[: old - _MOST_REMEMBERED // 2]

    def given_up_at(self, instant: int) -> Stretch | None:
        """Find the shortest stretch around an instant that was given up.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            The stretch, if there is any.
        """
        around = [s for s in self._given_up if s.start <= instant < s.end]
        return min(around, key=lambda s: s.end - s.start, default=None)

    def is_between_empty(self, instant: int) -> bool:
        """Tell whether the stretches that were read around an instant held nothing.

        Args:
            instant: The instant, in UTC seconds since 1970.

        Returns:
            Whether both the last one before it and the first one after it are empty.
        """
        after = bisect_right(self._read, instant, key=attrgetter("start"))
        around = self._read[max(0, after - 1) : after + 1]
        return len(around) == 2 and not any(s.amount for s in around)  # noqa: PLR2004

    def mean(self, instant: int, *, is_dense: bool = False) -> float | None:
        """Tell how dense it is before an instant.

        Args:
            instant: The instant, in UTC seconds since 1970.
            is_dense: Whether a window was given up there.

        Returns:
            The mean of the pages that were read last before it, in pages a second. That
            of the latest ones alone if they are far denser or, where a window was given
            up, if they are denser at all. None when nothing was found before it.
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
        change = 1 if is_dense else _CHANGE
        return recent if recent > change * mean else mean

    def pages(self, start: int, end: int, mean: float) -> float:
        """Forecast how many pages a stretch holds.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            end: Where it ends.
            mean: How dense it is before, in pages a second.

        Returns:
            The pages.
        """
        weekly = self._weeks_before(start, end) if self.is_weekly else None
        return mean * (end - start) if weekly is None else weekly

    def end(self, start: int, pages: float, mean: float, *, latest: int) -> int:
        """Forecast where a stretch ends that holds some pages.

        Args:
            start: Where it begins, in UTC seconds since 1970.
            pages: How many pages, at least.
            mean: How dense it is before, in pages a second.
            latest: Where it ends at the latest.

        Returns:
            The end, in UTC seconds since 1970.
        """
        if not self.is_weekly:
            return min(latest, start + ceil(pages / mean))
        ends = range(start, min(latest, start + _WEEK))
        return start + bisect_left(
            ends, pages, key=lambda end: self.pages(start, end, mean)
        )

    def _weeks_before(self, start: int, end: int) -> float | None:
        """Give the pages that the same hours held in the weeks before, on average."""
        weeks = [
            self._held(start - ago, end - ago)
            for ago in range(_WEEK, (_WEEKS + 1) * _WEEK, _WEEK)
        ]
        known = [pages for pages in weeks if pages is not None]
        return sum(known) / len(known) if known else None

    def _held(self, start: int, end: int) -> float | None:
        """Give the pages of a stretch, if all of it has been read."""
        first = bisect_right(self._read, start, key=attrgetter("start")) - 1
        if first < 0:
            return None
        records, at = 0.0, start
        for stretch in self._read[first:]:
            if at >= end or not stretch.start <= at < stretch.end:
                break
            until = min(end, stretch.end)
            records += stretch.density * (until - at)
            at = until
        return records / self.page_records if at >= end else None
