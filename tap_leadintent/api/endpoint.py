"""Asks the API for intervals of a time range: what `replication/` needs of an endpoint.

API description: "POST /v1/signals/leads", "POST /v1/monitor/signals".
"""

from dataclasses import dataclass, replace
from threading import Event
from typing import Any

from typing_extensions import override

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.http import Client
from tap_leadintent.api.page import Page
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.protocol import OVERLAP_SECONDS, CutError
from tap_leadintent.times import EARLIEST, format_instant

_LARGEST_CLOCK_ERROR = 30 * 86_400
"""Seconds by which the server's clock may be behind. An interval that begins even later
than this after the server's time holds no records, so it is not narrowed to that time.
"""


@dataclass(frozen=True)
class Endpoint:
    """An endpoint as `replication.protocol.Api`."""

    client: Client
    """Sends the requests."""

    only_first: bool = False
    """Whether a query ends with its first page."""

    def query(
        self,
        range_name: str,
        interval: Interval,
        limit: int,
    ) -> Chain:
        """Begin a query; see `replication.protocol.Api`."""
        client = replace(self.client, page_size=limit)
        if range_name:
            return RangeChain(client, range_name, interval)
        return Chain(client, {}, only_first=self.only_first)

    parse = staticmethod(Page.of)
    """Returns the page of a body that a query has returned before."""

    def raise_if_interrupted(self) -> None:
        """Raise `SystemExit` after a signal."""
        self.client.run_context.interruption.raise_if_interrupted()


def range_fields(
    name: str,
    interval: Interval,
) -> dict[str, Any]:
    """Return the request fields for an interval of a range, and a second before it.

    The API description does not show whether a range includes its ends.

    Args:
        name: The time range.
        interval: The interval, in UTC seconds since 1970.

    Returns:
        The fields of the request's body.
    """
    start, end = interval
    # A server may refuse times before 1970, so none is requested without need.
    earliest = 0 if start >= 0 else EARLIEST
    start = max(earliest, start - OVERLAP_SECONDS)
    times = {
        "start_time": format_instant(start),
        "end_time": format_instant(end),
    }
    return {name: times}


class RangeChain(Chain):
    """The cursor chain of an interval.

    A server may refuse a range that ends in its future; the interval is then requested
    again, up to the server's own time.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        interval: Interval,
    ) -> None:
        super().__init__(client, range_fields(name, interval))
        self._name = name
        self._interval = interval

    @override
    def fetch(self, stopped: Event, max_retries: float) -> Page:
        try:
            return super().fetch(stopped, max_retries)
        except StreamError as error:
            if Action.CUT in error.actions:
                raise CutError(error) from None
            raise

    @override
    def restart_or_raise(self, error: StreamError) -> None:
        # The part of an interval that lies in the server's future is left out.
        start, end = self._interval
        now = error.server_time or end
        is_future = start - _LARGEST_CLOCK_ERROR < now < end
        # Only a request without a cursor says something about the range.
        is_first = not self.paginator.count
        can_be_narrowed = Action.CHANGE_RANGE in error.actions
        if not (is_first and is_future and can_be_narrowed):
            super().restart_or_raise(error)
            return
        # If several machines answer in turn, the clock of the next one may be behind
        # this one. All of the interval may lie in the future.
        start = min(start, now - 1)
        self._interval = (start, now)
        self.fields = range_fields(self._name, self._interval)
