"""What ends a run: errors that the command line logs as one line each.

They are `click` exceptions, because the SDK runs `--discover` and `--test` in
callbacks where it handles no error of its own: this way every entry point ends
the same, without a traceback and with exit code 1.
"""

from __future__ import annotations

import logging
from typing import IO, Any

import click
from singer_sdk.exceptions import FatalAPIError

LOGGER = "tap-leadintent"
"""Name of the tap's logger, from which those of the streams descend."""


class LoggedError(click.ClickException):
    """Ends a run; its lines are the last of the log."""

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002
        """Log the message at ERROR, where everything else about the run stands.

        Args:
            file: Not used: Meltano shows what is merely printed as no error.
        """
        for line in self.message.splitlines():
            logging.getLogger(LOGGER).error("%s", line)


class ConfigError(LoggedError):
    """The configuration cannot work; `errors` holds one line for each problem."""

    def __init__(self, errors: list[str]) -> None:
        """Keep the lines.

        Args:
            errors: One line for each problem, beginning with the setting's name.
        """
        super().__init__("\n".join(errors))
        self.errors = errors


class RunError(LoggedError):
    """A run has come to its end, but not all streams with it."""


class OutputError(RunError, OSError):
    """Standard output cannot be written, so that no stream can go on."""


class StreamError(FatalAPIError, LoggedError):
    """A stream cannot go on; the message says why and what to do."""


class NoAccessError(StreamError):
    """No stream can be read: the API cannot be reached, or it refuses the key.

    A refused key counts as such only before the API has answered a request of the run
    with a page. From then on it costs one stream: others may still be allowed.
    """


class RefusedError(StreamError):
    """The API refused a request, and would do so again."""

    def __init__(self, message: str, status: int) -> None:
        """Keep the status.

        Args:
            message: What happened and what to do.
            status: The HTTP status of the refusal.
        """
        super().__init__(message)
        self.status = status
