"""Flattens records by their schema, so that they have the schema's columns only.

The SDK flattens a record by its content: a nested field that the schema lacks becomes a
column that the target does not have, and so does an object that is null. Here, fields
without a column go to `additional_properties`, inside their nested objects, and so do
values that contradict the type of their column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

# Private, as there is no public module: columns are named as the SDK names them.
from singer_sdk.helpers._flattening import flatten_key, flatten_schema
from singer_sdk.singerlib.json import serialize_json

from tap_leadintent.openapi import ADDITIONAL_PROPERTIES
from tap_leadintent.records.column_types import (
    ContradictionError,
    fit_for,
    may_be_null,
)
from tap_leadintent.times import is_finer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from singer_sdk.helpers._flattening import FlatteningOptions

    from tap_leadintent.records.column_types import Fit
    from tap_leadintent.records.notes import RecordNotes

    Record = dict[str, Any]
    Schema = dict[str, Any]


class _Column(NamedTuple):
    name: str
    is_text: bool
    """Whether it holds text; a value of another type becomes its JSON."""

    fit: Fit | None
    """Converts a value of an object to the column's type, where being valid inside of
    its object does not mean that it fits."""


_Tree: TypeAlias = "dict[str, _Column | _Tree]"
"""The column of each field of an object, or the tree of a nested object."""


class Flattening:
    """Flattens the records of one stream map."""

    def __init__(
        self,
        schema: Schema,
        options: FlatteningOptions,
        notes: RecordNotes,
    ) -> None:
        """Plan the columns.

        Args:
            schema: The JSON schema of the nested records.
            options: How deep to flatten, and how to name columns.
            notes: Collects what to log about the records.

        Raises:
            ValueError: Two fields would have the same column.
        """
        self._options = options
        self._notes = notes
        schema = _closed(schema)
        self.schema: Schema = flatten_schema(
            schema,
            max_level=options.max_level,
            separator=options.separator,
            max_key_length=options.max_key_length,
        )
        """The JSON schema of the flat records."""
        self._columns: Schema = self.schema["properties"]
        self._tree = self._plan(schema["properties"], [])
        self._empty = {
            name: None for name, column in self._columns.items() if may_be_null(column)
        }

    def record(self, record: Record) -> Record:
        """Flatten a record.

        Args:
            record: A nested record; it may have nested fields that the schema lacks.

        Returns:
            The flat record. Columns without a value are null, or absent if their schema
            does not allow null.
        """
        flat: Record = self._empty.copy()
        unheld = self._take(record, self._tree, flat)
        if unheld:
            self._keep(unheld, record.get(ADDITIONAL_PROPERTIES), flat)
        return flat

    def _keep(self, unheld: Record, rest: object, flat: Record) -> None:
        column = self._tree.get(ADDITIONAL_PROPERTIES)
        if isinstance(column, _Column) and (rest is None or isinstance(rest, dict)):
            flat[column.name] = serialize_json({**unheld, **(rest or {})})
            self._notes.without_column([*_paths(unheld, self._tree)])

    def _take(self, value: Record, tree: _Tree, flat: Record) -> Record:
        """Put an object's fields into their columns; return what none holds."""
        unheld: Record = {}
        for name, field in value.items():
            place = tree.get(name)
            if isinstance(place, _Column):
                if not self._put(field, place, flat):
                    unheld[name] = field
            elif place is not None and isinstance(field, dict):
                if inner := self._take(field, place, flat):
                    unheld[name] = inner
            elif place is None or field is not None:
                unheld[name] = field
        return unheld

    def _put(self, value: object, column: _Column, flat: Record) -> bool:
        """Put a value into its column; tell whether the column says all of it."""
        as_it_is = value is None or isinstance(value, str) or not column.is_text
        fitted = value if as_it_is else serialize_json(value)
        if column.fit is not None and value is not None:
            try:
                fitted = column.fit(fitted)
            except ContradictionError:
                self._notes.contradicting(column.name)
                return False
        flat[column.name] = fitted
        # Times are the only texts that conversion changes.
        is_cut = fitted is not value and isinstance(value, str) and is_finer(value)
        return not is_cut

    def _plan(self, fields: Mapping[str, Schema], parents: list[str]) -> _Tree:
        """Map each field to the column that the SDK gives it."""
        tree: _Tree = {}
        for name, schema in fields.items():
            if self._is_taken_apart(schema, len(parents)):
                tree[name] = self._plan(schema["properties"], [*parents, name])
                continue
            column = flatten_key(
                name,
                parents,
                self._options.separator,
                max_key_length=self._options.max_key_length,
            )
            if column in self._columns:
                tree[name] = _column(
                    column, self._columns[column], is_nested=bool(parents)
                )
        return tree

    def _is_taken_apart(self, schema: Schema, level: int) -> bool:
        return (
            "object" in schema.get("type", ())
            and "properties" in schema
            and level < self._options.max_level
        )


def _column(name: str, schema: Schema, *, is_nested: bool) -> _Column:
    is_text = _is_text(schema)
    # Other columns of the record fit already, and so does any text.
    needs_fit = is_nested and not (is_text and "format" not in schema)
    return _Column(name, is_text, fit_for(schema) if needs_fit else None)


def _closed(schema: Schema) -> Schema:
    """Keep `additional_properties` whole, even if a catalog declares its fields."""
    fields = dict(schema["properties"])
    if ADDITIONAL_PROPERTIES in fields:
        rest = fields[ADDITIONAL_PROPERTIES]
        fields[ADDITIONAL_PROPERTIES] = {
            name: part for name, part in rest.items() if name != "properties"
        }
    return {**schema, "properties": fields}


def _paths(unheld: Record, tree: _Tree) -> Iterator[str]:
    for name, field in unheld.items():
        place = tree.get(name)
        if isinstance(place, dict) and isinstance(field, dict):
            yield from (f"{name}.{path}" for path in _paths(field, place))
        elif place is None:
            yield name


def _is_text(schema: Schema) -> bool:
    types = schema.get("type", [])
    return {*([types] if isinstance(types, str) else types)} - {"null"} == {"string"}
