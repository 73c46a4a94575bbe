"""Notices a server that ignores the time range it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import StreamError
from tap_leadintent.times import parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import msgspec

    from tap_leadintent.replication.time_range import TimeRange
    from tap_leadintent.replication.windows import Window


class RangeGuard:
    """Notices a server that ignores the time range it was asked for."""

    def __init__(
        self, stream: str, time_range: TimeRange, is_ignored: Callable[[], bool]
    ) -> None:
        """Watch one range of one stream.

        Args:
            stream: Named in the error.
            time_range: The range.
            is_ignored: Requests a time that cannot have records, and tells whether the
                server returns some.
        """
        self._stream = stream
        self.range_name = time_range.name
        """The range's name."""
        self._time_of = time_range.time_of
        self._is_ignored = is_ignored
        self._is_trusted = False
        self._strays = 0
        self._strayed = False
        self._repeats = 0
        self._first_page: int | None = None

    def page(self, window: Window, page: list[dict[str, Any]]) -> None:
        """Check a page, if its records show their time in this range.

        Args:
            window: The window that was requested.
            page: The page's records.

        Raises:
            StreamError: In two windows in a row, all records of a page lay outside.
        """
        if self._time_of is None:
            return
        times = [self._time_of(record) for record in page]
        inside = (
            time is None or window.start - 1 <= parse_instant(time) <= window.end
            for time in times
        )
        if self._strayed or not times or any(inside):
            return
        self._strayed = True
        self._strays += 1
        if self._strays > 1:
            what = "returns records from outside the time range"
            raise self._error(what)

    def window_begins(self, first_page: Sequence[bytes | msgspec.Raw]) -> None:
        """Check a window's first page.

        Args:
            first_page: The JSON of its records; empty when the window has only this
                page, because small windows may well be equal.

        Raises:
            StreamError: Three windows in a row began with the same records, and the
                server returns records even for a time that cannot have any.
        """
        content = hash(tuple(map(bytes, first_page))) if first_page else None
        same = content is not None and content == self._first_page
        self._repeats = self._repeats + 1 if same else 0
        self._first_page = content
        if not self._strayed:
            self._strays = 0
        self._strayed = False
        if self._repeats > 1 and not self._is_trusted:
            if self._is_ignored():
                what = "returns the same records for different time ranges"
                raise self._error(what)
            self._is_trusted = True

    def _error(self, what: str) -> StreamError:
        return StreamError(
            f"{self._stream}: the API {what} of {self.range_name}; it seems to ignore "
            "the range. The stream stops rather than read everything once for each "
            "window. Report it to the API's support."
        )
