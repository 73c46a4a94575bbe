"""Requests the windows of a time range, and copes with servers that refuse them.

API description: "POST /v1/signals/leads", "POST /v1/monitor/signals".
"""

import logging
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.page import Records
from tap_leadintent.errors import StreamError, replication_command
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.windows import NARROWEST, OVERLAP_SECONDS, Window
from tap_leadintent.times import EARLIEST, format_instant

_MAX_ALIKE = 3
"""After so many windows in a row that begin with the same records, a time without
records is requested."""


def range_fields(
    name: str, start: int, end: int, earliest: int | None = None
) -> dict[str, Any]:
    """Return the request fields for an interval of a range, and a second before it.

    The API description does not show whether a range includes its ends.

    Args:
        name: The time range.
        start: Where the interval begins, in UTC seconds since 1970.
        end: Where it ends.
        earliest: The earliest instant that the API accepts, if it is known.

    Returns:
        The fields of the request's body.
    """
    if earliest is None:
        # A server may refuse times before 1970, so none is requested without need.
        earliest = 0 if start >= 0 else EARLIEST
    start = max(earliest, start - OVERLAP_SECONDS)
    times = {"start_time": format_instant(start), "end_time": format_instant(end)}
    return {name: times}


class RangeChain(Chain):
    """The cursor chain of a window.

    A server may refuse a range that ends in its future; the window is then requested
    again, up to the server's own time.
    """

    def __init__(
        self,
        name: str,
        logger: logging.Logger,
        earliest: int | None,
        window: Window,
    ) -> None:
        """Create the chain of a window.

        Args:
            name: The time range.
            logger: As for `Chain`.
            earliest: As for `range_fields`.
            window: The window; what lies in the server's future may be left out.
        """
        fields = range_fields(name, window.start, window.end, earliest)
        super().__init__(fields, logger)
        self._name, self._earliest = name, earliest
        self._start, self._end = window.start, window.end

    @override
    def recover(self, error: BaseException) -> None:
        # Only a request without a cursor says something about the range.
        is_refused = isinstance(error, StreamError) and error.may_be_range
        now = error.server_time if isinstance(error, StreamError) else None
        if self.count or not is_refused or now is None or now >= self._end:
            super().recover(error)
            return
        # If several machines answer in turn, the clock of the next one may be behind
        # this one.
        self._end = now
        # All of the window may lie in the future.
        start = min(self._start, now - 1)
        self.fields = range_fields(self._name, start, now, self._earliest)

    @override
    def narrowest(self, error: BaseException) -> int | None:
        if not isinstance(error, StreamError):
            return None
        # A refused cursor may show a limit of records in one query.
        if not (error.may_be_split or (self.count and error.may_be_cursor)):
            return None
        return NARROWEST if error.may_be_range and not self.count else 1


def find_accepted(
    name: str,
    intervals: Sequence[Interval],
    first_page: Callable[[dict[str, Any]], Records],
) -> int | None:
    """Find the earliest instant for which the API answers.

    An API may keep records for some time only, and refuse to be asked for older ones.

    Args:
        name: The time range.
        intervals: What is to be read; a request for its oldest time was refused.
        first_page: Reads the first page of a request with these fields.

    Returns:
        The instant, in UTC seconds since 1970; None if the API refuses the last hour of
        each interval.

    Raises:
        StreamError: A request fails for another reason.
    """

    def is_accepted(instant: int) -> bool:
        try:
            first_page(range_fields(name, instant, instant + 1, instant))
        except StreamError as error:
            if not error.may_be_range:
                raise
            return False
        return True

    # The end of the last interval may lie in the server's future.
    late = [max(start, end - NARROWEST) for start, end in intervals]
    place = bisect_left(late, x=True, key=is_accepted)
    if place == len(intervals):
        return None
    start, _ = intervals[place]
    if is_accepted(start):
        return start
    return start + bisect_left(range(start, late[place]), x=True, key=is_accepted)


@dataclass(eq=False)
class RangeGuard:
    """Notices a server that ignores the requested time range.

    Such a server would return all records for each window. Only windows that are
    emitted are checked: a window that is abandoned, and the first of the windows in its
    place, may begin with the same records.
    """

    name: str
    """The time range."""

    stream: str
    """The name of the stream."""

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
        try:
            # No record can be as old as the first second of 1970.
            is_ignored = bool(self.first_page(range_fields(self.name, 0, 1)).data)
        except StreamError as error:
            if not error.may_be_range:
                raise
            is_ignored = False
        if is_ignored:
            raise StreamError(
                f"the API returns the same records for different times of {self.name}, "
                "so it seems to ignore the range; load the stream completely in each "
                f"run: {replication_command(self.stream, 'FULL_TABLE')}"
            )
