"""Shapes records of the API into records for the target.

A column holds the field of the same name. A field without a column, or whose value
contradicts its column's type, goes to `additional_properties` under its own name.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tap_leadintent.openapi import (
    ADDITIONAL_PROPERTIES,
    RECORD_KEY,
    SIGNAL_OBSERVED_AT,
    TAP_COLUMNS,
    WINDOW_END,
)
from tap_leadintent.records.column_types import (
    ColumnTypes,
    ContradictionError,
    may_be_null,
)
from tap_leadintent.records.keys import canonical_json, content_key
from tap_leadintent.times import is_finer, utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping

    from msgspec import Raw
    from singer_sdk.singerlib import SelectionMask

    from tap_leadintent.api.page import Records
    from tap_leadintent.records.exclusion import Exclusion
    from tap_leadintent.records.notes import RecordNotes

    Record = dict[str, Any]


class _NoKeyError(ValueError):
    """A key column of a record has no value."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


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


def _text_of(name: str, record: Record) -> str | None:
    value = record.get(name)
    return None if value is None else str(value)


class RecordShaper:
    """Shapes the records of one stream by its schema."""

    def __init__(  # noqa: PLR0913 - each is a part of it
        self,
        *,
        columns: Mapping[str, dict[str, Any]],
        key_properties: Iterable[str],
        entity: str,
        mask: SelectionMask,
        notes: RecordNotes,
        exclusion: Exclusion | None = None,
    ) -> None:
        """Compile the stream's schema, once for all records.

        Args:
            columns: The schema of each column, by the column's name.
            key_properties: The key columns; every record must have a value for each.
            entity: What a record is, in the singular.
            mask: Which fields are selected.
            notes: Collects what to log about the records.
            exclusion: The fields to remove from each record first, if any.
        """
        self._id_fields = ("id", f"{entity}_id")
        self._mask = mask
        self._notes = notes
        self._exclusion = exclusion or None
        fields = {n: schema for n, schema in columns.items() if n not in TAP_COLUMNS}
        self._types = ColumnTypes(fields)
        self._empty: Record = dict.fromkeys(fields)
        self._hidden = {
            path[1]
            for path, selected in mask.items()
            if path[2:] == () != path and not selected
        }
        makers: dict[str, Callable[[Record], str | None]] = {
            RECORD_KEY: self._record_key,
            SIGNAL_OBSERVED_AT: signal_observed_at,
        }
        self._made = [(name, make) for name, make in makers.items() if name in columns]
        self._has_window_end = WINDOW_END in columns
        self._has_rest = ADDITIONAL_PROPERTIES in columns
        self._keeps_rest = self._has_rest and ADDITIONAL_PROPERTIES not in self._hidden
        self._keys = list(key_properties)
        key_makers = {RECORD_KEY: self._own_id, SIGNAL_OBSERVED_AT: signal_observed_at}
        self._key_makers = [
            key_makers.get(name) or partial(_text_of, name) for name in self._keys
        ]
        self._never_null = [
            name
            for name, schema in columns.items()
            if name not in self._keys and not may_be_null(schema)
        ]

    def keys(self, page: Records) -> list[Hashable]:
        """Tell which row of a target each record of a page is, before it is shaped.

        Args:
            page: The page's records.

        Returns:
            The values of the key columns; without them, its own id or else its JSON.
        """
        return [self._row_of(*each) for each in zip(page.data, page.raw, strict=True)]

    def _row_of(self, record: Record, raw: Raw) -> Hashable:
        key = tuple(make(record) for make in self._key_makers)
        if key and None not in key:
            return key
        return (*key, self._own_id(record) or bytes(raw))

    def shape_page(self, page: Records, window_end: str | None = None) -> list[Record]:
        """Shape the records of a page.

        Args:
            page: The page's records.
            window_end: As for `shape`.

        Returns:
            What `shape` gives.

        Raises:
            ValueError: A key column has no value.
        """
        for repair in page.repairs:
            self._notes.warn_once.warn(f"A record held {repair}")
        records = page.data
        if self._exclusion is not None:
            records = self._exclusion.records(records)
        return self.shape(records, window_end)

    def shape(
        self, records: list[Record], window_end: str | None = None
    ) -> list[Record]:
        """Shape records.

        Args:
            records: The records as the API gave them.
            window_end: Value of the column `window_end`, where the stream has it.

        Returns:
            The shaped records. Columns without a value are null, or absent if their
            schema does not allow null.

        Raises:
            ValueError: A key column has no value.
        """
        doubtful = self._types.doubtful(records)
        try:
            return [
                self._shape(record, names, window_end)
                for record, names in zip(records, doubtful, strict=False)
            ]
        except _NoKeyError as error:
            column = error.column
        lacking = all(self._lacks(column, record, window_end) for record in records)
        msg = (
            f"{'no record of the page has' if lacking else 'a record has no'} {column},"
            f" which is part of the stream's key ({', '.join(self._keys)}); choose "
            "key-properties that every record has"
        )
        raise ValueError(msg)

    def _lacks(self, column: str, record: Record, window_end: str | None) -> bool:
        try:
            self._shape(record, self._types.fits, window_end)
        except _NoKeyError as error:
            return error.column == column
        return False

    def _shape(
        self, record: Record, doubtful: Iterable[str], window_end: str | None
    ) -> Record:
        shaped = self._empty | record
        rest = self._fit(shaped, doubtful)
        if len(shaped) > len(self._empty):
            rest |= self._take_unknown(shaped)
        for name, make in self._made:
            shaped[name] = make(record)
        if self._has_window_end:
            shaped[WINDOW_END] = window_end
        if self._has_rest:
            shaped[ADDITIONAL_PROPERTIES] = rest or None
        for key in self._keys:
            if shaped.get(key) is None or shaped[key] == "":
                raise _NoKeyError(key)
        for name in self._never_null:
            if shaped[name] is None:
                del shaped[name]
        return shaped

    def _fit(self, shaped: Record, names: Iterable[str]) -> Record:
        """Convert values to their columns' types; return those that cannot be."""
        rest: Record = {}
        for name in names:
            value = shaped[name]
            if value is None:
                continue
            try:
                fitted = self._types.fits[name](value)
            except ContradictionError:
                fitted = self._key_from(name, value) if name in self._keys else None
                if name not in self._hidden:
                    self._keep(rest, name, value)
                    self._notes.contradicting(name)
            else:
                # Times are the only texts that conversion changes.
                if fitted is not value and isinstance(value, str) and is_finer(value):
                    self._keep(rest, name, value)
            shaped[name] = fitted
        return rest

    def _take_unknown(self, shaped: Record) -> Record:
        """Remove and return the fields without a column."""
        names = [*shaped][len(self._empty) :]
        taken = {name: shaped.pop(name) for name in names}
        unknown = {n: value for n, value in taken.items() if n not in self._hidden}
        if self._keeps_rest:
            self._notes.without_column(unknown)
        return unknown

    def _keep(self, rest: Record, name: str, value: object) -> None:
        if name not in self._hidden:
            rest[name] = self._selected_part(value, ("properties", name))

    def _selected_part(self, value: object, path: tuple[str, ...]) -> object:
        """Leave out what is deselected: it must not come back in another column."""
        if isinstance(value, list):
            return [self._selected_part(item, path) for item in value]
        if not isinstance(value, dict):
            return value
        inner = {(*path, "properties", name): name for name in value}
        return {
            name: self._selected_part(value[name], deeper)
            for deeper, name in inner.items()
            if self._mask[deeper]
        }

    def _key_from(self, name: str, value: object) -> object:
        """Make a key of an id that is not a string, instead of stopping the stream."""
        try:
            return self._types.fits[name](canonical_json(value))
        except ContradictionError:
            return None

    def _own_id(self, record: Record) -> str | None:
        """Find a record's own id; ids of other entities are references.

        An id that is not a string is returned as JSON.
        """
        for field in self._id_fields:
            value = record.get(field)
            if value is not None and value != "":
                return value if isinstance(value, str) else canonical_json(value)
        return None

    def _record_key(self, record: Record) -> str:
        found = self._own_id(record)
        if found is None:
            self._notes.warn_once.warn(
                "A record has no id, so its key is made from all its content: when it "
                "changes, it becomes another row",
            )
        return found or content_key(record)
