"""Requests the windows of a time range, and copes with servers that refuse them.

API description: "POST /v1/signals/leads", "POST /v1/monitor/signals".
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from tap_leadintent.api.page import Records
from tap_leadintent.api.pagination import Chain
from tap_leadintent.errors import StreamError, TooWideError
from tap_leadintent.replication.windows import NARROWEST, OVERLAP_SECONDS, Window
from tap_leadintent.times import EARLIEST, format_instant

_REFUSALS = frozenset({400, 409, 413, 416, 422})
"""Statuses with which a server may refuse a range: it ends in the server's future, or
is too wide for it."""

_MAX_ALIKE = 3
"""After so many windows in a row that begin with the same records, a time without
records is requested. A higher value would read more in vain if the server ignores the
range. A lower value would send this request more often although nothing is wrong."""


def range_fields(name: str, start: int, end: int) -> dict[str, Any]:
    """Return the request fields for an interval of a range, and a second before it.

    The API description does not show whether a range includes its ends.

    Args:
        name: The time range.
        start: Where the interval begins, in UTC seconds since 1970.
        end: Where it ends.

    Returns:
        The fields of the request's body.
    """
    # A server may refuse times before 1970, so none is requested without need.
    start = max(0 if start >= 0 else EARLIEST, start - OVERLAP_SECONDS)
    times = {"start_time": format_instant(start), "end_time": format_instant(end)}
    return {name: times}


class RangeChain(Chain):
    """The cursor chain of a window.

    A server may refuse a range that ends in its future; the window is then requested
    again, up to the server's own time. It may also refuse a range that is too wide,
    which is then to be read in narrower windows.
    """

    def __init__(self, name: str, logger: logging.Logger, window: Window) -> None:
        """Start before the first page.

        Args:
            name: The time range.
            logger: As for `Chain`.
            window: The window; what lies in the server's future may be left out.
        """
        super().__init__(range_fields(name, window.start, window.end), logger)
        self._name = name
        self._start, self._end = window.start, window.end

    @override
    def recover(self, error: BaseException) -> None:
        # Only a request without a cursor says something about the range.
        refusals = frozenset() if self.count else _REFUSALS
        if not isinstance(error, StreamError) or error.status not in refusals:
            super().recover(error)
            return
        now = error.as_of
        if now is not None and now < self._end:
            # If several machines answer in turn, the clock of the next one may be
            # behind this one.
            self._end = self._complete_until = now
            # All of the window may lie in the future.
            self.fields = range_fields(self._name, min(self._start, now - 1), now)
        elif self._end - self._start > NARROWEST:
            raise TooWideError from error
        else:
            raise error


@dataclass(eq=False)
class RangeGuard:
    """Notices a server that ignores the requested time range.

    Such a server would return all records for each window. Only windows that are
    emitted are checked: a window that is abandoned, and the first of the windows in its
    place, may begin with the same records.
    """

    name: str
    """The time range."""

    first_page: Callable[[dict[str, Any]], Records]
    """Reads the first page of a request with these fields."""

    last: int | None = None
    """A hash of the first page of the last window."""

    alike: int = 0
    """How many windows in a row began with it."""

    def check_first_page(self, records: Records) -> None:
        """Check the first page of a window.

        Args:
            records: Its records.

        Raises:
            StreamError: Three windows in a row began with the same records, and the
                server returns records even for a time that cannot have any, or refuses
                it.
        """
        content = hash(tuple(map(bytes, records.raw)))
        self.alike = self.alike + 1 if content == self.last else 1
        self.last = content
        if not records.raw or self.alike != _MAX_ALIKE:
            return
        # No record can be as old as the first second of 1970.
        if self.first_page(range_fields(self.name, 0, 1)).data:
            raise StreamError(
                f"the API returns the same records for different times of {self.name}; "
                "it seems to ignore the range; report that to the API's support"
            )
