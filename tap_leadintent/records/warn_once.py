"""Warnings about what may occur in every record: each is logged once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

_MOST = 100


class Notices:
    """The warnings about one stream."""

    def __init__(self, logger: logging.Logger) -> None:
        """Begin without a warning.

        Args:
            logger: Where to warn.
        """
        self._logger = logger
        self.told: set[str] = set()
        """What has been warned about."""

    def tell(self, subject: str, message: str, *args: object) -> None:
        """Warn, unless it is not the first time.

        Args:
            subject: What the warning is about.
            message: The warning, with `args` to be formatted into it.
            args: See `message`.
        """
        if subject in self.told or len(self.told) > _MOST:
            return
        self.told.add(subject)
        if len(self.told) > _MOST:
            message, args = "More warnings about records are left out", ()
        self._logger.warning(message, *args)
