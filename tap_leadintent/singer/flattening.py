"""Flattens records; fields without a flat column go to the column of extra fields.

The SDK flattens the schema and names the columns. It does not flatten the records,
because it would lose data: a nested field that is not in SCHEMA becomes a column that
the target does not have, and of two fields with the same flat name only one remains. It
also computes each name again for each record, which takes three times as long.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache, partial
from typing import Any

# Private, as no public function returns the flat name of a single field.
from singer_sdk.helpers._flattening import flatten_key
from singer_sdk.mapper import StreamMap
from singer_sdk.singerlib.json import serialize_json

from tap_leadintent.singer.stream import SingerStream

Record = dict[str, Any]

_MAX_NAMES = 1_000
"""Flat names that are remembered, as a server that invents names of fields could fill
the memory."""


class Flattening:
    """Flattens the records of one stream map."""

    def __init__(
        self,
        stream_map: StreamMap,
        stream: SingerStream,
        hidden: AbstractSet[str] = frozenset(),
    ) -> None:
        """Flatten the schema.

        Args:
            stream_map: The map with the options for flattening; its schema is nested.
            stream: The stream, which knows how to fit values to columns.
            hidden: The columns that the stream map sets. Nested fields with these flat
                names are left out.

        Raises:
            ValueError: Two fields would have the same column.
        """
        options: Any = stream_map.flattening_options
        self._depth: int = options.max_level
        self._hidden = hidden
        naming = {
            "separator": options.separator,
            "max_key_length": options.max_key_length,
        }
        self._name = lru_cache(_MAX_NAMES)(partial(flatten_key, **naming))
        self._extra = stream.extra_column
        schema = stream_map.transformed_schema
        fields = dict(schema["properties"])
        extra_fields = fields.pop(self._extra, None)
        self.schema = stream_map.flatten_schema({**schema, "properties": fields})
        """The JSON schema of the flat records."""
        columns = self._columns = self.schema["properties"]
        for name in columns.keys() & (hidden - fields.keys()):
            del columns[name]
        self._objects = [name for name in fields if self._name(name, ()) not in columns]
        if extra_fields is not None:
            columns[self._extra] = {"type": ["string", "null"]}
        self._shape = stream.shaper_for(columns)

    def record(self, record: Record) -> Record:
        """Flatten a record.

        Args:
            record: A nested record; it may have nested fields that the schema lacks.

        Returns:
            The flat record. Columns without a value are null, or absent if their schema
            does not allow null.
        """
        fields, flat = {**record}, dict[str, Any]()
        extra_value = fields.pop(self._extra, None)
        extra_fields: Record = {**extra_value} if isinstance(extra_value, dict) else {}
        for name in [*extra_fields]:
            hides = self._holds_any(name, (), self._hidden)
            is_object = isinstance(extra_fields[name], dict)
            if is_object and (hides or name in self._objects):
                # It contradicts its column, but most of its fields have a flat one.
                fields[name] = extra_fields.pop(name)
            elif hides:
                # It may contain what the map hides, in another form.
                del extra_fields[name]
        self._flatten(fields, (), flat)
        (shaped,) = self._shape([flat])
        if self._extra in shaped:
            for column, value in (shaped[self._extra] or {}).items():
                _add(extra_fields, column, value)
            if extra_value is None or isinstance(extra_value, dict):
                extra_value = serialize_json(extra_fields) if extra_fields else None
            shaped[self._extra] = extra_value
        return shaped

    def _flatten(self, fields: Record, above: tuple[str, ...], flat: Record) -> None:
        """Put an object's fields under their flat names."""
        for name, value in fields.items():
            column = self._name(name, above)
            if above and column in self._hidden:
                continue
            if column in self._columns and flat.get(column) is None:
                is_nested = isinstance(value, (dict, list))
                flat[column] = serialize_json(value) if is_nested else value
            elif isinstance(value, dict) and value and len(above) < self._depth:
                self._flatten(value, (*above, name), flat)
            elif self._holds_any(name, above, self._hidden):
                continue
            elif value not in (None, {}) or (
                above and not self._holds_any(name, above, self._columns)
            ):
                _add(flat, column, value)

    def _holds_any(
        self, name: str, above: tuple[str, ...], columns: Iterable[str]
    ) -> bool:
        """Return whether one of the columns belongs to something inside a field."""
        prefix = self._name("", (*above, name))
        return any(column.startswith(prefix) for column in columns)


def _add(record: Record, name: str, value: object) -> None:
    while name in record:
        name += "_"  # another field has this name
    record[name] = value
