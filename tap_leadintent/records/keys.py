"""Makes keys for records whose fields are not documented."""

from decimal import MAX_PREC, Context, Decimal
from hashlib import sha256
from typing import Any

import msgspec

_LONGEST_SCALE = 20
"""Most zeros or decimal places of a number that is written without an exponent. It is
part of the keys: another value would change them."""

_EXACT = Context(prec=MAX_PREC)


def own_id(other: str, record: dict[str, Any], _: object) -> str | None:
    """Find a record's own id. Ids of other entities are references.

    Args:
        other: The field that counts where the record has no `id`.
        record: The record as the API gave it.

    Returns:
        The id; JSON if it is not a string. None if the record has none.
    """
    for field in ("id", other):
        value = record.get(field)
        if value is not None and value != "":
            return value if isinstance(value, str) else canonical_json(value)
    return None


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
        value: Decoded JSON, as a page holds it.

    Returns:
        Compact JSON; keys are sorted, and 1, 1.0 and 10e-1 are all 1.
    """
    return msgspec.json.encode(_plain_numbers(value), order="sorted").decode()


def _plain_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if not value:
        return 0
    number = Decimal(str(value)).normalize(_EXACT)
    scale = int(number.as_tuple().exponent)
    spelling = f"{number:f}"
    if abs(scale) > _LONGEST_SCALE:
        spelling = f"{number.scaleb(-scale, _EXACT):f}e{scale}"
    return msgspec.Raw(spelling.encode())
