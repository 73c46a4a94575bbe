"""Decodes JSON that is not quite valid, and replaces what no warehouse can hold."""

import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

_ESCAPED_NULL = re.compile(rb"\\u0000")
_UNSUPPORTED = re.compile("[\0\ud800-\udfff]")

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{},]', re.DOTALL)
"""A text, or what opens, closes or separates values."""

_DATA = re.compile(rb'"data"\s*:\s*\[')

_any_record = msgspec.json.Decoder(dict[str, Any])


def as_utf8(content: bytes, encoding: str | None) -> bytes:
    """Convert a body to UTF-8 without a byte order mark, where its header helps.

    Args:
        content: The body.
        encoding: What `requests` reads from the header `Content-Type`.

    Returns:
        The body. It keeps its encoding if that is UTF-8, or not what the header says.
    """
    if encoding and encoding.lower() != "utf-8" and not _is_utf8(content):
        with suppress(LookupError, ValueError):
            content = content.decode(encoding).encode()
    return content.removeprefix(BOM_UTF8)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def decode(
    decoder: msgspec.json.Decoder[T],
    content: bytes,
) -> tuple[T, bool]:
    """Decode JSON, and return whether values had to be replaced.

    Args:
        decoder: Decodes it.
        content: The JSON.

    Raises:
        ValueError: It is not the JSON that the decoder expects.
        RecursionError: It is nested too deeply.
    """
    try:
        return decoder.decode(content), False
    except ValueError as refusal:
        try:
            return _repair(decoder, content)
        except msgspec.ValidationError:
            raise
        except ValueError:
            raise refusal from None


def decode_record(raw: msgspec.Raw) -> tuple[dict[str, Any], bool] | None:
    """Decode a record, and return whether values had to be replaced.

    Args:
        raw: The JSON of the record.

    Returns:
        None if it cannot be decoded, or if it is not an object.
    """
    content = bytes(raw)
    try:
        # A regular expression finds it faster than `in` does.
        if _ESCAPED_NULL.search(content):
            return _repair(_any_record, content)
        return decode(_any_record, content)
    except (ValueError, RecursionError):
        return None


def without_broken_records(content: bytes) -> bytes | None:
    """Put null in place of each record that cannot be decoded.

    Args:
        content: The body of a page.

    Returns:
        The body; None if no record is broken, or if the page is broken elsewhere.
    """
    parts: list[bytes] = []
    end = 0
    for start, stop in _records(content):
        raw = content[start:stop]
        if raw.strip() and decode_record(msgspec.Raw(raw)) is None:
            parts.append(content[end:start])
            parts.append(b"null")
            end = stop
    if not end:
        return None
    parts.append(content[end:])
    return b"".join(parts)


def _records(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each record of a page begins and ends, however it is nested."""
    begin = _DATA.search(content)
    if begin is None:
        return
    start = begin.end()
    depth = 1
    for token in _TOKEN.finditer(content, start):
        match token[0]:
            case b"[" | b"{":
                depth += 1
            case b"]" | b"}":
                depth -= 1
        if depth == 0:
            yield start, token.start()
            return
        if depth == 1 and token[0] == b",":
            yield start, token.start()
            start = token.end()


def _repair(
    decoder: msgspec.json.Decoder[T],
    content: bytes,
) -> tuple[T, bool]:
    """Decode JSON, replace single values, and return whether any were replaced.

    Control characters within strings need no replacement, only an escape.
    """
    text = content.decode("utf-8", "surrogatepass")
    original = json.loads(text, strict=False)
    decoded = json.loads(
        text,
        parse_float=_finite_or_text,
        parse_constant=lambda _: None,
        strict=False,
    )
    repaired = _repair_texts(decoded)
    encoded = msgspec.json.encode(repaired)
    return decoder.decode(encoded), repaired != original


def _finite_or_text(text: str) -> float | str:
    """Return a number; its text if it is too large for a double."""
    number = float(text)
    return text if math.isinf(number) else number


def _repair_texts(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Replace characters that no warehouse can store."""
    if isinstance(value, str):
        return _UNSUPPORTED.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_repair_texts(item) for item in value]
    if isinstance(value, dict):
        repaired: dict[str, Any] = {}
        for name, item in value.items():
            repaired[_repair_texts(name)] = _repair_texts(item)
        return repaired
    return value
