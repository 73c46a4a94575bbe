"""Decodes a response into a page whose values every warehouse can hold.

Numbers with a fraction or an exponent become doubles; integers stay exact. Values that
PostgreSQL or a JSON encoder would refuse are replaced, and the page says whether any
were.

API description: "Page envelope".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, NamedTuple, Self

import msgspec

from tap_leadintent.api.repair import decode, decode_record, without_broken_records

NO_RECORDS = b'{"data": [], "cursor": {"has_more": false}}'
"""The body of a page without records."""

_FLAGS: Mapping[object, bool] = {
    1: True,
    "true": True,
    0: False,
    "false": False,
}
"""What `has_more` may be; true and false equal 1 and 0."""


class Cursor(msgspec.Struct):
    """The envelope's `cursor` object."""

    has_more: bool
    next: str | None = None


class _Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """The envelope as it is described, and as most pages have it."""

    data: list[msgspec.Raw]
    cursor: "_Cursor"


class _Cursor(Cursor, forbid_unknown_fields=True):
    """The cursor without other fields."""


class _LooseCursor(msgspec.Struct):
    """A cursor that may say in other words whether there is more."""

    has_more: bool | int | str | None = None
    next: str | None = None


class _LooseEnvelope(msgspec.Struct):
    """An envelope that may have other fields."""

    data: list[msgspec.Raw] | None
    cursor: _LooseCursor


_envelope = msgspec.json.Decoder(_Envelope)
_loose_envelope = msgspec.json.Decoder(_LooseEnvelope)
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Decoded(NamedTuple):
    """The records of a page."""

    records: list[dict[str, Any]]
    """Those that can be decoded, in the page's order."""
    raw: list[msgspec.Raw]
    """The JSON of each of them."""
    is_repaired: bool
    """Whether a value was replaced, as no warehouse can hold it."""
    broken: int
    """How many other records there are, which cannot be decoded."""


@dataclass(frozen=True, eq=False)
class Page:
    """One response. Its records are decoded only when they are needed."""

    raw: list[msgspec.Raw]
    """The JSON of each record."""

    cursor: Cursor
    """Where the next page is."""

    body: bytes
    """The response, from which `of` can make the page again."""

    is_repaired: bool = False
    """Whether a value was replaced before the envelope could be decoded."""

    other_fields: Mapping[str, msgspec.Raw] = field(default_factory=dict)
    """The fields of the envelope that the API description does not show, and those of
    its cursor, such as `cursor.took`."""

    lacks_has_more: bool = False
    """Whether the page does not say whether there is more."""

    @classmethod
    def of(cls, content: bytes) -> Self:
        """Decode a response's envelope.

        Args:
            content: The body of a successful response of a list endpoint.

        Returns:
            Its page.

        Raises:
            ValueError: The body is not a page envelope; the message says why.
            RecursionError: It is nested too deeply.
        """
        try:
            # To decode other fields of every page would take a quarter longer.
            envelope = _envelope.decode(content)
        except (ValueError, RecursionError):
            return cls._of_odd(content)
        return cls(envelope.data, envelope.cursor, content)

    @classmethod
    def _of_odd(cls, content: bytes) -> Self:
        """Decode an envelope that is not as it is described."""
        try:
            envelope, is_repaired = decode(_loose_envelope, content)
        except (ValueError, RecursionError):
            mended = without_broken_records(content)
            if mended is None:
                raise
            envelope, is_repaired = decode(_loose_envelope, mended)
            content = mended
        cursor = _read_cursor(envelope.cursor)
        if envelope.data is None and cursor.has_more:
            raise ValueError("its data is null, though there is more")
        return cls(
            envelope.data or [],
            cursor,
            content,
            is_repaired,
            _other_fields(content),
            lacks_has_more=envelope.cursor.has_more is None,
        )

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
        contents = tuple(map(bytes, self.raw))
        return hash(contents)

    @property
    def ends(self) -> tuple[int, int]:
        """Hashes of its first and of its last record, the same in every process."""
        if not self.raw:
            return (0, 0)
        return _hash(self.raw[0]), _hash(self.raw[-1])

    def has_same_records(self, other: Self) -> bool:
        """Return whether another page has the same records, changed or not.

        Args:
            other: Another answer to the same request.
        """
        if self.has_more != other.has_more:
            return False
        if self.fingerprint == other.fingerprint:
            return True
        return self._ids() == other._ids()

    def _ids(self) -> list[Any]:
        """Return what identifies each record; other fields may change at any time."""
        decoded = self.decode()
        ids: list[Any] = []
        for record, raw in zip(decoded.records, decoded.raw, strict=True):
            own_id = record.get("id") or bytes(raw)
            ids.append(own_id)
        return ids

    def decode(self) -> Decoded:
        """Decode the records."""
        records: list[dict[str, Any]] = []
        kept: list[msgspec.Raw] = []
        is_repaired = self.is_repaired
        for raw in self.raw:
            decoded = decode_record(raw)
            if decoded is None:
                continue
            record, has_changed = decoded
            records.append(record)
            kept.append(raw)
            is_repaired |= has_changed
        broken = len(self.raw) - len(kept)
        return Decoded(records, kept, is_repaired, broken)


def _hash(raw: msgspec.Raw) -> int:
    """Return a hash so short that nothing of the record can be found out from it."""
    digest = blake2b(raw, digest_size=4).digest()
    return int.from_bytes(digest)


def _other_fields(content: bytes) -> dict[str, msgspec.Raw]:
    """Return the fields of an envelope that the API description does not show."""
    fields, _ = decode(_fields, content)
    del fields["data"]
    cursor = bytes(fields.pop("cursor"))
    cursor_fields, _ = decode(_fields, cursor)
    for name, raw in cursor_fields.items():
        if name not in {"has_more", "next"}:
            fields[f"cursor.{name}"] = raw
    return fields


def _read_cursor(cursor: _LooseCursor) -> Cursor:
    """Return a cursor as it is described.

    Raises:
        ValueError: It does not say whether there is more.
    """
    flag = cursor.has_more
    if flag is None and not cursor.next:
        return Cursor(has_more=False)
    if isinstance(flag, str):
        flag = flag.lower()
    has_more = _FLAGS.get(flag)
    if has_more is None:
        raise ValueError("its cursor does not say in has_more whether there is more")
    return Cursor(has_more, cursor.next)
