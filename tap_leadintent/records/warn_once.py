"""Logs a warning once, even if its reason occurs in every record."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging


@dataclass(eq=False)
class WarnOnce:
    """The warnings about one stream."""

    logger: logging.Logger
    """Gets the warnings."""

    _given: set[str] = field(init=False, default_factory=set)

    def warn(self, text: str) -> None:
        """Log a warning, unless the same text was logged before.

        Args:
            text: The warning. All texts are kept in memory, so there must be few.
        """
        if text not in self._given:
            self._given.add(text)
            self.logger.warning("%s", text)
