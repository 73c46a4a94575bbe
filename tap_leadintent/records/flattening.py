"""Flattens records; what no flat column holds goes to `additional_properties`.

The SDK flattens the schema and names the columns. Its way with records would lose data:
a nested field that SCHEMA lacks becomes a column that the target does not have. It also
makes each name anew for each record, which takes three times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

# Private, as there is no public module.
from singer_sdk.helpers._flattening import flatten_key, flatten_schema
from singer_sdk.singerlib import SelectionMask
from singer_sdk.singerlib.json import serialize_json

from tap_leadintent.openapi import ADDITIONAL_PROPERTIES
from tap_leadintent.records.shaper import RecordShaper

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from singer_sdk.helpers._flattening import FlatteningOptions

    from tap_leadintent.records.notes import RecordNotes

    Record = dict[str, Any]
    Schema = dict[str, Any]

_Tree: TypeAlias = "dict[str, str | _Tree]"
"""The column of each field of an object, or the tree of a nested object."""

_NESTED = (dict, list)


class Flattening:
    """Flattens the records of one stream map."""

    def __init__(
        self,
        schema: Schema,
        options: FlatteningOptions,
        notes: RecordNotes,
        hidden: Collection[str] = (),
    ) -> None:
        """Plan the columns.

        Args:
            schema: The JSON schema of the nested records.
            options: How deep to flatten, and how to name columns.
            notes: Collects what to log about the records.
            hidden: What the map sets; no nested field comes back under such a name.

        Raises:
            ValueError: Two fields would have the same column.
        """
        self._depth, self._separator = options.max_level, options.separator
        self._longest = options.max_key_length
        fields = dict(schema["properties"])
        fields.pop(ADDITIONAL_PROPERTIES, None)
        self.schema: Schema = flatten_schema(
            {**schema, "properties": fields},
            self._depth,
            self._separator,
            max_key_length=self._longest,
        )
        """The JSON schema of the flat records."""
        columns = self.schema["properties"]
        self._hidden = {*hidden}
        for name in columns.keys() & self._hidden - fields.keys():
            del columns[name]
        self._columns = {*columns}
        self._tree = self._plan(fields, ())
        self._objects = [n for n in fields if isinstance(self._tree.get(n), dict)]
        # What was a column before fits already, unless a map has changed it.
        made = {
            name: {"type": column["type"]}
            if column == fields.get(name) and "type" in column
            else column
            for name, column in columns.items()
        }
        self._shaper = RecordShaper(
            columns={**made, ADDITIONAL_PROPERTIES: {"type": ["object", "null"]}},
            mask=SelectionMask(),
            notes=notes,
        )
        self._rest = self._name(ADDITIONAL_PROPERTIES, ())
        self._has_rest = ADDITIONAL_PROPERTIES in schema["properties"]
        if self._has_rest:
            columns[self._rest] = {"type": ["string", "null"]}

    def _name(self, name: str, above: Iterable[str]) -> str:
        return flatten_key(
            name, [*above], self._separator, max_key_length=self._longest
        )

    def _plan(self, fields: Schema, above: tuple[str, ...]) -> _Tree:
        tree: _Tree = {}
        for name, field in fields.items():
            is_object = "object" in field.get("type", ()) and "properties" in field
            if is_object and len(above) < self._depth:
                tree[name] = self._plan(field["properties"], (*above, name))
            elif (column := self._name(name, above)) in self._columns:
                tree[name] = column
        return tree

    def record(self, record: Record) -> Record:
        """Flatten a record.

        Args:
            record: A nested record; it may have nested fields that the schema lacks.

        Returns:
            The flat record. Columns without a value are null, or absent if their schema
            does not allow null.
        """
        nested, flat = {**record}, dict[str, Any]()
        told = nested.pop(ADDITIONAL_PROPERTIES, None)
        if isinstance(told, dict):
            # Of an object that contradicts its column, most fields have one now.
            told = {**told}
            for name in self._objects:
                if isinstance(told.get(name), dict):
                    nested[name] = told.pop(name)
        self._take(nested, self._tree, (), flat)
        shaped = self._shaper.shape_one(flat)
        rest = shaped.pop(ADDITIONAL_PROPERTIES) or {}
        if told is None or isinstance(told, dict):
            rest |= told or {}
            told = serialize_json(rest) if rest else None
        if self._has_rest:
            shaped[self._rest] = told
        return shaped

    def _take(
        self, record: Record, tree: _Tree, above: tuple[str, ...], flat: Record
    ) -> None:
        """Put an object's fields under their flat names."""
        for name, value in record.items():
            place = tree.get(name)
            if isinstance(place, str):
                if isinstance(value, _NESTED):
                    value = serialize_json(value)  # noqa: PLW2901 - plainer
                flat[place] = value
            elif isinstance(place, dict) and isinstance(value, dict):
                self._take(value, place, (*above, name), flat)
            elif place is None or value is not None:
                self._keep(value, (*above, name), flat)

    def _keep(self, value: object, path: tuple[str, ...], flat: Record) -> None:
        """Put what has no column under its flat name."""
        *above, name = path
        column = self._name(name, above)
        if column in self._hidden:
            return
        if isinstance(value, dict) and value and len(above) < self._depth:
            for inner, field in value.items():
                self._keep(field, (*path, inner), flat)
            return
        while column in flat or column in self._columns:
            column += "_"  # another field has this name
        flat[column] = value
