"""Decodes a response into a page whose values every warehouse can hold.

Numbers with a fraction or an exponent become doubles; integers stay exact. Values that
PostgreSQL or a JSON encoder would refuse are replaced, and the page lists these
repairs.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

TEXT_REPAIRED = "U+0000 or a lone surrogate, which became U+FFFD"
NO_NUMBER = "NaN or an infinity, which became null"
HUGE_NUMBER = "a number that no warehouse can hold, which became its text"

# A regular expression finds it faster than `in` does.
_ESCAPED_NULL = re.compile(rb"\\u0000")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Python's JSON decoder, which many targets use, refuses integers of more digits.
_MOST_DIGITS = 4_300

_BYTES_OF_A_PAGE = 4_096
"""Estimate of what a page's objects take besides its body. A larger one lets fewer
small pages wait; a smaller one lets them take more memory than is counted."""


class Cursor(msgspec.Struct):
    """The envelope's `cursor` object."""

    has_more: bool
    next: str | None = None


class Records(NamedTuple):
    """What a page holds."""

    data: list[dict[str, Any]]
    raw: list[msgspec.Raw]
    """The JSON of each record, to see whether the record has changed."""
    repairs: tuple[str, ...] = ()
    """What was replaced, in words."""


class _Envelope(msgspec.Struct):
    data: list[msgspec.Raw]
    cursor: Cursor


class _Whole(msgspec.Struct):
    data: list[dict[str, Any]]
    cursor: Cursor


@dataclass(frozen=True, eq=False)
class Page:
    """One response. Its records are decoded only when they are needed."""

    content: bytes
    """The body."""

    cursor: Cursor
    """Says where the next page is."""

    count: int
    """How many records it holds."""

    size: int
    """About how many bytes of memory it takes."""

    as_of: int
    """Up to which time it is complete, in UTC seconds since 1970; see `ServerClock`."""

    @classmethod
    def of(cls, content: bytes, as_of: int = 0) -> Page:
        """Decode a response's envelope.

        Args:
            content: The body of a successful response of a list endpoint.
            as_of: See the attribute.

        Returns:
            Its page.

        Raises:
            ValueError: The body is not a page envelope; the message says why.
        """
        envelope = _decode_envelope(content) or _decode(content)[0]
        size = len(content) + _BYTES_OF_A_PAGE
        return cls(content, envelope.cursor, len(envelope.data), size, as_of)

    def decode(self) -> Records:
        """Decode the records.

        Returns:
            The records, in the page's order.

        Raises:
            ValueError: A record is not valid JSON; the message says where.
        """
        whole, repairs = _decode(self.content)
        if envelope := _decode_envelope(self.content):
            return Records(whole.data, envelope.data, repairs)
        raw = [msgspec.Raw(msgspec.json.encode(record)) for record in whole.data]
        return Records(whole.data, raw, repairs)


def _decode_envelope(content: bytes) -> _Envelope | None:
    """Decode the envelope alone; None where this decoder is too strict for it."""
    try:
        return _envelope_decoder.decode(content)
    except (ValueError, RecursionError):
        return None


def _decode(content: bytes) -> tuple[_Whole, tuple[str, ...]]:
    try:
        try:
            whole = _whole_decoder.decode(content)
        except ValueError as refusal:
            return _decode_leniently(content, refusal)
        return _repaired(whole, set()) if _ESCAPED_NULL.search(content) else (whole, ())
    except RecursionError as error:
        msg = "JSON is nested too deeply"
        raise ValueError(msg) from error


_envelope_decoder = msgspec.json.Decoder(_Envelope)
_whole_decoder = msgspec.json.Decoder(_Whole)


def _decode_leniently(
    content: bytes, refusal: ValueError
) -> tuple[_Whole, tuple[str, ...]]:
    """Decode a body in which single values are invalid, and replace those."""
    repairs: set[str] = set()

    def number(text: str) -> float | str:
        if math.isfinite(number := float(text)):
            return number
        repairs.add(HUGE_NUMBER)
        return text

    def integer(text: str) -> int | str:
        if len(text.lstrip("-")) <= _MOST_DIGITS:
            return int(text)
        repairs.add(HUGE_NUMBER)
        return text

    try:
        decoded = json.loads(
            content.decode("utf-8", "surrogatepass"),
            parse_float=number,
            parse_int=integer,
            parse_constant=lambda _: repairs.add(NO_NUMBER),
        )
        return _repaired(msgspec.convert(decoded, _Whole), repairs)
    except ValueError:
        raise refusal from None


def _repaired(whole: _Whole, repairs: set[str]) -> tuple[_Whole, tuple[str, ...]]:
    data = [_fit(record, repairs) for record in whole.data]
    return _Whole(data, whole.cursor), tuple(sorted(repairs))


def _fit(value: Any, repairs: set[str]) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        text = _UNFIT.sub(_REPLACEMENT, value)
        if text != value:
            repairs.add(TEXT_REPAIRED)
        return text
    if isinstance(value, list):
        return [_fit(item, repairs) for item in value]
    if isinstance(value, dict):
        fit: dict[str, Any] = {}
        for key, item in value.items():
            name = _fit(key, repairs)
            # Two fields whose repaired names are equal must both stay.
            while name != key and (name in value or name in fit):
                name += _REPLACEMENT
            fit[name] = _fit(item, repairs)
        return fit
    return value
