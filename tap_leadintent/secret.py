"""Keeps the API key out of everything that is shown."""

from __future__ import annotations

import json
import logging

_SHOWN_CHARACTERS = 300


class Secret:
    """A text that must not be shown, whoever repeats it."""

    def __init__(self, secret: str) -> None:
        """Remember the secret.

        Args:
            secret: What must not be shown; empty when there is none.
        """
        # As it is, and as JSON would spell it.
        self._spellings = {secret, json.dumps(secret)[1:-1]} - {""}

    def redact(self, text: str) -> str:
        """Take the secret out of a text.

        Args:
            text: Any text.

        Returns:
            The text, with asterisks where the secret stood.
        """
        for spelling in self._spellings:
            text = text.replace(spelling, "***")
        return text

    def summarize(self, text: object) -> str:
        """Make a text fit for a message.

        Args:
            text: Any text, such as what a server answered.

        Returns:
            One line of at most a few hundred characters, without the secret.
        """
        line = " ".join(self.redact(str(text)).split())
        if len(line) > _SHOWN_CHARACTERS:
            return f"{line[:_SHOWN_CHARACTERS]}…"
        return line


class RedactingFilter(logging.Filter):
    """Takes a secret out of log records, their tracebacks included."""

    def __init__(self, secret: Secret) -> None:
        """Remember the secret.

        Args:
            secret: What must not be logged.
        """
        super().__init__()
        self._secret = secret

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean a record.

        Args:
            record: Any log record; it is changed in place.

        Returns:
            True: no record is dropped.
        """
        message = record.getMessage()
        if message != (clean := self._secret.redact(message)):
            record.msg, record.args = clean, ()
        if record.exc_info:
            text = logging.Formatter().formatException(record.exc_info)
            record.exc_text = self._secret.redact(text)
        return True
