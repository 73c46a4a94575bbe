"""Makes texts from outside fit to be shown: no API key, nothing that a terminal obeys.

The order matters, so there is one function for it: redact, make it one line, escape,
and only then cut. A key that is cut first is no longer recognised.
"""

from __future__ import annotations

import html
import logging
import re
from array import array
from base64 import b64encode
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST_SECRET = 8
"""Characters. A shorter secret would be found in ordinary words."""

_SHOWN_CHARACTERS = 300
"""Enough for a sentence of the server's, short enough for a line of a log."""

_LOOKED_AT = 2**17
"""Characters of a text that are searched for a message. More takes longer, and shows
nothing more; half of it is far longer than any spelling of a key."""

_LAYERS = 4
"""How many writers may have escaped a text one after the other, each in its way. More
find a secret that hardly anybody could read, and take time for each line of the log."""

_SHORTEST_FORM = SHORTEST_SECRET // 2
"""Characters. What is left of a secret of escapes must not be found everywhere."""

_ESCAPE = re.compile(
    r"""
      (?P<invisible> [\s\0-\x20\x7f-\xa0\xad\u061c\u200b-\u200f\u2028-\u202f
                      \u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]+ )
    | % (?:25)* (?P<percent> [0-9a-f]{2} )
    | \\+ (?: u (?P<json> [0-9a-f]{4} ) | x (?P<python> [0-9a-f]{2} )
             | (?P<control> [abfnrtv] ) )?
    | & (?P<html> \#? \w{1,31} ; )
    """,
    re.VERBOSE | re.IGNORECASE,
)

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_STANDARD_BASE64 = {ord("-"): "+", ord("_"): "/"}


class Secret:
    """A text that must not be shown, whoever repeats it, in whatever spelling.

    Found are: the text itself in any case, escaped as JSON, Python, HTML or URLs do
    (any of its characters, also several times over), with white space or invisible
    characters inside, and in base64, alone or as a part of what was encoded.
    """

    def __init__(self, secret: object) -> None:
        """Remember the secret.

        Args:
            secret: What must not be shown. What is no text, or has fewer than
                SHORTEST_SECRET characters, is none.
        """
        text = secret if isinstance(secret, str) else ""
        if len(text) < SHORTEST_SECRET:
            text = ""
        forms = (layer.text.translate(_LOWER) for layer in _layers(text))
        self._forms = {form for form in forms if len(form) >= _SHORTEST_FORM}
        self._in_base64 = [*_cores(text.encode(errors="surrogatepass"))]

    def redact(self, text: str) -> str:
        """Take the secret out of a text, in a time that grows with its length alone.

        Args:
            text: Any text.

        Returns:
            The text, with asterisks where the secret stood.
        """
        if not self._forms:
            return text
        parts: list[str] = []
        done = 0
        for start, end in sorted(self._places(text)):
            if start >= done:
                parts += text[done:start], "***"
            done = max(done, end)
        return "".join([*parts, text[done:]])

    def summarize(self, text: object, most: int = _SHOWN_CHARACTERS) -> str:
        """Make a text fit for a message.

        Args:
            text: Any text, such as what a server answered.
            most: How many characters to show.

        Returns:
            One printable line without the secret; where it is too long, its middle
            is left out.
        """
        whole = str(text)
        seen = self.redact(whole[:_LOOKED_AT])
        if len(whole) > _LOOKED_AT:
            # The end may hold the first half of the secret.
            seen = f"{seen[: -_LOOKED_AT // 2]}…"
        line = printable(" ".join(seen.split()))
        if len(line) <= most:
            return line
        tail = most // 4
        return f"{line[: most - tail]}…{line[-tail:]}"

    def _places(self, text: str) -> Iterator[tuple[int, int]]:
        for layer in _layers(text):
            folded = layer.text.translate(_LOWER)
            for form in self._forms:
                for start, end in _find(form, folded):
                    yield layer.starts[start], layer.ends[end - 1]
            standard = layer.text.translate(_STANDARD_BASE64)
            for core, before, after in self._in_base64:
                for start, end in _find(core, standard):
                    first, last = (
                        max(0, start - before),
                        min(end + after, len(standard)),
                    )
                    yield layer.starts[first], layer.ends[last - 1]


def printable(text: str) -> str:
    r"""Escape what a terminal would obey, or not show.

    Args:
        text: Any text.

    Returns:
        The text, with `\x1b` or `\u202e` in place of such a character; line feeds and
        tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(
        character
        if character.isprintable() or character in "\n\t"
        else character.encode("unicode_escape").decode()
        for character in text
    )


class _Layer(NamedTuple):
    """A text without one layer of escapes, and where each character came from."""

    text: str
    starts: array[int]
    ends: array[int]


def _layers(text: str) -> Iterator[_Layer]:
    """Give a text as it is, then without one layer of escapes after the other."""
    layer = _Layer(text, array("q", range(len(text))), array("q"))
    layer.ends.extend(range(1, len(text) + 1))
    yield layer
    for _ in range(_LAYERS):
        inner = _unescaped(layer)
        if inner.text == layer.text:
            break
        yield (layer := inner)


def _unescaped(layer: _Layer) -> _Layer:
    parts: list[str] = []
    starts, ends = array("q"), array("q")
    done = 0
    for escape in _ESCAPE.finditer(layer.text):
        meaning = _meaning(escape)
        if meaning is None:
            continue
        start, end = escape.span()
        parts += layer.text[done:start], meaning
        starts += layer.starts[done:start]
        ends += layer.ends[done:start]
        if meaning:
            starts.append(layer.starts[start])
            ends.append(layer.ends[end - 1])
        done = end
    parts.append(layer.text[done:])
    return _Layer(
        "".join(parts), starts + layer.starts[done:], ends + layer.ends[done:]
    )


def _meaning(escape: re.Match[str]) -> str | None:
    """Give the character that an escape stands for, "" for none, None for itself."""
    kind = escape.lastgroup
    if kind == "html":
        character = html.unescape(f"&{escape[kind]}")
        return character if len(character) == 1 else None
    if kind is None or kind == "invisible":
        return ""
    if kind == "control":
        return "\n"
    return chr(int(escape[kind], 16))


def _find(part: str, text: str) -> Iterator[tuple[int, int]]:
    end = 0
    while (start := text.find(part, end)) >= 0:
        end = start + len(part)
        yield start, end


class _Core(NamedTuple):
    """What base64 makes of a secret: the characters that hold bits of it alone."""

    text: str
    before: bool
    """Whether the character before it holds the secret's first bits."""
    after: bool
    """Whether the character after it holds the last."""


def _cores(secret: bytes) -> Iterator[_Core]:
    """Give what base64 makes of a secret, wherever it stands in what is encoded."""
    for offset in range(3):
        encoded = b64encode(bytes(offset) + secret).decode()
        first, before = divmod(8 * offset, 6)
        last, after = divmod(8 * (offset + len(secret)), 6)
        core = encoded[first + (before > 0) : last]
        yield _Core(core, before > 0, after > 0)


class RedactingFormatter(logging.Formatter):
    """Makes what another formatter makes of a log record fit to be shown.

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
            What the other formatter says, without the secret, and with nothing from
            outside that a terminal would obey; colours of the formatter's own stay.
        """
        message = record.getMessage()
        safe = printable(message)
        if safe != message or record.exc_info:
            record = copy(record)
        if safe != message:
            record.msg, record.args = safe, None
        if record.exc_info:
            record.exc_text = printable(self.inner.formatException(record.exc_info))
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
