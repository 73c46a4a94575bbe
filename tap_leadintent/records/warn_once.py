"""Logs a warning once, even if its reason occurs in every record."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging


class WarnOnce:
    """The warnings about one stream."""

    def __init__(self, logger: logging.Logger) -> None:
        """Start without a warning.

        Args:
            logger: Gets the warnings.
        """
        self._logger = logger
        self._given: set[str] = set()

    def warn(self, text: str) -> None:
        """Log a warning, unless the same text was logged before.

        Args:
            text: The warning. All texts are kept in memory, so there must be few.
        """
        if text not in self._given:
            self._given.add(text)
            self._logger.warning("%s", text)
