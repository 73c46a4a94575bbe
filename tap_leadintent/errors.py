"""The errors of reading the API; `singer/errors.py` has those that any tap needs.

* StreamError: ends a stream or a window; the others are still read
* StoppedError: ends a reader thread
"""

from dataclasses import dataclass, field
from enum import StrEnum

from tap_leadintent.singer.errors import TapError

TAP_NAME = "tap-leadintent"
"""The tap's name, also that of its logger, the parent of the streams' loggers."""

SUPPORT = "if this continues, ask the API's support"
"""What to do about a failure of the server, as the end of a message."""


def replication_command(stream: str, method: str) -> str:
    """Return the command that sets how a stream is replicated, for a message.

    Args:
        stream: The name of the stream.
        method: `FULL_TABLE` or `INCREMENTAL`.

    Returns:
        A line for a shell.
    """
    metadata = f'{{"{stream}": {{"replication-method": "{method}"}}}}'
    return f"meltano config set tap-leadintent _metadata '{metadata}'"


class StoppedError(Exception):
    """Raised in a reader thread to stop it."""


class Reason(StrEnum):
    """Why a request failed, where its HTTP status does not say it."""

    NO_CONNECTION = "no_connection"
    """No connection to the API could be made."""

    NO_RESPONSE = "no_response"
    """The response was not complete in time, or the connection ended before."""

    TOO_LARGE = "too_large"
    """The response is larger than the tap accepts."""

    NOT_A_PAGE = "not_a_page"
    """The response is complete, but it is not a page of records."""


@dataclass(eq=False, kw_only=True, repr=False)
class Consequences:
    """What may follow from an error, as the table in `api/failures.py` says it.

    The modules that handle an error ask these questions, and know no status codes.
    """

    is_retryable: bool = False
    """Whether another attempt of the request may succeed."""

    pauses_all: bool = False
    """Whether all requests of the run wait before another attempt."""

    may_be_cursor: bool = False
    """Whether the API may have refused the cursor, so that a new chain may succeed."""

    may_be_range: bool = False
    """Whether the API may have refused the time range, so that another one may succeed.
    """

    may_be_split: bool = False
    """Whether a part of the time range may succeed. For a retryable error, this counts
    after its retries."""

    may_be_empty: bool = False
    """Whether the response means that there are no records, if a first page was asked
    for."""

    may_be_access: bool = False
    """Whether the key may lack access to this endpoint alone."""

    may_end_run: bool = False
    """Whether the run ends if the next stream fails in the same way and no request of
    the run has succeeded."""

    ends_run: bool = False
    """Whether no other stream can be read either."""


@dataclass(eq=False, kw_only=True, repr=False)
class StreamError(TapError, Consequences):
    """A stream cannot be read, mapped or written.

    It ends the stream, unless a retry, another cursor or another window helps.
    """

    message: str = field(kw_only=False)
    """What happened and what to do."""

    status: int | None = None
    """The HTTP status of the response, if there was one."""

    reason: Reason | None = None
    """Why the request failed, if the status does not say it."""

    retry_after: float | None = None
    """How many seconds the server asks to wait before another attempt."""

    server_time: int | None = None
    """When the request arrived by the server's clock, in UTC seconds since 1970, if the
    response says so."""

    def __post_init__(self) -> None:
        """Set the message of the base class."""
        super().__init__(self.message)
