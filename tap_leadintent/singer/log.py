"""What is logged: no API key, no control characters, each stream's name."""

import logging
import re
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from os import environ
from pathlib import Path
from urllib import parse

from singer_sdk import plugin_base
from singer_sdk.metrics import METRICS_LOGGER_NAME

SHORTEST_SECRET = 8
"""Characters. A shorter secret would also be found in ordinary words."""

_MAX_CHARACTERS = 300
"""Characters of a text in a message, enough for most explanations of a server."""

_HIDDEN: dict[str, re.Pattern[str]] = {}
"""The keys of all taps that this process has had, and how they are spelled."""

_LONG_WORD = re.compile(
    r"(?<![A-Za-z0-9+/=_.%-])(?![a-z_.]+(?![A-Za-z0-9+/=_.%-]))[A-Za-z0-9+/=_.%-]{20,}"
)
"""What a key may look like in any encoding: a word of 20 or more characters. If shorter
ones were hidden, or those of lower-case letters, underscores and dots only, ordinary
words and names of fields would be hidden, too. Quotes, commas, colons and brackets end
such a word, so JSON stays readable."""


def hide(*secrets: object) -> None:
    """Hide texts from now on, in messages and in lines that a `Redaction` makes safe.

    Args:
        secrets: What must not be shown. What is not a text or has fewer than
            SHORTEST_SECRET characters is not hidden.
    """
    for secret in secrets:
        if isinstance(secret, str) and len(secret) >= SHORTEST_SECRET:
            _HIDDEN[secret] = pattern_of(secret)


def pattern_of(secret: str) -> re.Pattern[str]:
    """Return a pattern of a text as libraries spell it, in upper or lower case.

    Args:
        secret: Any text.

    Returns:
        A pattern that matches the text in JSON, in the `repr` of Python, in a URL and
        in HTML, also in one of these within another, such as the `repr` of JSON.
    """
    # One of several backslashes is enough, as their number differs by the spelling.
    characters = re.sub(r"\\+", r"\\", secret)
    pattern = "".join(map(_spellings_of, characters))
    return re.compile(pattern, re.IGNORECASE)


def _spellings_of(character: str) -> str:
    number = f"{ord(character):02x}"
    in_url = parse.quote(character, safe="")
    in_html = escape(character)
    others = {in_url, in_html} - {character}
    spellings = [
        rf"\\+(x|u0*){number}",
        rf"%(25)*{number}",
        *map(re.escape, others),
        rf"\\*{re.escape(character)}",
    ]
    alternatives = "|".join(spellings)
    if character == "%":
        # A key may itself have digits after it that look like another spelling.
        return f"(?:{alternatives})"
    # Without a way back to another spelling, it takes no time where a text differs.
    pattern = f"(?>{alternatives})"
    if character == "\\":
        return f"{pattern}+"
    return pattern


def redact(text: str) -> str:
    """Put asterisks in place of all that is hidden.

    Args:
        text: Any text.

    Returns:
        The text without what is hidden.
    """
    for spelling in _HIDDEN.values():
        text = spelling.sub("***", text)
    return text


def summarize(text: object, most: int = _MAX_CHARACTERS) -> str:
    """Make a text safe and short enough for a message.

    Args:
        text: Any text.
        most: Most characters to show.

    Returns:
        The beginning of it, as one printable line without what is hidden.
    """
    words = redact(str(text)).split()
    line = printable(" ".join(words))
    # Cut last: half a secret would not be found.
    if len(line) > most:
        return f"{line[:most]}…"
    return line


def quote(text: object, most: int = _MAX_CHARACTERS) -> str:
    """Make what a server says safe and short enough for a message.

    Args:
        text: Any text, such as the first part of a response's body.
        most: Most characters to show.

    Returns:
        As `summarize`, with `…` in place of each word of 20 or more letters, digits and
        `+/=_-.%`, unless it has only lower-case letters, underscores and dots.
    """
    redacted = redact(str(text))
    return summarize(_LONG_WORD.sub("…", redacted), most)


def printable(text: str) -> str:
    r"""Escape control characters and invisible ones.

    Args:
        text: Any text.

    Returns:
        The text, with escapes such as `\x1b` or `\u202e`; line feeds and tabs stay.
    """
    return "".join(map(_printable_character, text))


def _printable_character(character: str) -> str:
    if character.isprintable() or character in "\n\t":
        return character
    return character.encode("unicode_escape").decode()


def redact_whole_log() -> None:
    """Redact secrets in all that the process logs, and hide what is not for users.

    Call it only in a process that is the tap's own.
    """
    # It logs headers of a response that are malformed with a traceback of its own.
    logging.getLogger("urllib3").setLevel(logging.ERROR)
    root = logging.getLogger()
    loggers = [root]
    for name in list(root.manager.loggerDict):
        logger = logging.getLogger(name)
        loggers.append(logger)
    for logger in loggers:
        for handler in logger.handlers:
            handler.addFilter(Redaction())
            handler.addFilter(_is_for_users)


@dataclass(frozen=True)
class Redaction:
    """A filter that makes a line safe, and names the stream that it is about.

    The handlers may belong to another program, so the lines of a tap are made safe
    before they reach one. Loggers outlive a tap, and add a filter only if they have no
    equal one.
    """

    stream: str = ""
    """Meltano shows only the text of a line, so it begins with this name."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Change the line. Nothing that it contains may raise an error here."""
        try:
            original = record.getMessage()
            text = original
        except Exception as error:  # noqa: BLE001 - arguments can raise anything
            # A handler would print the line with its arguments.
            original = ""
            text = f"{record.msg} (cannot be formatted: {type(error).__name__})"
        if record.exc_info:
            # Formatters make a text of their own of it, which nothing could redact.
            trace = logging.Formatter().formatException(record.exc_info)
            if printable(redact(trace)) != trace:
                text = f"{text}\n{trace}"
                record.exc_info = None
        if self.stream:
            record.stream_name = self.stream
            text = f"{self.stream}: {text}"
        text = printable(redact(text))
        # Metrics are read from the arguments.
        if text != original:
            record.msg = text
            record.args = ()
        _redact_fields(record)
        return True


def _redact_fields(record: logging.LogRecord) -> None:
    """Redact secrets in the fields that a handler may write beside the text."""
    for name, value in vars(record).items():
        if name in {"msg", "args", "exc_info"}:
            continue
        with suppress(Exception):  # a value may have no text
            text = str(value)
            redacted = redact(text)
            if redacted != text:
                setattr(record, name, redacted)


def _is_for_users(record: logging.LogRecord) -> bool:
    """Hide a line of the SDK about its start, and metrics in a log for people.

    The metrics repeat what the tap's own line at the end of a stream says. Programs
    read them: handlers that `SINGER_SDK_LOG_CONFIG` sets up, and in Meltano its log as
    JSON and the handlers of its own configuration. At DEBUG, nothing is hidden.
    """
    if logging.getLogger().isEnabledFor(logging.DEBUG):
        return True
    if record.name != METRICS_LOGGER_NAME:
        return record.pathname != plugin_base.__file__
    # Meltano sets `SINGER_SDK_LOG_CONFIG`, too, and these.
    if environ.get("MELTANO_CLI_LOG_FORMAT", "json") != "json":
        config = environ.get("MELTANO_CLI_LOG_CONFIG", "")
        return Path(config).is_file()
    return "SINGER_SDK_LOG_CONFIG" in environ
