"""Cuts a time range into windows that hold a few pages each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    from tap_leadintent.intervals import Interval

_OVERLAP_SECONDS = 1
_MOST_PAGES = 8
_FEWEST_PAGES = 4
_GROWTH = 8
_FIRST_SECONDS = 1777
_LEAST_SECONDS = 61
_LONG_STRETCH_SECONDS = 30 * 86400
_TRIAL_PAGES = 4
_FORGETTING = 0.5
_SPARE_REQUESTS = 6.0
_SPARE_SHARE = 0.1


class Window(NamedTuple):
    """A piece of a time range, in UTC seconds since 1970."""

    start: int
    end: int
    most_pages: int | None = None
    """A window on trial is given up when it has more pages than this."""

    def request_fields(self, name: str) -> dict[str, Any]:
        """Ask for the window; it begins early, as nobody says which ends a range holds.

        Args:
            name: The time range.

        Returns:
            The field of the request's body.
        """
        start = max(0, self.start - _OVERLAP_SECONDS)
        ends = {"start_time": start, "end_time": self.end}
        return {name: {end: format_instant(time) for end, time in ends.items()}}


class Windows:
    """The windows of one time range, oldest first.

    Without a fixed length, a stretch is first tried whole: a quiet one costs one
    request. Then the length follows the density seen so far. A window costs up to one
    request more than its records need, so when that adds up, windows grow until the
    surplus is small again, whatever the history looks like.
    """

    def __init__(
        self,
        stretches: list[Interval],
        *,
        page_size: int,
        length: int | None = None,
    ) -> None:
        """Begin with the oldest stretch.

        Args:
            stretches: What is to be read, oldest first.
            page_size: Records in a full page.
            length: Seconds in a window, or None to follow the density.
        """
        self._stretches = list(stretches)
        self._page_size = page_size
        self._fixed = length
        self._length: int | None = None
        self._records = 0.0
        self._seconds = 0.0
        self._surplus = 0.0
        self._pages = 0.0

    def end_by(self, latest: int) -> None:
        """Read nothing beyond an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        self._stretches = [
            (a, min(b, latest)) for a, b in self._stretches if a < latest
        ]

    def next(self) -> Window | None:
        """Take the next window.

        Returns:
            The window, or None when everything is read.
        """
        if not self._stretches:
            return None
        start, end = self._stretches[0]
        length = self._fixed or self._length
        if length is None:
            long = end - start > _LONG_STRETCH_SECONDS
            return Window(start, end, 1 if long else _TRIAL_PAGES)
        return Window(start, min(end, start + length))

    def give_up(self, window: Window) -> None:
        """Learn that a window on trial holds too much.

        Args:
            window: The window, which will be read in smaller ones.
        """
        self._surplus += window.most_pages or 0
        share = (window.end - window.start) // 64
        self._length = max(_LEAST_SECONDS, min(_FIRST_SECONDS, share))

    def done(self, window: Window, *, records: int, requests: int) -> None:
        """Learn that a window has been read whole.

        Args:
            window: The window that `next` gave last.
            records: How many records it held.
            requests: How many requests it took.
        """
        self._stretches = [
            (max(a, window.end), b) for a, b in self._stretches if b > window.end
        ]
        pages = records / self._page_size
        self._pages += pages
        self._surplus += requests - pages
        seconds = window.end - window.start
        self._records = self._records * _FORGETTING + records
        self._seconds = self._seconds * _FORGETTING + seconds
        if window.most_pages is None:
            self._length = self._next_length(seconds)

    def _next_length(self, seconds: int) -> int:
        seconds = max(seconds, self._length or 0)
        if self._surplus > _SPARE_REQUESTS + _SPARE_SHARE * self._pages:
            return seconds * _GROWTH * _GROWTH
        density = self._records / self._seconds / self._page_size
        left = sum(b - a for a, b in self._stretches)
        wanted = min(_MOST_PAGES, max(_FEWEST_PAGES, density * left / 2))
        expected = density * seconds
        if expected * _GROWTH**2 <= wanted:
            return seconds * _GROWTH
        # Growing by the square root holds even where the density grows with time.
        change = wanted / expected
        return max(_LEAST_SECONDS, int(seconds * min(change, change**0.5)))
