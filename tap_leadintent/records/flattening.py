"""Flattens records; what no flat column holds goes to `additional_properties`.

The SDK flattens the schema and names the columns. Its way with records would lose data:
a nested field that SCHEMA lacks becomes a column that the target does not have, and of
two fields with one name the last remains. It also makes each name anew for each record,
which takes three times as long.
"""

from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from typing import Any

# Private, as there is no public module.
from singer_sdk.helpers import _flattening as sdk
from singer_sdk.singerlib import SelectionMask
from singer_sdk.singerlib.json import serialize_json

from tap_leadintent.openapi import ADDITIONAL_PROPERTIES
from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.records.shaper import RecordShaper

Record = dict[str, Any]

_MOST_NAMES = 1_000
"""Flat names that are remembered. Fewer are made anew too often; more would let a
server that invents fields fill the memory."""


class Flattening:
    """Flattens the records of one stream map."""

    def __init__(
        self,
        schema: dict[str, Any],
        options: sdk.FlatteningOptions,
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
        self._depth = options.max_level
        self._hidden = hidden
        naming: dict[str, Any] = {
            "separator": options.separator,
            "max_key_length": options.max_key_length,
        }
        self._name = lru_cache(_MOST_NAMES)(partial(sdk.flatten_key, **naming))
        fields = dict(schema["properties"])
        rest = fields.pop(ADDITIONAL_PROPERTIES, None)
        nested = {**schema, "properties": fields}
        self.schema: dict[str, Any] = sdk.flatten_schema(nested, self._depth, **naming)
        """The JSON schema of the flat records."""
        columns = self._columns = self.schema["properties"]
        for name in columns.keys() & (hidden - fields.keys()):
            del columns[name]
        self._objects = [name for name in fields if self._name(name, ()) not in columns]
        if rest is not None:
            columns[ADDITIONAL_PROPERTIES] = {"type": ["string", "null"]}
        self._shaper = RecordShaper(columns=columns, mask=SelectionMask(), notes=notes)

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
        for name in [*rest]:
            hides = self._hides_inside(name, ())
            if isinstance(rest[name], dict) and (hides or name in self._objects):
                # It contradicts its column, but most of its fields have one now.
                fields[name] = rest.pop(name)
            elif hides:
                # It may hold what the map hides in another form.
                del rest[name]
        self._flatten(fields, (), flat)
        (shaped,) = self._shaper.shape([flat])
        if ADDITIONAL_PROPERTIES in shaped:
            for column, value in (shaped[ADDITIONAL_PROPERTIES] or {}).items():
                _add(rest, column, value)
            if told is None or isinstance(told, dict):
                told = serialize_json(rest) if rest else None
            shaped[ADDITIONAL_PROPERTIES] = told
        return shaped

    def _flatten(self, fields: Record, above: tuple[str, ...], flat: Record) -> None:
        """Put an object's fields under their flat names."""

        def is_late(name: str) -> bool:
            # A record's own columns come first, then those of its objects. In objects,
            # nested ones come first. So no odd name takes a column of the schema.
            return isinstance(fields[name], dict) != bool(above)

        for name in sorted(fields, key=is_late):
            value, column = fields[name], self._name(name, above)
            if above and column in self._hidden:
                continue
            if column in self._columns and flat.get(column) is None:
                is_nested = isinstance(value, (dict, list))
                flat[column] = serialize_json(value) if is_nested else value
            elif isinstance(value, dict) and value and len(above) < self._depth:
                self._flatten(value, (*above, name), flat)
            elif self._hides_inside(name, above):
                continue
            elif value not in (None, {}) or not self._has_columns(name, above):
                _add(flat, column, value)

    def _has_columns(self, name: str, above: tuple[str, ...]) -> bool:
        """Tell whether a field is an object that the schema has."""
        prefix = self._name("", (*above, name))
        return not above or any(column.startswith(prefix) for column in self._columns)

    def _hides_inside(self, name: str, above: tuple[str, ...]) -> bool:
        """Return whether the map sets a column of which a field is a parent object."""
        prefix = self._name("", (*above, name))
        return any(column.startswith(prefix) for column in self._hidden)


def _add(record: Record, name: str, value: object) -> None:
    while name in record:
        name += "_"  # another field has this name
    record[name] = value
