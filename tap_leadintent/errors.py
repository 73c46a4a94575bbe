"""The errors of reading the API; `singer/errors.py` has those that any tap needs.

* StreamError: ends a stream or a window; the others are still read
* StoppedError: ends a reader thread
* BudgetSpentError: ends the run, cleanly
"""

from dataclasses import dataclass, field, replace
from enum import Flag, StrEnum, auto
from typing import Any, Self

from tap_leadintent.singer.errors import TapError

TAP_NAME = "tap-leadintent"
"""The tap's name, also that of its logger, the parent of the streams' loggers."""

SUPPORT = "if this continues, ask the API's support"
"""What to do about a failure of the server, as the end of a message."""


class StoppedError(Exception):
    """Raised in a reader thread to stop it."""


class BudgetSpentError(Exception):
    """The run has sent as many requests as it may."""


class Reason(StrEnum):
    """Why a request failed, where its HTTP status does not say it."""

    NO_CONNECTION = "no_connection"
    """No connection to the API could be made."""

    NO_RESPONSE = "no_response"
    """The response was not complete in time, or it was larger than the tap accepts, or
    the connection ended before."""

    NOT_A_PAGE = "not_a_page"
    """The response is complete, but it is not a page of records."""


class Action(Flag):
    """What to do after an error, as the tables in `api/failures.py` say it.

    The modules that handle an error ask for actions, and know no status codes. If no
    action helps, the stream ends. If no request of the run has succeeded and the next
    stream fails in the same way, the run ends as well.
    """

    RETRY = auto()
    """Send the request again, as another attempt may succeed."""

    PAUSE_ALL = auto()
    """Send no request of the run for a while, before the retry."""

    WAIT_OUT = auto()
    """Retry for as long as a rate limit may last, however often that is."""

    RESTART = auto()
    """Begin the chain again, as the API may have refused its cursor."""

    CHANGE_RANGE = auto()
    """Ask for another time range, as the API may have refused this one."""

    CUT = auto()
    """Ask for a part of the time range, after the retries of a retryable error."""

    LEAVE_STREAM = auto()
    """Read the other streams, whatever happens to them."""

    END_RUN = auto()
    """Read no other stream."""


@dataclass(eq=False, kw_only=True, repr=False)
class StreamError(TapError):
    """A stream cannot be read, mapped or written.

    It ends the stream, unless a retry, another cursor or another window helps.
    """

    message: str = field(kw_only=False)
    """What to do and what happened."""

    if_others_succeed: str = ""
    """The same, if requests of other streams succeed; empty if that does not matter."""

    detail: str = ""
    """The words of the server or the system about it."""

    actions: Action = Action.LEAVE_STREAM
    """What to do about it."""

    status: int | None = None
    """The HTTP status of the response; None without a response."""

    reason: Reason | None = None
    """Why the request failed, if the status does not say it."""

    retry_after: float = 0.0
    """How many seconds the server asks to wait before another attempt; 0 if it does not
    say."""

    server_time: int | None = None
    """When the request arrived by the server's clock, in UTC seconds since 1970. It is
    None if the response does not say so."""

    def __str__(self) -> str:
        """Return the message, and the detail after it."""
        if not self.detail:
            return self.message
        return f"{self.message} ({self.detail})"

    def changed(self, **fields: Any) -> Self:
        """Return a copy of the error with other values of these fields."""
        return replace(self, **fields)

    @property
    def why(self) -> str:
        """What happened, where somebody else says what to do."""
        return self.detail or self.message
