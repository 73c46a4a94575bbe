"""Decodes a response into a page whose values every warehouse can hold.

Numbers with a fraction or an exponent become doubles; integers stay exact. Values that
PostgreSQL or a JSON encoder would refuse are replaced, and the page lists these
repairs.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeVar

import msgspec

from tap_leadintent.errors import IF_IT_GOES_ON, StreamError

T = TypeVar("T")

TEXT_REPAIRED = "U+0000 or a lone surrogate, which became U+FFFD"
NO_NUMBER = "NaN or an infinity, which became null"
HUGE_NUMBER = "a number that no warehouse can hold, which became its text"

_ESCAPED_NULL = re.compile(rb"\\u0000")
_UNFIT = re.compile("[\0\ud800-\udfff]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"

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


_envelope_decoder = msgspec.json.Decoder(_Envelope)
_record_decoder = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, eq=False)
class Page:
    """One response. Its records are decoded only when they are needed."""

    raw: list[msgspec.Raw]
    """The JSON of each record."""

    cursor: Cursor
    """Says where the next page is."""

    count: int
    """How many records it holds."""

    size: int
    """About how many bytes of memory it takes."""

    as_of: int
    """Up to which time it is complete, in UTC seconds since 1970; see `ServerClock`."""

    repairs: frozenset[str]
    """What had to be replaced before the envelope could be decoded."""

    @classmethod
    def of(cls, content: bytes, as_of: int = 0) -> Self:
        """Decode a response's envelope.

        Args:
            content: The body of a successful response of a list endpoint.
            as_of: See the attribute.

        Returns:
            Its page.

        Raises:
            ValueError: The body is not a page envelope; the message says why.
        """
        repairs: set[str] = set()
        envelope = _decode(_envelope_decoder, content, repairs)
        raw, cursor = envelope.data, envelope.cursor
        if repairs and _REPLACEMENT in (cursor.next or ""):
            msg = "its cursor is no valid text"
            raise ValueError(msg)
        size = len(content) + _BYTES_OF_A_PAGE
        return cls(raw, cursor, len(raw), size, as_of, frozenset(repairs))

    def decode(self) -> Records:
        """Decode the records.

        Returns:
            The records, in the page's order.

        Raises:
            StreamError: A record is not valid JSON; the message says where.
        """
        repairs = {*self.repairs}
        data = []
        try:
            for raw in self.raw:
                record = _decode(_record_decoder, raw, repairs)
                # A regular expression finds it faster than `in` does.
                if _ESCAPED_NULL.search(raw):
                    record = _fit(record, repairs)
                data.append(record)
        except ValueError as error:
            msg = (
                f"a page holds records that cannot be decoded ({error}); the next run "
                f"reads it again; {IF_IT_GOES_ON}"
            )
            raise StreamError(msg) from None
        return Records(data, self.raw, tuple(sorted(repairs)))


def _decode(decoder: msgspec.json.Decoder[T], content: bytes, repairs: set[str]) -> T:
    try:
        try:
            return decoder.decode(content)
        except ValueError as refusal:
            return decoder.decode(_mended(content, refusal, repairs))
    except RecursionError as error:
        msg = "JSON is nested too deeply"
        raise ValueError(msg) from error


def _mended(content: bytes, refusal: ValueError, repairs: set[str]) -> bytes:
    """Replace single values that are invalid; raise the refusal if others are."""

    def number(text: str) -> float | str:
        if math.isfinite(number := float(text)):
            return number
        repairs.add(HUGE_NUMBER)
        return text

    try:
        decoded = json.loads(
            bytes(content).decode("utf-8", "surrogatepass"),
            parse_float=number,
            parse_constant=lambda _: repairs.add(NO_NUMBER),
        )
    except ValueError:
        raise refusal from None
    return msgspec.json.encode(_fit(decoded, repairs))


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
