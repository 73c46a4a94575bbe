"""Requests the windows of a time range."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, count
from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import RefusedError
from tap_leadintent.replication.windows import (
    NARROWEST_SECONDS,
    OVERLAP_SECONDS,
    Window,
)
from tap_leadintent.times import EARLIEST, format_instant

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check

    Fields = dict[str, Any]

_RANGE_REFUSALS = frozenset({400, 409, 416, 422})
"""Statuses with which a server may refuse a range that ends in its future."""

_WIDTH_REFUSALS = frozenset({400, 413, 422})
"""Statuses with which a server may refuse a range that is too wide for it."""

_MOST_TRIES = 5
"""More would repeat requests in vain; fewer might fail where several machines with
clocks of their own answer in turn."""


def range_fields(name: str, window: Window) -> Fields:
    """Ask for a window, from a second before it.

    The API description does not show whether a range includes its ends.

    Args:
        name: The time range.
        window: The window.

    Returns:
        The fields of the request's body.
    """
    earliest = 0 if window.start >= 0 else EARLIEST
    start = max(earliest, window.start - OVERLAP_SECONDS)
    ends = {"start_time": start, "end_time": window.end}
    return {name: {end: format_instant(time) for end, time in ends.items()}}


class TooWideError(RefusedError):
    """The API refused the first page of a window that can be narrower."""


@dataclass(eq=False)
class RangeRequests:
    """Reads windows of one time range.

    A server may refuse a range that ends in its future; the window is then requested
    again, up to the server's own time. It may also refuse a range that is too wide,
    which is then to be read in narrower windows.
    """

    name: str
    """The range."""

    read_chain: Callable[[Fields, Check], Iterator[Page]]
    """Reads the cursor chain of some request fields."""

    logger: logging.Logger
    """Gets a line when the first window is too wide."""

    _too_wide: Iterator[int] = field(init=False, default_factory=count)

    def read(self, window: Window, check: Check) -> Iterator[Page]:
        """Read a window, its first page at once.

        Args:
            window: The window; what lies in the server's future may be left out.
            check: Called before each request and during waits; raises to end the chain.

        Returns:
            Gives each page, as it arrives; none where all lies in the future.

        Raises:
            TooWideError: The window may be too wide.
            StreamError: The chain cannot go on.
        """
        asked, tries = window, _MOST_TRIES
        while True:
            pages = self.read_chain(range_fields(self.name, asked), check)
            try:
                first = next(pages)
            except RefusedError as error:
                now, tries = error.as_of, tries - 1
                may_be_ahead = error.status in _RANGE_REFUSALS and tries
                if now is None or now >= asked.end or not may_be_ahead:
                    raise self._refusal(asked, error) from None
                asked = Window(min(asked.start, now - 1), now)
            else:
                # What was left out has not been read.
                first.as_of = min(first.as_of, asked.end)
                # Where all of it lies in the future, only the refusal was made sure of.
                is_ahead = asked.end <= window.start
                return iter(()) if is_ahead else chain([first], pages)

    def is_ignored(self, check: Check) -> bool:
        """Request a time that cannot have records.

        Args:
            check: Called before each request and during waits; raises to end the chain.

        Returns:
            Whether the API shows records all the same.

        Raises:
            StreamError: The request failed.
        """
        fields = range_fields(self.name, Window(0, 1))
        try:
            return next(self.read_chain(fields, check)).count > 0
        except RefusedError:
            # A server that refuses the range does not ignore it.
            return False

    def _refusal(self, asked: Window, error: RefusedError) -> RefusedError:
        if error.status not in _WIDTH_REFUSALS:
            return error
        if asked.end - asked.start > NARROWEST_SECONDS:
            # Threads share the counter: it says which of them is the first.
            if next(self._too_wide) == 0:
                self.logger.warning(
                    "The API refused a window of %s, so narrower ones are tried, down "
                    "to an hour; set window_days to the most days that it allows: %s",
                    self.name,
                    error,
                )
            return TooWideError(str(error), error.status)
        msg = (
            f"{error} ({self.name} was asked for in windows of an hour at most; if "
            "that is too wide, lower window_days)"
        )
        return RefusedError(msg, error.status)
