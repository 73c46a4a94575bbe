"""Decodes a response into a page whose values every warehouse can hold.

Numbers with a fraction or an exponent become `Decimal`, so that no digit is lost.
Values that PostgreSQL or a JSON encoder would refuse are replaced, and the page lists
these repairs.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    import requests

TEXT_REPAIRED = "U+0000 or a lone surrogate, which became U+FFFD"
NO_NUMBER = "NaN or an infinity, which became null"
HUGE_NUMBER = "a number that no warehouse can hold, which became its text"

# A regular expression finds it faster than `in` does.
_ESCAPED_NULL = re.compile(rb"\\u0000")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Python's JSON decoder, which many targets use, refuses integers of more digits.
# PostgreSQL writes exponents out, so 1e5000 would become such an integer.
_MOST_DIGITS = 4_300
# PostgreSQL's numeric type, which its jsonb uses too, holds no more decimal places.
_MOST_DECIMALS = 16_383

_BYTES_OF_A_PAGE = 4_096
"""Estimate of what a page's objects take besides its body. A larger one lets fewer
small pages wait; a smaller one lets them take more memory than is counted."""


class Cursor(msgspec.Struct):
    """The envelope's `cursor` object."""

    has_more: bool
    next: str | None = None

    @property
    def following(self) -> str | None:
        """Cursor of the next page, or None after the last."""
        return self.next if self.has_more else None


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


class Page:
    """One response. Its records are decoded only when they are needed."""

    cursor: Cursor
    """Says where the next page is."""

    count: int
    """How many records it holds."""

    size: int
    """About how many bytes of memory it takes."""

    request: requests.PreparedRequest
    """The request that it answers."""

    as_of: int = 0
    """Up to which time it is complete, in UTC seconds since 1970; see `ServerClock`."""

    @classmethod
    def of(cls, response: requests.Response) -> Page:
        """Decode a response's envelope.

        Args:
            response: A successful response of a list endpoint, read whole.

        Returns:
            Its page.

        Raises:
            ValueError: The body is not a page envelope; the message says why.
        """
        page = cls(response.content)
        page.request = response.request
        return page

    def __init__(self, content: bytes) -> None:
        """Decode the envelope.

        Args:
            content: The body of a response.

        Raises:
            ValueError: It is not a page envelope; the message says why.
        """
        self._content = content
        self.size = len(content) + _BYTES_OF_A_PAGE
        self._raw: list[msgspec.Raw] | None = None
        envelope: _Envelope | _Whole | None = _decode_envelope(content)
        if isinstance(envelope, _Envelope):
            self._raw = envelope.data
        else:
            envelope, _ = _decode(content)
        self.cursor = envelope.cursor
        self.count = len(envelope.data)

    def decode(self) -> Records:
        """Decode the records.

        Returns:
            The records, in the page's order.

        Raises:
            ValueError: A record is not valid JSON; the message says where.
        """
        raw = self._raw
        whole, repairs = _decode(self._content)
        if raw is None:
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
        except (ValueError, InvalidOperation) as refusal:
            return _decode_leniently(content, refusal)
        return _repaired(whole, set()) if _ESCAPED_NULL.search(content) else (whole, ())
    except RecursionError as error:
        msg = "JSON is nested too deeply"
        raise ValueError(msg) from error


def _number(text: str) -> Decimal:
    number = Decimal(text)
    if len(text) > _MOST_DIGITS or "e" in text or "E" in text:
        exponent = int(number.as_tuple().exponent)
        if number.adjusted() >= _MOST_DIGITS or -exponent > _MOST_DECIMALS:
            raise InvalidOperation
    return number


_envelope_decoder = msgspec.json.Decoder(_Envelope)
_whole_decoder = msgspec.json.Decoder(_Whole, float_hook=_number)


def _decode_leniently(
    content: bytes, refusal: Exception
) -> tuple[_Whole, tuple[str, ...]]:
    """Decode a body in which single values are invalid, and replace those."""
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
        return _repaired(msgspec.convert(decoded, _Whole), repairs)
    except ValueError as error:
        raise (refusal if isinstance(refusal, ValueError) else error) from None


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
