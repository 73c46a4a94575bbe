"""Flattens records; fields without a flat column go to the column of extra fields.

The SDK flattens the schema and names the columns. It does not flatten the records,
because it would lose data: a nested field that is not in SCHEMA becomes a column that
the target does not have, and of two fields with the same flat name only one remains. It
also computes each name again for each record, which takes three times as long.
"""

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
        fields_set: AbstractSet[str] = frozenset(),
    ) -> None:
        """Flatten the schema.

        Args:
            stream_map: The map with the options for flattening; its schema is nested.
            stream: The stream, which knows how to fit values to columns.
            fields_set: The fields that the stream map sets.

        Raises:
            ValueError: Two fields would have the same column, or the map sets a nested
                field, which has its flat name only after the map.
        """
        options: Any = stream_map.flattening_options
        self._depth: int = options.max_level
        naming = {
            "separator": options.separator,
            "max_key_length": options.max_key_length,
        }
        self._name = lru_cache(_MAX_NAMES)(partial(flatten_key, **naming))
        self._extra_column = stream.extra_column
        schema = stream_map.transformed_schema
        fields = dict(schema["properties"])
        extra_fields = fields.pop(self._extra_column, None)
        self.schema = stream_map.flatten_schema({**schema, "properties": fields})
        """The JSON schema of the flat records."""
        columns = self._columns = self.schema["properties"]
        self._objects = [name for name in fields if self._name(name, ()) not in columns]
        for name in self._objects:
            for part in fields_set:
                if part.startswith(self._name("", (name,))):
                    raise ValueError(
                        f"{part} would be a part of {name}, so no map can set it; "
                        f"if it is a nested field, {stream.how_to_leave_out}; give a "
                        "new column another name"
                    )
        if extra_fields is not None:
            columns[self._extra_column] = {"type": ["string", "null"]}
        self._shape = stream.shaper_for(columns)

    def flatten(self, record: Record) -> Record:
        """Flatten a record.

        Args:
            record: A nested record; it may have nested fields that the schema lacks.

        Returns:
            The flat record. Columns without a value are null, or absent if their schema
            does not allow null.
        """
        fields, flat = {**record}, dict[str, Any]()
        given_extra = fields.pop(self._extra_column, None)
        extra_fields: Record = {**given_extra} if isinstance(given_extra, dict) else {}
        for name in self._objects:
            if isinstance(extra_fields.get(name), dict):
                # It contradicts its column, but most of its fields have a flat one.
                fields[name] = extra_fields.pop(name)
        self._flatten(fields, (), flat)
        (shaped,) = self._shape([flat])
        if self._extra_column in shaped:
            for column, value in (shaped[self._extra_column] or {}).items():
                _add(extra_fields, column, value)
            if given_extra is None or isinstance(given_extra, dict):
                given_extra = serialize_json(extra_fields) if extra_fields else None
            shaped[self._extra_column] = given_extra
        return shaped

    def _flatten(self, fields: Record, above: tuple[str, ...], flat: Record) -> None:
        """Put an object's fields under their flat names."""
        for name, value in fields.items():
            column = self._name(name, above)
            if column in self._columns and flat.get(column) is None:
                is_nested = isinstance(value, (dict, list))
                flat[column] = serialize_json(value) if is_nested else value
            elif isinstance(value, dict) and value and len(above) < self._depth:
                self._flatten(value, (*above, name), flat)
            elif value not in (None, {}):
                _add(flat, column, value)


def _add(record: Record, name: str, value: object) -> None:
    while name in record:
        name += "_"  # another field has this name
    record[name] = value
