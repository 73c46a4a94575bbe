"""Makes keys for records whose fields are not documented."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    Record = dict[str, Any]

_LONGEST_SCALE = 20
"""Most zeros or decimal places of a number that is written without an exponent. It is
part of the keys: another value would change them."""


def own_id(record: dict[str, Any], entity: str) -> str | None:
    """Find a record's own id.

    Args:
        record: The record as the API gave it.
        entity: What the record is, in the singular, such as `observation`.

    Returns:
        Its `id`, else its `<entity>_id`, else None. An id that is not a string is
        returned as JSON. Ids of other entities are references and do not count.
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
) -> list[Hashable]:
    """Give a key for each record by which repeated records are found.

    Args:
        rows: The records as the target gets them.
        records: The same records as the API gave them.
        raws: The JSON of each record.
        entity: What a record is, in the singular.
        key_properties: The stream's key columns. A catalog may have replaced them by
            columns that are not unique, or by none.

    Returns:
        The key of each record: its own id, or a hash of its JSON, and its key columns.
    """
    columns = [*key_properties]
    return [
        (own_id(record, entity) or hash(bytes(raw)), *map(row.get, columns))
        for row, record, raw in zip(rows, records, raws, strict=True)
    ]


def content_key(record: dict[str, Any]) -> str:
    """Make a key from the whole content of a record.

    Args:
        record: The record as the API gave it.

    Returns:
        The SHA-256 of its canonical JSON, in hexadecimal.
    """
    return sha256(canonical_json(record).encode()).hexdigest()


def canonical_json(value: object) -> str:
    """Write a value as JSON so that equal values give equal text.

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
