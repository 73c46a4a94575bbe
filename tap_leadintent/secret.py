"""Keeps the API key out of everything that is shown."""

from __future__ import annotations

import html
import json
import logging
from urllib.parse import quote

_SHOWN_CHARACTERS = 300


class Secret:
    """A text that must not be shown, whoever repeats it."""

    def __init__(self, secret: str) -> None:
        """Remember the secret.

        Args:
            secret: What must not be shown; empty when there is none.
        """
        # As it is, and as JSON, Python, HTML and URLs spell it; the longest first.
        spellings = {
            secret,
            json.dumps(secret)[1:-1],
            repr(secret)[1:-1],
            html.escape(secret),
            quote(secret, safe="", errors="replace"),
        }
        self._spellings = sorted(spellings - {""}, key=len, reverse=True)

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


class RedactingFormatter(logging.Formatter):
    """Takes a secret out of what another formatter makes of a log record.

    This late, because only there are message, traceback and structure one text.
    """

    def __init__(self, secret: Secret, inner: logging.Formatter | None) -> None:
        """Wrap a formatter.

        Args:
            secret: What must not be logged.
            inner: The formatter of a handler, if it has one.
        """
        super().__init__()
        while isinstance(inner, RedactingFormatter):
            inner = inner.inner
        self.inner: logging.Formatter = inner or logging.Formatter()
        self._secret = secret

    def format(self, record: logging.LogRecord) -> str:
        """Give a record as text.

        Args:
            record: Any log record.

        Returns:
            What the other formatter says, without the secret.
        """
        return self._secret.redact(self.inner.format(record))


def keep_out_of_logs(secret: Secret) -> None:
    """Take a secret out of everything that is logged from now on.

    Args:
        secret: What must not be logged.
    """
    root = logging.getLogger()
    named = root.manager.loggerDict.values()
    for logger in (root, *(each for each in named if isinstance(each, logging.Logger))):
        for handler in logger.handlers:
            handler.setFormatter(RedactingFormatter(secret, handler.formatter))
