"""Infers typed columns for the streams whose fields are not documented.

A column lives for years after its sample, so only clear cases become columns. A field
with mixed types, with nulls only, or with a name that warehouses may confuse stays in
`additional_properties`, where nothing is lost.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TextIO

import msgspec
from genson import SchemaBuilder

from tap_leadintent.checkup.probe import Api, Probe, Record, readable
from tap_leadintent.openapi import is_documented
from tap_leadintent.singer.errors import ConfigError
from tap_leadintent.singer.log import redact
from tap_leadintent.tap import TapLeadIntent
from tap_leadintent.times import utc_timestamp

Schema = dict[str, Any]
Columns = dict[str, dict[str, Schema]]

_SAFE_NAME = re.compile(r"(?!_sdc_)[a-z_][a-z0-9_]{,62}", re.IGNORECASE | re.ASCII)
_TIME_NAMES = ("_at", "_time")
_MOST_REQUESTS = 10_000


def read_records(file: TextIO) -> list[Record]:
    """Read the records of a file of JSON lines.

    Raises:
        ConfigError: The file does not consist of JSON lines.
    """
    try:
        return msgspec.json.Decoder(Record).decode_lines(file.read())
    except ValueError:
        raise ConfigError("--records: the file cannot be read as JSON lines") from None


def sample(tap: TapLeadIntent, pages: int) -> dict[str, list[Record]]:
    """Read pages of each stream whose fields are not documented.

    Raises:
        RunError: No stream can be read.
    """
    api = Api(tap, _MOST_REQUESTS)
    probes = list[Probe]()
    for name, stream in tap.endpoint_streams.items():
        if not is_documented(name):
            probes.append(Probe(stream, api))
    samples = dict[str, list[Record]]()
    for probe in readable(probes, pages):
        samples[probe.stream.name] = list(probe.records.values())
    return samples


def extend(
    tap: TapLeadIntent,
    columns: Columns,
    samples: Mapping[str, Sequence[Record]],
) -> None:
    """Add columns that are inferred from samples.

    Args:
        tap: The tap.
        columns: Gets them. Those that are set already keep their types.
        samples: Records by stream.
    """
    for name, records in samples.items():
        stream = tap.endpoint_streams[name]
        own = columns.setdefault(name, {})
        declared = {
            **stream.schema["properties"],
            **own,
        }
        own |= infer(stream.exclusion.apply(records), declared)


def infer(records: Sequence[Record], declared: Collection[str]) -> dict[str, Schema]:
    """Infer columns from records.

    Args:
        records: The sample.
        declared: The columns that the stream already has.

    Returns:
        The schema of each new column, sorted by name. The order of the records does not
        matter.
    """
    builder = SchemaBuilder()
    spellings = dict[str, set[str]]()
    for name in {*declared}.union(*records):
        spellings.setdefault(name.lower(), set()).add(name)
    for record in records:
        values = dict[str, Any]()
        for name, value in record.items():
            if value is not None:
                values[name] = value
        builder.add_object(values)
    columns = dict[str, Schema]()
    fields = builder.to_schema().get("properties", {})
    for name in sorted(fields.keys() - declared):
        # A field with several types has a list of them, or no type.
        has_one_type = isinstance(fields[name].get("type"), str)
        is_safe = _SAFE_NAME.fullmatch(name) and redact(name) == name
        if has_one_type and is_safe and len(spellings[name.lower()]) == 1:
            values_of_it = [record.get(name) for record in records]
            columns[name] = _column(
                name,
                fields[name],
                values_of_it,
            )
    return columns


def _column(
    name: str,
    field: Schema,
    values: Sequence[Any],
) -> Schema:
    """Return the schema of a column for a field with one type."""
    kind = field["type"]
    column = _nullable(kind)
    if kind == "array":
        item_types = _item_types(field)
        # Without `items`, loaders take any list. `target-postgres` cannot load lists
        # of lists into the column that it makes for `items`.
        if len(item_types) == 1 and "array" not in item_types:
            column["items"] = _nullable(item_types.pop())
    if kind == "string" and name.endswith(_TIME_NAMES) and _are_times(values):
        column["format"] = "date-time"
    return column


def _item_types(field: Schema) -> set[str]:
    """Return the types of the items of a list, without null."""
    types = field.get("items", {}).get("type", [])
    found = {types} if isinstance(types, str) else {*types}
    return found - {"null"}


def _are_times(values: Sequence[Any]) -> bool:
    """Return whether all values are times, or null."""
    return all(value is None or utc_timestamp(value) for value in values)


def _nullable(kind: str) -> Schema:
    schema: Schema = {"type": [kind.replace("integer", "number"), "null"]}
    if kind == "object":
        schema["additionalProperties"] = True
    return schema
