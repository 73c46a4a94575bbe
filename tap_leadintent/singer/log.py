"""Puts the stream's name into each line of the log, and hides details of the SDK."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING

from singer_sdk.metrics import METRICS_LOGGER_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable

    from singer_sdk import Stream

_ABOUT_START = (
    "Skipping parse of env var settings...",
    "Parsing env var for settings config...",
)


def name_streams(streams: Iterable[Stream]) -> None:
    """Let all lines about a stream begin with its name, as Meltano shows only the text.

    Args:
        streams: The streams.
    """
    for stream in streams:
        # Loggers outlive a tap: they may have the filter from an earlier one.
        stream.logger.filters[:] = [partial(_name, f"{stream.name}: ")]


def _name(prefix: str, record: logging.LogRecord) -> bool:
    if not record.getMessage().startswith(prefix):
        record.msg = f"{prefix}{record.msg}"
    return True


def hide_details(handlers: Iterable[logging.Handler]) -> None:
    """Show the SDK's metrics, and its lines about its own start, at DEBUG only.

    The metrics are three lines a stream, do not name it in Meltano, and repeat what the
    tap's own line at the end of a stream says.

    Args:
        handlers: Handlers of the console; other handlers still get the metrics.
    """
    for handler in handlers:
        handler.addFilter(_is_shown)


def _is_shown(record: logging.LogRecord) -> bool:
    detail = record.name == METRICS_LOGGER_NAME or record.msg in _ABOUT_START
    return not detail or logging.getLogger().isEnabledFor(logging.DEBUG)
