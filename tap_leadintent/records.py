"""From the API's record to the record that a target gets."""

from __future__ import annotations

from decimal import Decimal
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.openapi import (
    ADDITIONAL_PROPERTIES,
    RECORD_KEY,
    SIGNAL_OBSERVED_AT,
    TAP_COLUMNS,
    WINDOW_END,
)
from tap_leadintent.times import utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Record = dict[str, Any]

_LONGEST_SCALE = 20
"""Most zeros or decimal places of a number that is spelled without exponent."""


def signal_observed_at(record: Record) -> str | None:
    """Find when a lead's signal was observed.

    Args:
        record: A lead as the API gave it.

    Returns:
        `signal.observed_at` as `utc_timestamp` writes it, or None.
    """
    signal = record.get("signal")
    return (
        utc_timestamp(signal.get("observed_at")) if isinstance(signal, dict) else None
    )


def record_key(record: Record, entity: str) -> str:
    """Make the key of a record whose fields nobody documents.

    Args:
        record: The record as the API gave it.
        entity: What the record is, singular, such as `observation`.

    Returns:
        Its `id`, else its own `<entity>_id` (never a reference to another entity),
        else a SHA-256 over its canonical JSON. A key that is no string becomes its
        JSON text.
    """
    for field in ("id", f"{entity}_id"):
        value = record.get(field)
        if value is not None and value != "":
            return value if isinstance(value, str) else _canonical(value).decode()
    return sha256(_canonical(record)).hexdigest()


def _canonical(value: object) -> bytes:
    return msgspec.json.encode(_plain_numbers(value), order="sorted")


def _plain_numbers(value: object) -> object:
    """Replace each number by one spelling of it: 1, 1.0 and 10e-1 are all 1."""
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


class RecordShaper:
    """Shapes the records of one stream by its schema."""

    def __init__(
        self,
        *,
        columns: Iterable[str],
        key_properties: Iterable[str],
        entity: str,
    ) -> None:
        """Work out what is the same for all records.

        Args:
            columns: The columns of the stream's schema.
            key_properties: The columns that no record may leave empty.
            entity: What a record is, singular.
        """
        columns = list(columns)
        makers: dict[str, Callable[[Record], str | None]] = {
            RECORD_KEY: lambda record: record_key(record, entity),
            SIGNAL_OBSERVED_AT: signal_observed_at,
        }
        self._fields = [name for name in columns if name not in TAP_COLUMNS]
        self._known = frozenset(self._fields)
        self._made = {name: make for name, make in makers.items() if name in columns}
        self._has_window_end = WINDOW_END in columns
        self._key_properties = list(key_properties)

    def shape(self, record: Record, window_end: str | None = None) -> Record:
        """Shape one record.

        Args:
            record: The record as the API gave it.
            window_end: Value of the column `window_end`, where the stream has it.

        Returns:
            Every column of the schema, null where the record has no value; whatever
            has no column of its own is in `additional_properties`.

        Raises:
            ValueError: A key column has no value.
        """
        shaped: Record = {name: make(record) for name, make in self._made.items()}
        shaped |= {name: record.get(name) for name in self._fields}
        if self._has_window_end:
            shaped[WINDOW_END] = window_end
        rest = {k: v for k, v in record.items() if k not in self._known}
        shaped[ADDITIONAL_PROPERTIES] = rest or None
        for key in self._key_properties:
            if shaped.get(key) is None:
                msg = f"a record has no {key}, which is part of the stream's key"
                raise ValueError(msg)
        return shaped
