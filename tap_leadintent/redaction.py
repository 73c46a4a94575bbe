"""Keeps the API key out of everything that is shown."""

from __future__ import annotations

import html
import json
import logging
import re

_SHOWN_CHARACTERS = 300


class Secret:
    """A text that must not be shown, whoever repeats it."""

    def __init__(self, secret: str) -> None:
        """Remember the secret.

        Args:
            secret: What must not be shown; empty when there is none.
        """
        self._spelt = re.compile("".join(map(_spelt, secret)))

    def redact(self, text: str) -> str:
        """Take the secret out of a text.

        Args:
            text: Any text.

        Returns:
            The text, with asterisks where the secret stood.
        """
        return self._spelt.sub("***", text) if self._spelt.pattern else text

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


def _spelt(character: str) -> str:
    """Give a pattern for a character as it is, and as JSON, Python, HTML or URLs.

    Character by character, because writers do not agree on what has to be escaped;
    only letters and digits nobody does.
    """
    if character.isascii() and character.isalnum():
        return character
    code = ord(character)
    octets = character.encode(errors="replace")
    words = {
        character,
        json.dumps(character)[1:-1],
        repr(character)[1:-1],
        html.escape(character),
    }
    spellings = [
        rf"(?i:u{code:04x}|&\#0*{code};|&\#x0*{code:x};)",
        "".join(rf"(?i:%(?:25)*{octet:02x})" for octet in octets),
        *map(re.escape, sorted(words, key=len, reverse=True)),
    ]
    # JSON within JSON puts three backslashes before a quotation mark.
    return rf"(?:\\|(?i:%5c)){{0,3}}(?:{'|'.join(spellings)})"


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
