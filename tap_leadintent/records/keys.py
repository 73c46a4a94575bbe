"""Makes keys for records whose fields are not documented."""

import json
from hashlib import sha256
from typing import Any


def own_id(
    entity_field: str,
    record: dict[str, Any],
    _: object,
) -> str | None:
    """Find a record's own id, for a `ComputedColumn`.

    The ids of other entities in a record are references.

    Args:
        entity_field: The field that counts if the record has no `id`.
        record: The record as the API gave it.

    Returns:
        The id; JSON if it is not a string. None if the record has none.
    """
    for field in ("id", entity_field):
        value = record.get(field)
        if value is None or value == "":
            continue
        if isinstance(value, str):
            return value
        return canonical_json(value)
    return None


def content_key(record: dict[str, Any]) -> str:
    """Make a key from the complete content of a record.

    Args:
        record: The record as the API gave it.

    Returns:
        The SHA-256 of its canonical JSON, in hexadecimal.
    """
    content = canonical_json(record)
    return sha256(content.encode()).hexdigest()


def canonical_json(value: object) -> str:
    """Write a value as JSON so that equal values give equal text.

    Args:
        value: Decoded JSON, as a page holds it.

    Returns:
        Compact JSON with sorted keys.
    """
    return json.dumps(
        value,
        ensure_ascii=False,
        separators=(",", ":"),
        sort_keys=True,
    )
