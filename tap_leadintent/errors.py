"""The errors that end a run; the command line logs each as one line.

* LoggedError: ends the run
  + ConfigError: before the first request
  + RunError: after streams have failed
    - OutputError: at once, as nothing can be written
  + StreamError: ends a stream; the others are still read
    - RefusedError: for a status of the API
      . TooWideError: for a time range that can be narrower
    - NoAccessError: no connection can be made, which ends the run

They are `click` exceptions, as the SDK does not handle those of a run. This way every
entry point ends without a traceback and with exit code 1.
"""

import logging
from typing import IO, Any

import click
from singer_sdk.exceptions import FatalAPIError
from typing_extensions import override

LOGGER = "tap-leadintent"
"""Name of the tap's logger, the parent of the streams' loggers."""

SUPPORT = "if it goes on, ask the API's support"
"""What to do about a failure of the server, as the end of a message."""


class LoggedError(click.ClickException):
    """Ends a run; its lines are the last of the log."""

    @override
    def show(self, file: IO[Any] | None = None) -> None:
        # Logged, not printed: Meltano does not show printed lines as errors.
        for line in self.message.splitlines():
            logging.getLogger(LOGGER).error("%s", line)


class ConfigError(LoggedError):
    """The configuration cannot work; `errors` holds one line for each problem."""

    def __init__(self, errors: list[str]) -> None:
        """Join the lines to the message.

        Args:
            errors: One line for each problem, beginning with the setting's name.
        """
        super().__init__("\n".join(errors))
        self.errors = errors


class RunError(LoggedError):
    """Some streams of a run failed."""


class OutputError(RunError, OSError):
    """Standard output cannot be written, so no stream can go on."""


class StoppedError(Exception):
    """Raised in a reader thread to stop it."""


class StreamError(FatalAPIError, LoggedError):
    """A stream cannot go on; the message says why and what to do."""

    may_pass = False
    """Whether another try of the request may help."""

    retry_after: float | None = None
    """How many seconds the server wants to be left alone, if it says so."""

    def __init__(self, message: str, kind: object = None) -> None:
        """Create the error.

        Args:
            message: What happened and what to do.
            kind: What a request failed with: the HTTP status, or the type of error
                where there was no response. None if no request failed.
        """
        super().__init__(message)
        self.kind = kind


class NoAccessError(StreamError):
    """No connection to the API can be made, so that no other stream can be read."""


class RefusedError(StreamError):
    """The API refused a request with the status `kind`; a retry would not help."""

    as_of: int | None = None
    """Up to which time a page would have been complete, see `ServerClock`."""


class TooWideError(RefusedError):
    """The API refused the first page of a window that can be narrower."""
