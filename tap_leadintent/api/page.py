"""From the bytes of a response to a page whose values every warehouse can hold.

Numbers with a fraction or an exponent are `Decimal`, so that no digit is lost. What
PostgreSQL or a JSON encoder would refuse is replaced, and the page says so.
"""

from __future__ import annotations

import json
import re
import zlib
from decimal import Decimal, InvalidOperation
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    import requests

    from tap_leadintent.api.server_clock import Reading

TEXT_REPAIRED = "U+0000 or a lone surrogate, which became U+FFFD"
NO_NUMBER = "NaN or an infinity, which became null"
HUGE_NUMBER = "a number that no warehouse can hold, which became its text"

# To search for the bytes themselves takes Python longer.
_ESCAPED_NULL = re.compile(rb"\\u0000")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

# Python's own JSON decoder, and so many a target, refuses longer integers, also those
# that PostgreSQL makes of exponents as it spells them out.
_MOST_DIGITS = 4_300
# PostgreSQL's numeric type, which also holds the numbers of its jsonb, has no more.
_MOST_DECIMALS = 16_383

_BYTES_OF_A_PAGE = 4_096


class Cursor(msgspec.Struct):
    """The envelope's `cursor` object."""

    has_more: bool
    next: str | None = None

    @property
    def following(self) -> str | None:
        """Where the next page is, or None after the last."""
        return self.next if self.has_more else None


class Records(NamedTuple):
    """What a page holds."""

    data: list[dict[str, Any]]
    raw: list[msgspec.Raw]
    """The JSON of each record, which tells whether it has changed."""
    read_at: float
    """When the page arrived, by the monotonic clock in seconds."""
    repairs: tuple[str, ...] = ()
    """What had to be replaced, in words."""


class _Light(msgspec.Struct):
    data: list[msgspec.Raw]
    cursor: Cursor


class _Whole(msgspec.Struct):
    data: list[dict[str, Any]]
    cursor: Cursor


class Page:
    """One response, whose records are not decoded before they are needed."""

    cursor: Cursor
    """Where the next page is."""

    count: int
    """How many records it holds."""

    request: requests.PreparedRequest
    """What it is the answer to."""

    clock: Reading | None = None
    """What its `Date` says of the server's clock, if it has one."""

    @classmethod
    def of(cls, response: requests.Response) -> Page:
        """Decode a response's envelope.

        Args:
            response: A successful response of a list endpoint, read whole.

        Returns:
            Its page.

        Raises:
            ValueError: The body is no page envelope; the message says where it differs.
        """
        page = cls(response.content)
        page.request = response.request
        return page

    def __init__(self, content: bytes) -> None:
        """Decode the envelope.

        Args:
            content: The body of a response.

        Raises:
            ValueError: It is no page envelope; the message says where it differs.
        """
        self._read_at = monotonic()
        self._content = content
        self._raw: list[msgspec.Raw] | None = None
        self._is_packed = False
        envelope: _Light | _Whole | None = _look_at(content)
        if isinstance(envelope, _Light):
            self._raw = envelope.data
        else:
            envelope, _ = _decode(content)
        self.cursor = envelope.cursor
        self.count = len(envelope.data)

    @property
    def size(self) -> int:
        """How many bytes it takes, about."""
        return len(self._content) + _BYTES_OF_A_PAGE

    def pack(self) -> None:
        """Take less room until it is decoded, which then takes longer."""
        if not self._is_packed:
            self._content = zlib.compress(self._content, level=1)
            self._raw = None
            self._is_packed = True

    def decode(self) -> Records:
        """Decode the records.

        Returns:
            The records, in the page's order.

        Raises:
            ValueError: The body is no JSON after all; the message says where.
        """
        content, raw = self._content, self._raw
        if self._is_packed:
            content = zlib.decompress(content)
            light = _look_at(content)
            raw = light.data if light else None
        whole, repairs = _decode(content)
        if raw is None:
            raw = [msgspec.Raw(msgspec.json.encode(record)) for record in whole.data]
        return Records(whole.data, raw, self._read_at, repairs)


def _look_at(content: bytes) -> _Light | None:
    """Decode the envelope alone, if that is as good as decoding everything."""
    try:
        return _light.decode(content)
    except (ValueError, RecursionError):
        return None


def _decode(content: bytes) -> tuple[_Whole, tuple[str, ...]]:
    try:
        try:
            whole = _whole.decode(content)
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


_light = msgspec.json.Decoder(_Light)
_whole = msgspec.json.Decoder(_Whole, float_hook=_number)


def _decode_leniently(
    content: bytes, refusal: Exception
) -> tuple[_Whole, tuple[str, ...]]:
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
            # A field must not replace one whose repaired name is the same.
            while name != key and (name in value or name in fit):
                name += _REPLACEMENT
            fit[name] = _fit(item, repairs)
        return fit
    return value
