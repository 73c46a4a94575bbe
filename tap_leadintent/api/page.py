"""Decodes a response into a page whose values every warehouse can hold.

Numbers with a fraction or an exponent become doubles; integers stay exact. Values that
PostgreSQL or a JSON encoder would refuse are replaced, and the page says if any were.
"""

import json
import math
import re
from codecs import BOM_UTF8
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import msgspec

from tap_leadintent.api.envelope import failure_in, total_in
from tap_leadintent.errors import SUPPORT, StreamError

T = TypeVar("T")

_ESCAPED_NULL = re.compile(rb"\\u0000")
_UNSUPPORTED = re.compile("[\0\ud800-\udfff]")

MAX_RECORDS = 1_000
"""Ten times the largest `page_size`. A body with more records does not count as a page,
because it would take much more memory than its size."""

NO_RECORDS = b'{"data": [], "cursor": {"has_more": false}}'
"""The body of a page without records."""


class Cursor(msgspec.Struct):
    """The envelope's `cursor` object."""

    has_more: bool
    next: str | None = None


class _Envelope(msgspec.Struct):
    data: list[msgspec.Raw] | None
    cursor: Cursor


class _OnlyCursor(Cursor, forbid_unknown_fields=True):
    """The cursor without other fields."""


class _OnlyEnvelope(_Envelope, forbid_unknown_fields=True):
    """The envelope without other fields, as most pages have it."""

    cursor: _OnlyCursor


class IncompletePageError(ValueError):
    """A page says beside its records that they are not all."""


_envelope = msgspec.json.Decoder(_Envelope)
_only_envelope = msgspec.json.Decoder(_OnlyEnvelope)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])
_record = msgspec.json.Decoder(dict[str, Any])


@dataclass(frozen=True, eq=False)
class Page:
    """One response. Its records are decoded only when they are needed."""

    raw: list[msgspec.Raw]
    """The JSON of each record."""

    cursor: Cursor
    """Where the next page is."""

    body: bytes
    """The response, of which `of` makes the page again."""

    is_repaired: bool
    """Whether a value was replaced before the envelope could be decoded."""

    other_fields: Collection[str] = ()
    """The fields of the envelope that the API description does not show."""

    total: int | None = None
    """How many records the whole query has, if the page says so."""

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Decode a response's envelope.

        Args:
            content: The body of a successful response of a list endpoint.

        Returns:
            Its page.

        Raises:
            IncompletePageError: The page says that its records are not all.
            ValueError: The body is not a page envelope; the message says why.
            RecursionError: It is nested too deeply.
        """
        fields, is_repaired = dict[str, msgspec.Raw](), False
        try:
            # To decode other fields of every page would take a quarter longer.
            envelope: _Envelope = _only_envelope.decode(content)
        except ValueError:
            envelope, is_repaired = _decode(_envelope, content)
            fields, _ = _decode(_fields, content)
            del fields["data"]
        if failure := failure_in(fields):
            raise IncompletePageError(f"the field {failure} says so")
        raw, cursor = envelope.data or [], envelope.cursor
        if envelope.data is None and cursor.has_more:
            raise ValueError("its data is null, though there is more")
        if len(raw) > MAX_RECORDS:
            raise ValueError(f"it has {len(raw):,} records")
        total = total_in(fields)
        fields.pop("cursor", None)
        return cls(raw, cursor, content, is_repaired, [*fields], total)

    def as_last(self) -> Self:
        """Return the page without the promise of another one."""
        return replace(self, cursor=Cursor(has_more=False))

    @property
    def records(self) -> int:
        """How many records it holds."""
        return len(self.raw)

    @property
    def has_more(self) -> bool:
        """Whether another page is to come."""
        return self.cursor.has_more

    @property
    def fingerprint(self) -> int:
        """A hash of its records."""
        return hash(tuple(map(bytes, self.raw)))

    def decode(self) -> tuple[list[dict[str, Any]], bool]:
        """Decode the records.

        Returns:
            The records, in the page's order, and whether a value of the page was
            replaced, as no warehouse can hold it.

        Raises:
            StreamError: A record is not valid JSON; the message says where.
        """
        try:
            decoded = [
                # A regular expression finds it faster than `in` does.
                (_repair if _ESCAPED_NULL.search(raw) else _decode)(_record, raw)
                for raw in self.raw
            ]
        except (ValueError, RecursionError) as error:
            raise StreamError(
                f"{SUPPORT}: a page has records that cannot be read", detail=str(error)
            ) from None
        is_repaired = self.is_repaired or any(changed for _, changed in decoded)
        return [record for record, _ in decoded], is_repaired


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


def _decode(decoder: msgspec.json.Decoder[T], content: bytes) -> tuple[T, bool]:
    """Decode JSON, and return whether values had to be replaced."""
    try:
        return decoder.decode(content), False
    except ValueError as refusal:
        try:
            return _repair(decoder, content)
        except msgspec.ValidationError:
            raise
        except ValueError:
            raise refusal from None


def _repair(decoder: msgspec.json.Decoder[T], content: bytes) -> tuple[T, bool]:
    """Decode JSON, replace single values, and return whether any were replaced.

    Control characters within strings need no replacement, only an escape.
    """
    text = bytes(content).decode("utf-8", "surrogatepass")
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
