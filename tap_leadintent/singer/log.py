"""Puts the stream's name into each line of the log, and hides details of the SDK."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from singer_sdk.metrics import METRICS_LOGGER_NAME
from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterable

    from singer_sdk import Stream


class NameStream(logging.Filter):
    """Puts the stream's name before each message of its logger.

    The logger has the same name, but Meltano shows only the text.
    """

    @override
    def filter(self, record: logging.LogRecord) -> bool:
        if not record.getMessage().startswith(f"{self.name}: "):
            record.msg = f"{self.name}: {record.msg}"
        return True


def name_streams(streams: Iterable[Stream]) -> None:
    """Let all lines about a stream begin with its name.

    Args:
        streams: The streams.
    """
    for stream in streams:
        # Loggers outlive a tap: they may have the filter from an earlier one.
        if not any(isinstance(known, NameStream) for known in stream.logger.filters):
            stream.logger.addFilter(NameStream(stream.name))


_ABOUT_START = (
    "Skipping parse of env var settings...",
    "Parsing env var for settings config...",
)


class _AtDebugOnly(logging.Filter):
    @override
    def filter(self, record: logging.LogRecord) -> bool:
        detail = record.name == METRICS_LOGGER_NAME or record.msg in _ABOUT_START
        return not detail or logging.getLogger().isEnabledFor(logging.DEBUG)


def hide_details(handlers: Iterable[logging.Handler]) -> None:
    """Show the SDK's metrics, and its lines about its own start, at DEBUG only.

    The metrics are three lines a stream, do not name it in Meltano, and repeat what the
    tap's own line at the end of a stream says.

    Args:
        handlers: Handlers of the console; other handlers still get the metrics.
    """
    for handler in handlers:
        handler.addFilter(_AtDebugOnly())
