"""The log as a person reads it: each line says which stream it is about."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from singer_sdk.metrics import METRICS_LOGGER_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from singer_sdk import Stream


class NameStream(logging.Filter):
    """Puts a stream's name before what its logger says.

    The logger's own name says it too, but Meltano shows the text alone.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        """Put the name before a message that does not begin with it.

        Args:
            record: What the stream's logger was told.

        Returns:
            True: the record is kept.
        """
        if not record.getMessage().startswith(f"{self.name}: "):
            record.msg = f"{self.name}: {record.msg}"
        return True


def name_streams(streams: Iterable[Stream]) -> None:
    """Have all lines about streams begin with the stream's name.

    Args:
        streams: The streams.
    """
    for stream in streams:
        # Loggers outlive the tap that asked for them.
        if not any(isinstance(known, NameStream) for known in stream.logger.filters):
            stream.logger.addFilter(NameStream(stream.name))


_ABOUT_START = (
    "Skipping parse of env var settings...",
    "Parsing env var for settings config...",
)


class _AtDebugOnly(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        detail = record.name == METRICS_LOGGER_NAME or record.msg in _ABOUT_START
        return not detail or logging.getLogger().isEnabledFor(logging.DEBUG)


def hide_details(handlers: Iterable[logging.Handler]) -> None:
    """Leave to DEBUG what the SDK says at INFO and no reader of a log needs.

    Its metrics are three lines a stream, which name none in Meltano, and say nothing
    that the tap's own line at the end of a stream does not.

    Args:
        handlers: Those of the console; handlers of the metrics alone still get them.
    """
    for handler in handlers:
        handler.addFilter(_AtDebugOnly())
