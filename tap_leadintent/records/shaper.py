"""Shapes records of the API into records for the target.

A column holds the field of the same name. A field without a column, or whose value
contradicts its column's type, goes to `additional_properties` under its own name.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tap_leadintent.openapi import ADDITIONAL_PROPERTIES
from tap_leadintent.records.column_types import (
    ColumnTypes,
    ContradictionError,
    may_be_null,
)
from tap_leadintent.records.keys import canonical_json, content_key
from tap_leadintent.times import is_finer, utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

    from msgspec import Raw
    from singer_sdk.singerlib import SelectionMask

    from tap_leadintent.api.page import Records
    from tap_leadintent.openapi import TapColumn
    from tap_leadintent.records.exclusion import Exclusion
    from tap_leadintent.records.notes import RecordNotes

    Record = dict[str, Any]


def time_at(outer: str, inner: str) -> Callable[..., str | None]:
    """Make a function that gives a record's time that stands in an object.

    Args:
        outer: The object's name.
        inner: The time's name.

    Returns:
        A function that gives the time of a record, as `utc_timestamp` writes it.
    """

    def time_of(record: Record, _: object = None) -> str | None:
        found = record.get(outer)
        return utc_timestamp(found.get(inner)) if isinstance(found, dict) else None

    return time_of


def _text_of(name: str, record: Record, _: object) -> str | None:
    value = record.get(name)
    return None if value is None else str(value)


class RecordShaper:
    """Shapes the records of one stream by its schema."""

    def __init__(  # noqa: PLR0913 - each is a part of it
        self,
        *,
        columns: Mapping[str, dict[str, Any]],
        mask: SelectionMask,
        notes: RecordNotes,
        key_properties: Sequence[str] = (),
        made: Iterable[TapColumn] = (),
        exclusion: Exclusion | None = None,
    ) -> None:
        """Compile the stream's schema, once for all records.

        Args:
            columns: The schema of each column, by the column's name.
            mask: Which fields are selected.
            notes: Collects what to log about the records.
            key_properties: The key columns; every record must have a value for each.
            made: The columns that the stream makes itself; others hold fields.
            exclusion: The fields to remove from each record first, if any.
        """
        self._mask = mask
        self._notes = notes
        self._exclusion = exclusion or None
        own = {column.name: column for column in made}
        fields = {
            name: schema
            for name, schema in columns.items()
            if name not in own and name != ADDITIONAL_PROPERTIES
        }
        self._types = ColumnTypes(fields)
        self._empty: Record = dict.fromkeys(fields)
        self._hidden = {
            path[1]
            for path, selected in mask.items()
            if path[2:] == () != path and not selected
        }
        never_null = [name for name in columns if not may_be_null(columns[name])]
        # The columns in which a record without an id has a hash instead.
        hashed = [name for name in own if name in never_null]
        self._made = [
            (name, column.make, name in hashed)
            for name, column in own.items()
            if name in columns
        ]
        self._has_rest = ADDITIONAL_PROPERTIES in columns
        self._keeps_rest = self._has_rest and ADDITIONAL_PROPERTIES not in self._hidden
        self._keys = key_properties
        self._key_makers = [
            own[name].make if name in own else partial(_text_of, name)
            for name in key_properties or hashed or ["id"]
        ]
        self._never_null = [n for n in never_null if n not in (*key_properties, *own)]

    def keys(self, page: Records) -> list[Hashable]:
        """Tell which row of a target each record of a page is, before it is shaped.

        Args:
            page: The page's records.

        Returns:
            The values of the key columns; its JSON where the record lacks one. Of a
            stream without a key, its id counts.
        """
        return [self._row_of(*each) for each in zip(page.data, page.raw, strict=True)]

    def _row_of(self, record: Record, raw: Raw) -> Hashable:
        key = tuple([make(record, None) for make in self._key_makers])
        return key if None not in key else (*key, bytes(raw))

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
            self._notes.warn_once(f"A record held {repair}")
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
            window_end: End of the time window that they were read in.

        Returns:
            The shaped records. Columns without a value are null, or absent if their
            schema does not allow null.

        Raises:
            ValueError: A key column has no value.
        """
        doubtful = self._types.doubtful(records)
        shaped = [
            self._shape(record, names, window_end)
            for record, names in zip(records, doubtful, strict=False)
        ]
        for key in self._keys:
            lacking = [row.get(key) in (None, "") for row in shaped]
            if any(lacking):
                who = "no record of the page has" if all(lacking) else "a record has no"
                msg = (
                    f"{who} {key}, which is part of the stream's key "
                    f"({', '.join(self._keys)}); choose key-properties that every "
                    "record has"
                )
                raise ValueError(msg)
        return shaped

    def shape_one(self, record: Record) -> Record:
        """Shape a record of a stream without a key.

        Args:
            record: The record.

        Returns:
            The shaped record.
        """
        return self._shape(record, self._types.doubtful_of(record), None)

    def _shape(
        self, record: Record, doubtful: Iterable[str], window_end: str | None
    ) -> Record:
        shaped = self._empty | record
        rest = self._fit(shaped, doubtful)
        if len(shaped) > len(self._empty):
            rest |= self._take_unknown(shaped)
        for name, make, is_hashed in self._made:
            shaped[name] = make(record, window_end)
            if is_hashed and shaped[name] is None:
                shaped[name] = self._hash(record)
        if self._has_rest:
            shaped[ADDITIONAL_PROPERTIES] = rest or None
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

    def _hash(self, record: Record) -> str:
        self._notes.warn_once(
            "A record has no id, so its key is made from all its content: when it "
            "changes, it becomes another row"
        )
        return content_key(record)
