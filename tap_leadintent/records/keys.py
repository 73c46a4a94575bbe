"""The key of a record whose fields nobody documents."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    Record = dict[str, Any]

_LONGEST_SCALE = 20
"""Most zeros or decimal places of a number that is spelled without exponent."""


def own_id(record: dict[str, Any], entity: str) -> str | None:
    """Find what a record is called.

    Args:
        record: The record as the API gave it.
        entity: What the record is, singular, such as `observation`.

    Returns:
        Its `id`, else its own `<entity>_id` (never a reference to another entity), as
        JSON text when it is no string, or None.
    """
    for field in ("id", f"{entity}_id"):
        value = record.get(field)
        if value is not None and value != "":
            return value if isinstance(value, str) else canonical_json(value)
    return None


def row_keys(
    rows: Iterable[Record],
    records: Iterable[Record],
    raws: Iterable[bytes | msgspec.Raw],
    entity: str,
    key_properties: Iterable[str],
) -> Iterator[Hashable]:
    """Tell which row of a target each record becomes.

    Args:
        rows: The records as a target gets them.
        records: The same as the API gave them.
        raws: The JSON of each.
        entity: What a record is, singular.
        key_properties: The columns of the stream's key, which a catalog may have set to
            others that are not unique, or to none.

    Yields:
        The key of each; it holds the record's own id, too.
    """
    columns = [*key_properties]
    for row, record, raw in zip(rows, records, raws, strict=True):
        own = own_id(record, entity) or hash(bytes(raw))
        yield (own, *map(row.get, columns))


def content_key(record: dict[str, Any]) -> str:
    """Make a key from all that a record says.

    Args:
        record: The record as the API gave it.

    Returns:
        A SHA-256 over its canonical JSON, in hexadecimal.
    """
    return sha256(canonical_json(record).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """Write a value in the one spelling that all equal values share.

    Args:
        value: Decoded JSON, its numbers `int` or `Decimal`.

    Returns:
        Compact JSON; keys are sorted, and 1, 1.0 and 10e-1 are all 1.
    """
    return msgspec.json.encode(_plain_numbers(value), order="sorted").decode()


def _plain_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return value
    sign, digits, exponent = Decimal(value).as_tuple()
    significant = "".join(map(str, digits)).rstrip("0")
    if not significant:
        return 0
    scale = int(exponent) + len(digits) - len(significant)
    spelling = f"{'-' if sign else ''}{significant}e{scale}"
    if abs(scale) <= _LONGEST_SCALE:
        spelling = f"{Decimal(spelling):f}"
    return msgspec.Raw(spelling.encode())
