"""Infers typed columns for the streams whose fields are not documented.

A column lives for years after its sample, so only clear cases become columns. A field
with mixed types, with nulls only, or with a name that warehouses may confuse stays in
`additional_properties`, where nothing is lost.
"""

import re
from collections import Counter
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
    streams = [s for name, s in tap.endpoint_streams.items() if not is_documented(name)]
    can_read = readable([Probe(stream, api) for stream in streams], pages)
    return {probe.stream.name: [*probe.records.values()] for probe in can_read}


def extend(
    tap: TapLeadIntent, columns: Columns, samples: Mapping[str, Sequence[Record]]
) -> None:
    """Add columns that are inferred from samples.

    Args:
        tap: The tap.
        columns: Gets them. Those that are set already keep their types.
        samples: Records by stream.
    """
    for name, records in samples.items():
        stream, own = tap.endpoint_streams[name], columns.setdefault(name, {})
        declared = {**stream.schema["properties"], **own}
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
    for record in records:
        builder.add_object({n: each for n, each in record.items() if each is not None})
    fields = builder.to_schema().get("properties", {})
    spellings = Counter(n.lower() for n in {*declared}.union(*records))
    return {
        name: _column(name, fields[name], [each.get(name) for each in records])
        for name in sorted(fields.keys() - declared)
        # A field with several types has a list of them, or no type.
        if isinstance(fields[name].get("type"), str)
        if _SAFE_NAME.fullmatch(name) and redact(name) == name
        if spellings[name.lower()] == 1
    }


def _column(name: str, field: Schema, values: Sequence[Any]) -> Schema:
    column = _nullable(field["type"])
    if field["type"] == "array":
        types = field.get("items", {}).get("type", [])
        item_types = {types} if isinstance(types, str) else {*types}
        item_types -= {"null"}
        # Without `items`, loaders take any list. `target-postgres` cannot load lists
        # of lists into the column that it makes for `items`.
        if len(item_types) == 1 and "array" not in item_types:
            column["items"] = _nullable(item_types.pop())
    is_time = (each is None or utc_timestamp(each) for each in values)
    if field["type"] == "string" and name.endswith(_TIME_NAMES) and all(is_time):
        column["format"] = "date-time"
    return column


def _nullable(kind: str) -> Schema:
    schema: Schema = {"type": [kind.replace("integer", "number"), "null"]}
    if kind == "object":
        schema["additionalProperties"] = True
    return schema
