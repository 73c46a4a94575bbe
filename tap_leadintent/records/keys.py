"""Makes keys for records whose fields are not documented."""

import json
from hashlib import sha256
from typing import Any


def own_id(second_field: str, record: dict[str, Any], _: object) -> str | None:
    """Find a record's own id. Ids of other entities are references.

    Args:
        second_field: The field that counts where the record has no `id`.
        record: The record as the API gave it.

    Returns:
        The id; JSON if it is not a string. None if the record has none.
    """
    for field in ("id", second_field):
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
    plain = _plain_numbers(value)
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _plain_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
