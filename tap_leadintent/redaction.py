"""Makes texts from outside safe to show: no API key, no control characters.

`Secret.summarize` does it in the only safe order: redact, make it one line, escape, and
only then cut. A key that was cut before would not be found.
"""

from __future__ import annotations

import html
import logging
import re
from array import array
from base64 import b64encode
from copy import copy
from typing import TYPE_CHECKING, NamedTuple

from typing_extensions import override

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST_SECRET = 8
"""Characters. A shorter secret would also be found in ordinary words."""

_SHOWN_CHARACTERS = 300
"""Fewer would cut a server's explanation; more would make lines hard to read."""

_SEARCHED_CHARACTERS = 2**17
"""Characters of a text that are searched for the secret. More takes longer and shows
nothing more; fewer than twice a key's longest spelling could show a part of it."""

_LAYERS = 4
"""Layers of escapes that are undone, as several programs may escape a text in turn.
More take time for each line of the log; fewer miss a secret that was escaped often."""

_SHORTEST_FORM = SHORTEST_SECRET // 2
"""Characters of a secret that is left when its own escapes are undone. A shorter one
would be found in ordinary words; a longer one would be missed."""

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
    """A text that must not be shown, in any spelling.

    It is found in upper or lower case; with characters escaped as in JSON, Python, HTML
    or URLs, also several times; with white space or invisible characters inside; and in
    base64, alone or as a part of an encoded text.
    """

    def __init__(self, secret: object) -> None:
        """Remember the secret.

        Args:
            secret: What must not be shown. Nothing is redacted if it is not a text or
                has fewer than SHORTEST_SECRET characters.
        """
        text = secret if isinstance(secret, str) else ""
        if len(text) < SHORTEST_SECRET:
            text = ""
        forms = (layer.text.translate(_LOWER) for layer in _layers(text))
        self._forms = {form for form in forms if len(form) >= _SHORTEST_FORM}
        self._in_base64 = [*_cores(text.encode(errors="surrogatepass"))]

    def redact(self, text: str) -> str:
        """Take the secret out of a text, in linear time.

        Args:
            text: Any text.

        Returns:
            The text, with asterisks in place of the secret.
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
        """Make a text safe and short enough for a message.

        Args:
            text: Any text, such as the body of a response.
            most: Most characters to show.

        Returns:
            One printable line without the secret. If it is too long, its middle is left
            out.
        """
        whole = str(text)
        seen = self.redact(whole[:_SEARCHED_CHARACTERS])
        if len(whole) > _SEARCHED_CHARACTERS:
            # The end may hold the first half of the secret.
            seen = f"{seen[: -_SEARCHED_CHARACTERS // 2]}…"
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
    r"""Escape control characters and invisible ones.

    Args:
        text: Any text.

    Returns:
        The text, with escapes such as `\x1b` or `\u202e`; line feeds and tabs stay.
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
    """Give the character of an escape, "" for invisible ones; None if it is not one."""
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
    """A secret in base64: the characters that hold no bits of their neighbours."""

    text: str
    before: bool
    """Whether the character before it holds the secret's first bits."""
    after: bool
    """Whether the character after it holds the last."""


def _cores(secret: bytes) -> Iterator[_Core]:
    """Give the base64 of a secret for each of its three offsets in an encoded text."""
    for offset in range(3):
        encoded = b64encode(bytes(offset) + secret).decode()
        first, before = divmod(8 * offset, 6)
        last, after = divmod(8 * (offset + len(secret)), 6)
        core = encoded[first + (before > 0) : last]
        yield _Core(core, before > 0, after > 0)


class RedactingFormatter(logging.Formatter):
    """Makes the text of another formatter safe to show.

    It works on the final text, because only that has message, traceback and structured
    fields together.
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

    @override
    def format(self, record: logging.LogRecord) -> str:
        # Escaped before the other formatter adds its own colours.
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
    """Redact a secret in everything that is logged from now on.

    Args:
        secret: What must not be logged.
    """
    root = logging.getLogger()
    named = root.manager.loggerDict.values()
    for logger in (root, *(each for each in named if isinstance(each, logging.Logger))):
        for handler in logger.handlers:
            handler.setFormatter(RedactingFormatter(secret, handler.formatter))
