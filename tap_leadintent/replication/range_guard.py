"""Notices a server that ignores the time range it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import StreamError
from tap_leadintent.times import parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import msgspec

    from tap_leadintent.api.page import Records
    from tap_leadintent.replication.time_range import TimeRange
    from tap_leadintent.replication.windows import Window


class RangeGuard:
    """Notices a server that ignores the time range it was asked for, in two ways.

    Where records show their time, a page from outside its window means that what is
    counted as covered may not have been read. Where they do not, equal windows mean
    that everything would be read once for each of them.
    """

    def __init__(self, time_range: TimeRange, is_ignored: Callable[[], bool]) -> None:
        """Watch one range of one stream.

        Args:
            time_range: The range.
            is_ignored: Requests a time that cannot have records, and tells whether the
                server returns some.
        """
        self.range_name = time_range.name
        """The range's name."""
        self._time_of = time_range.time_of
        self._is_ignored = is_ignored
        self._is_trusted = False
        self._was_outside = self._is_outside = False
        """Whether all records of a page lay outside the last window, and this one."""
        self._first_page: int | None = None
        self._repeats = 0

    def check(self, window: Window, number: int, records: Records) -> None:
        """Check a page.

        Args:
            window: The window that was requested.
            number: Which of its pages it is, from 1.
            records: What the page holds.

        Raises:
            StreamError: In two windows in a row, all records of a page lay outside. Or
                three windows in a row began with the same records, and the server
                returns records even for a time that cannot have any.
        """
        if number == 1:
            self._was_outside, self._is_outside = self._is_outside, False
            self._compare(records.raw)
        if self._lies_outside(window, records.data):
            if self._was_outside:
                what = "returns records from outside the time range"
                raise self._error(what)
            self._is_outside = True

    def _lies_outside(self, window: Window, page: list[dict[str, Any]]) -> bool:
        if self._time_of is None or not page:
            return False
        # As a rule the first record lies inside, and the others need no look.
        for time in map(self._time_of, page):
            if time is None or window.start - 1 <= parse_instant(time) <= window.end:
                return False
        return True

    def _compare(self, first_page: Sequence[bytes | msgspec.Raw]) -> None:
        content = hash(tuple(map(bytes, first_page))) if first_page else None
        same = content is not None and content == self._first_page
        self._repeats = self._repeats + 1 if same else 0
        self._first_page = content
        if self._repeats > 1 and not self._is_trusted:
            if self._is_ignored():
                what = "returns the same records for different time ranges"
                raise self._error(what)
            self._is_trusted = True

    def _error(self, what: str) -> StreamError:
        return StreamError(
            f"the API {what} of {self.range_name}; it seems to ignore the "
            "range. The stream stops rather than read everything once for each window. "
            "Report it to the API's support."
        )
