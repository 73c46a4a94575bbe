"""Flattens records; what no flat column holds goes to `additional_properties`.

The SDK flattens the schema and names the columns. Its way with records would lose data:
a nested field that SCHEMA lacks becomes a column that the target does not have. It also
makes each name anew for each record, which takes three times as long.
"""

from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

# Private, as there is no public module.
from singer_sdk.helpers._flattening import (
    FlatteningOptions,
    flatten_key,
    flatten_schema,
)
from singer_sdk.singerlib import SelectionMask
from singer_sdk.singerlib.json import serialize_json

from tap_leadintent.openapi import ADDITIONAL_PROPERTIES
from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.records.shaper import RecordShaper

Path = tuple[str, ...]
Record = dict[str, Any]
Schema = dict[str, Any]

_Tree: TypeAlias = "dict[str, str | _Tree]"
"""The column of each field of an object, or the tree of a nested object."""


class Flattening:
    """Flattens the records of one stream map."""

    def __init__(
        self,
        schema: Schema,
        options: FlatteningOptions,
        notes: RecordNotes,
        hidden: AbstractSet[str] = frozenset(),
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
        self._options = options
        self._notes = notes
        self._hidden = hidden
        fields = dict(schema["properties"])
        rest = fields.pop(ADDITIONAL_PROPERTIES, None)
        self.schema: Schema = flatten_schema(
            {**schema, "properties": fields},
            options.max_level,
            options.separator,
            max_key_length=options.max_key_length,
        )
        """The JSON schema of the flat records."""
        columns = self.schema["properties"]
        for name in columns.keys() & (hidden - fields.keys()):
            del columns[name]
        if rest is not None:
            columns[ADDITIONAL_PROPERTIES] = {"type": ["string", "null"]}
        self._tree = self._plan(fields, ())
        self._objects = [n for n in fields if isinstance(self._tree.get(n), dict)]
        self._shaper = RecordShaper(columns=columns, mask=SelectionMask(), notes=notes)

    def _name(self, path: Path) -> str:
        *above, name = path
        separator, longest = self._options.separator, self._options.max_key_length
        return flatten_key(name, above, separator, max_key_length=longest)

    def _plan(self, fields: Schema, above: Path) -> _Tree:
        tree: _Tree = {}
        for name, field in fields.items():
            path = (*above, name)
            is_object = "object" in field.get("type", ()) and "properties" in field
            if is_object and len(above) < self._options.max_level:
                tree[name] = self._plan(field["properties"], path)
            elif (column := self._name(path)) in self.schema["properties"]:
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
        fields, flat = {**record}, dict[str, Any]()
        told = fields.pop(ADDITIONAL_PROPERTIES, None)
        rest: Record = {**told} if isinstance(told, dict) else {}
        for name in self._objects:
            if isinstance(rest.get(name), dict):
                # It contradicts its column, but most of its fields have one now.
                fields[name] = rest.pop(name)
        self._flatten(fields, self._tree, (), flat, rest)
        (shaped,) = self._shaper.shape([flat])
        if ADDITIONAL_PROPERTIES in shaped:
            for column, value in (shaped[ADDITIONAL_PROPERTIES] or {}).items():
                _add(rest, column, value)
            if told is None or isinstance(told, dict):
                told = serialize_json(rest) if rest else None
            shaped[ADDITIONAL_PROPERTIES] = told
        return shaped

    def _flatten(
        self, fields: Record, tree: _Tree, above: Path, flat: Record, rest: Record
    ) -> None:
        """Put an object's fields under their flat names."""
        for name, value in fields.items():
            place = tree.get(name)
            if isinstance(place, str):
                is_nested = isinstance(value, (dict, list))
                flat[place] = serialize_json(value) if is_nested else value
            elif isinstance(place, dict) and isinstance(value, dict):
                self._flatten(value, place, (*above, name), flat, rest)
            elif place is None or value is not None:
                self._keep(value, (*above, name), rest)

    def _keep(self, value: object, path: Path, rest: Record) -> None:
        """Put what has no column under its flat name."""
        column = self._name(path)
        if column in self._hidden:
            return
        if isinstance(value, dict) and value and len(path) <= self._options.max_level:
            for inner, field in value.items():
                self._keep(field, (*path, inner), rest)
            return
        _add(rest, column, value)
        self._notes.without_column([column])


def _add(rest: Record, name: str, value: object) -> None:
    while name in rest:
        name += "_"  # another field has this name
    rest[name] = value
