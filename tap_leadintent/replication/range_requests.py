"""Requests the windows of a time range, up to the server's own time."""

from __future__ import annotations

from itertools import chain, count
from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.api.server_clock import ServerClock
    from tap_leadintent.replication.windows import Window

    Fields = dict[str, Any]

_RANGE_REFUSALS = frozenset({400, 409, 416, 422})
"""Statuses with which a server may refuse a range that ends in its future."""

_MOST_TRIES = 5
"""More would repeat requests in vain; fewer might fail before two of three clocks have
agreed."""


class RangeRequests:
    """Reads windows of one time range, up to the server's own time.

    A server may refuse a range that ends in its future. A refusal shows the server's
    clock too, so the window is then requested again, up to that time.
    """

    def __init__(
        self,
        name: str,
        read_chain: Callable[[Fields, Check], Iterator[Page]],
        clock: ServerClock,
    ) -> None:
        """Set the reader up; requests are sent by `read`.

        Args:
            name: The range.
            read_chain: Reads the cursor chain of some request fields.
            clock: The server's clock; `read_chain` updates it with each response.
        """
        self._name = name
        self._read_chain = read_chain
        self._clock = clock

    def read(self, window: Window, check: Check) -> Iterator[Page]:
        """Read a window, its first page at once.

        Args:
            window: The window; its part in the server's future is left out.
            check: Called before each request and during waits; raises to end the chain.

        Returns:
            Gives each page, as it arrives.

        Raises:
            StreamError: The chain cannot go on.
        """
        for attempt in count(1):
            asked = self._until_now(window)
            if asked.end <= asked.start:
                break
            pages = self._read_chain(asked.request_fields(self._name), check)
            try:
                return chain([next(pages)], pages)
            except RefusedError as error:
                if error.status not in _RANGE_REFUSALS or attempt == _MOST_TRIES:
                    raise
                self._clock.concede()
                if not self._clock.is_disputed and self._until_now(window) == asked:
                    raise
        return iter(())

    def _until_now(self, window: Window) -> Window:
        now = self._clock.reached
        return window if now is None else window._replace(end=min(window.end, now))
