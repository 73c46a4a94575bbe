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
    if encoding and encoding.lower() != "utf-8":
        try:
            content.decode()
        except UnicodeDecodeError:
            with suppress(LookupError, ValueError):
                content = content.decode(encoding).encode()
    return content.removeprefix(BOM_UTF8)


def decode(decoder: msgspec.json.Decoder[T], content: bytes) -> tuple[T, bool]:
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
        None if it cannot be decoded, or if it is no object.
    """
    # A regular expression finds it faster than `in` does.
    decode_it = _repair if _ESCAPED_NULL.search(raw) else decode
    try:
        return decode_it(_any_record, bytes(raw))
    except (ValueError, RecursionError):
        return None


def without_broken_records(content: bytes) -> bytes | None:
    """Put null in place of each record that cannot be decoded.

    Args:
        content: The body of a page.

    Returns:
        The body; None if no record is broken, or if the page is broken elsewhere.
    """
    kept: list[bytes] = []
    end = 0
    for start, stop in _records(content):
        raw = content[start:stop]
        if raw.strip() and decode_record(msgspec.Raw(raw)) is None:
            kept += [content[end:start], b"null"]
            end = stop
    if not end:
        return None
    return b"".join([*kept, content[end:]])


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
        is_end = depth == 0
        if is_end or (depth == 1 and token[0] == b","):
            yield start, token.start()
            start = token.end()
        if is_end:
            return


def _repair(decoder: msgspec.json.Decoder[T], content: bytes) -> tuple[T, bool]:
    """Decode JSON, replace single values, and return whether any were replaced.

    Control characters within strings need no replacement, only an escape.
    """
    text = content.decode("utf-8", "surrogatepass")
    original = json.loads(text, strict=False)
    decoded = json.loads(
        text,
        parse_float=lambda text: text if math.isinf(float(text)) else float(text),
        parse_constant=lambda _: None,
        strict=False,
    )
    repaired = _repair_texts(decoded)
    return decoder.decode(msgspec.json.encode(repaired)), repaired != original


def _repair_texts(value: Any) -> Any:  # noqa: ANN401 - any JSON
    """Replace characters that no warehouse can store."""
    if isinstance(value, str):
        return _UNSUPPORTED.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, list):
        return [_repair_texts(item) for item in value]
    if isinstance(value, dict):
        return {_repair_texts(key): _repair_texts(item) for key, item in value.items()}
    return value
