"""Discovery with `infer_columns`: typed columns from a sample of each stream.

A column lives for years after its sample, so only clear cases become columns. A field
with mixed types, with nulls only, or with a name that warehouses may confuse stays in
`additional_properties`, where nothing is lost.
"""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from tap_leadintent.client import LeadIntentStream
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.singer.errors import RunError
from tap_leadintent.singer.log import redact
from tap_leadintent.times import utc_timestamp

Record = dict[str, Any]
Schema = dict[str, Any]

_SAFE_NAME = re.compile(r"(?!_sdc_)[a-z_][a-z0-9_]{,62}", re.IGNORECASE | re.ASCII)
_TIME_NAMES = ("_at", "_time")
_KINDS = {str: "string", bool: "boolean", dict: "object", list: "array"}
_INFERRED = "Not shown in the API description; type inferred from data."


def infer_columns(stream: LeadIntentStream) -> None:
    """Add typed columns for the fields on the first page of a stream.

    A stream that the key may not read keeps its columns and is deselected.

    Args:
        stream: A stream whose fields the API description does not show.

    Raises:
        RunError: The stream could not be read.
    """
    try:
        page = stream.sample()
    except StreamError as error:
        if Action.DESELECT not in error.actions:
            raise RunError(f"{stream.name}: {error}") from None
        stream.selected_by_default = False
        message = "%s; the stream is deselected, and its columns are not inferred"
        stream.logger.warning(message, error.message)
        return
    schema = stream.schema
    columns = infer(stream.exclusion.apply(page.data), schema["properties"])
    columns = {name: columns[name] for name in columns if redact(name) == name}
    properties = {**schema["properties"], **columns}
    stream.schema = {**schema, "properties": properties}


def infer(records: Sequence[Record], declared: Collection[str]) -> dict[str, Schema]:
    """Infer columns from records.

    Args:
        records: The sample.
        declared: The columns that the stream already has.

    Returns:
        The schema of each new column, sorted by name. The order of the records does not
        matter.
    """
    values: dict[str, list[Any]] = {}
    for record in records:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    spellings = Counter(name.lower() for name in {*values, *declared})
    columns: dict[str, Schema] = {}
    for name in sorted(values.keys() - declared):
        column = _column(name, [each for each in values[name] if each is not None])
        if column and spellings[name.lower()] == 1 and _SAFE_NAME.fullmatch(name):
            columns[name] = column
    return columns


def _column(name: str, values: Sequence[Any]) -> Schema | None:
    """Return the schema for values of one type, None if they have several."""
    kinds = {_KINDS.get(type(value), "number") for value in values}
    if len(kinds) != 1:
        return None
    column: Schema = {"type": [*kinds, "null"]}
    if kinds == {"object"}:
        column["additionalProperties"] = True
    may_be_time = kinds == {"string"} and name.endswith(_TIME_NAMES)
    if may_be_time and all(map(utc_timestamp, values)):
        column["format"] = "date-time"
    return {**column, "description": _INFERRED}
