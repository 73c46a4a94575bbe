"""From the bytes of a response to a page whose values every warehouse can hold.

Numbers with a fraction or an exponent are `Decimal`, so that no digit is lost. What
PostgreSQL or a JSON encoder would refuse is replaced, and the page says so.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

import msgspec

TEXT_REPAIRED = "U+0000 or a lone surrogate, which became U+FFFD"
NO_NUMBER = "NaN or an infinity, which became null"
HUGE_NUMBER = "a number that no warehouse can hold, which became its text"

_UNFIT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Python's own JSON decoder, and so many a target, refuses longer integers, also those
# that PostgreSQL makes of exponents as it spells them out.
_MOST_DIGITS = 4_300
# PostgreSQL's numeric type, which also holds the numbers of its jsonb, has no more.
_MOST_DECIMALS = 16_383


class Cursor(msgspec.Struct):
    """The envelope's `cursor` object."""

    has_more: bool
    next: str | None = None


class Page(NamedTuple):
    """One response: its records and where the next ones are."""

    data: list[dict[str, Any]]
    cursor: Cursor
    repairs: tuple[str, ...] = ()
    """What had to be replaced in its records, in words."""


class _Envelope(msgspec.Struct):
    data: list[dict[str, Any]]
    cursor: Cursor


def decode_page(content: bytes) -> Page:
    """Decode the body of a response.

    Args:
        content: The body.

    Returns:
        Its page.

    Raises:
        ValueError: It is no page envelope; the message says where it differs.
    """
    try:
        try:
            envelope = _decoder.decode(content)
        except (ValueError, InvalidOperation) as refusal:
            return _decode_leniently(content, refusal)
        if rb"\u0000" in content:
            return _repaired(envelope, set())
    except RecursionError as error:
        msg = "JSON is nested too deeply"
        raise ValueError(msg) from error
    return Page(envelope.data, envelope.cursor)


def _number(text: str) -> Decimal:
    number = Decimal(text)
    if len(text) > _MOST_DIGITS or "e" in text or "E" in text:
        exponent = int(number.as_tuple().exponent)
        if number.adjusted() >= _MOST_DIGITS or -exponent > _MOST_DECIMALS:
            raise InvalidOperation
    return number


_decoder = msgspec.json.Decoder(_Envelope, float_hook=_number)


def _decode_leniently(content: bytes, refusal: Exception) -> Page:
    """Take what the strict decoder refuses, if it is only about a value."""
    repairs: set[str] = set()

    def number(text: str) -> Decimal | str:
        try:
            return _number(text)
        except InvalidOperation:
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
        return _repaired(msgspec.convert(decoded, _Envelope), repairs)
    except ValueError as error:
        raise (refusal if isinstance(refusal, ValueError) else error) from None


def _repaired(envelope: _Envelope, repairs: set[str]) -> Page:
    data = [_fit(record, repairs) for record in envelope.data]
    return Page(data, envelope.cursor, tuple(sorted(repairs)))


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
            # A field must not replace one whose repaired name is the same.
            while name != key and (name in value or name in fit):
                name += _REPLACEMENT
            fit[name] = _fit(item, repairs)
        return fit
    return value
