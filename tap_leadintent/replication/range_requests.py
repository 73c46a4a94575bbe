"""Requests the windows of a time range."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from tap_leadintent.api.chain import Chain
from tap_leadintent.errors import RefusedError, TooWideError
from tap_leadintent.replication.windows import (
    NARROWEST_SECONDS,
    OVERLAP_SECONDS,
    Window,
)
from tap_leadintent.times import EARLIEST, format_instant

if TYPE_CHECKING:
    import logging

    from tap_leadintent.api.page import Page

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


class RangeChain(Chain):
    """The cursor chain of a window.

    A server may refuse a range that ends in its future; the window is then requested
    again, up to the server's own time. It may also refuse a range that is too wide,
    which is then to be read in narrower windows.
    """

    def __init__(self, requests: RangeRequests, window: Window) -> None:
        """Start before the first page.

        Args:
            requests: Those of the window's time range.
            window: The window.
        """
        super().__init__(range_fields(requests.name, window), requests.logger)
        self._requests = requests
        self._window = self._asked = window
        self._tries = _MOST_TRIES

    @override
    def take(self, page: Page) -> Page | None:
        super().take(page)
        if self._asked.end <= self._window.start:
            # All of it lies in the future: only the refusal was made sure of.
            return None
        # What was left out has not been read.
        return replace(page, as_of=min(page.as_of, self._asked.end))

    @override
    def refuse(self, error: BaseException) -> None:
        if self.has_begun or not isinstance(error, RefusedError):
            super().refuse(error)
            return
        asked, now, self._tries = self._asked, error.as_of, self._tries - 1
        may_be_ahead = error.status in _RANGE_REFUSALS and self._tries
        if now is None or now >= asked.end or not may_be_ahead:
            raise self._requests.refusal(asked, error)
        self._asked = Window(min(asked.start, now - 1), now)
        self.fields = range_fields(self._requests.name, self._asked)


@dataclass(eq=False)
class RangeRequests:
    """Begins the cursor chains of the windows of one time range."""

    name: str
    """The range."""

    logger: logging.Logger
    """Gets a line when the first window is too wide."""

    _has_told: bool = field(init=False, default=False)

    def begin(self, window: Window) -> RangeChain:
        """Begin a window.

        Args:
            window: The window; what lies in the server's future may be left out.

        Returns:
            Its chain.
        """
        return RangeChain(self, window)

    def refusal(self, asked: Window, error: RefusedError) -> RefusedError:
        """Explain why a range was refused.

        Args:
            asked: The range.
            error: The refusal.

        Returns:
            A `TooWideError` if narrower windows may be accepted.
        """
        if error.status not in _WIDTH_REFUSALS:
            return error
        if asked.end - asked.start > NARROWEST_SECONDS:
            if not self._has_told:
                self._has_told = True
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
