"""Warnings about what may occur in every record: each is logged once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging


class WarnOnce:
    """The warnings about one stream."""

    def __init__(self, logger: logging.Logger) -> None:
        """Begin without a warning.

        Args:
            logger: Where to warn.
        """
        self._logger = logger
        self._given: set[str] = set()

    def warn(self, text: str) -> None:
        """Warn, unless the same has been said before.

        Args:
            text: The warning. There must be few different ones: all are remembered.
        """
        if text not in self._given:
            self._given.add(text)
            self._logger.warning("%s", text)
