"""Discovery with `infer_columns`: typed columns from a sample of each stream.

A column lives for years after its sample, so only clear cases become columns. A field
with mixed types, with nulls only, or with a name that warehouses may confuse stays in
`additional_properties`, where nothing is lost.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import requests

from tap_leadintent.errors import RefusedError, naming
from tap_leadintent.openapi import TAP_COLUMNS
from tap_leadintent.times import utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tap_leadintent.client import LeadIntentStream

    Record = dict[str, Any]
    Schema = dict[str, Any]

_MOST_OF_NAMES = 1_000
"""Characters of a list of field names in the log. More would fill it; fewer would hide
names of a usual stream."""

_MOST_RECORDS = 100
"""Records that are looked at. More see rare types; fewer keep discovery fast."""

_SAFE_NAME = re.compile(r"(?!_sdc_)[a-z_][a-z0-9_]{,62}", re.IGNORECASE | re.ASCII)
_TIME_NAMES = ("_at", "_time")
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", re.ASCII
)
_KINDS = {str: "string", bool: "boolean", dict: "object", list: "array"}
_INFERRED = "Not shown in the API description; type inferred from data."


def infer_columns(stream: LeadIntentStream) -> None:
    """Add typed columns for the fields on the first page of a stream.

    A stream that the key may not read (HTTP 403) keeps its columns and is deselected.

    Args:
        stream: A stream whose fields the API description does not show.

    Raises:
        StreamError: The stream could not be read.
    """
    try:
        with naming(stream.name):
            records = _sample(stream)
    except RefusedError as error:
        if error.status != requests.codes.forbidden:
            raise
        stream.selected_by_default = False
        stream.logger.warning(
            "%s; it is deselected, and its columns are not inferred", error.message
        )
        return
    schema = stream.schema
    columns, unsafe_names = infer(records, schema["properties"])
    if unsafe_names:
        names = ", ".join(map(repr, unsafe_names))
        stream.logger.warning(
            "Fields whose names some warehouses refuse or confuse stay in "
            "additional_properties: %s",
            stream.shared.secret.summarize(names, _MOST_OF_NAMES),
        )
    properties = {**schema["properties"], **columns}
    stream.schema = {**schema, "properties": properties}


def _sample(stream: LeadIntentStream) -> list[Record]:
    """Read the first page of all records, without excluded fields."""
    return stream.exclusion.records(stream.reader.first_page().data)


def infer(
    records: Sequence[Record], declared: Iterable[str]
) -> tuple[dict[str, Schema], list[str]]:
    """Infer columns from records.

    Args:
        records: The sample; only the first hundred records are used.
        declared: The columns that the stream already has.

    Returns:
        The schema of each new column, and the fields that are not columns because of
        their names, both sorted. The order of the records does not matter.
    """
    reserved = {*declared, *TAP_COLUMNS}
    values: dict[str, list[Any]] = {}
    for record in records[:_MOST_RECORDS]:
        for name, value in record.items():
            values.setdefault(name, []).append(value)
    spellings = Counter(name.lower() for name in {*values, *reserved})
    columns: dict[str, Schema] = {}
    unsafe_names: list[str] = []
    for name in sorted(values.keys() - reserved):
        column = _column(name, [each for each in values[name] if each is not None])
        if column and spellings[name.lower()] == 1 and _SAFE_NAME.fullmatch(name):
            columns[name] = column
        elif column:
            unsafe_names.append(name)
    return columns, unsafe_names


def _column(name: str, values: Sequence[Any]) -> Schema | None:
    """Give the schema for values of one type; numbers may later have a fraction."""
    kinds = {_KINDS.get(type(value), "number") for value in values}
    if len(kinds) != 1:
        return None
    column: Schema = {"type": [*kinds, "null"]}
    if kinds == {"object"}:
        column["additionalProperties"] = True
    if (
        kinds == {"string"}
        and name.endswith(_TIME_NAMES)
        and all(map(_is_instant, values))
    ):
        column["format"] = "date-time"
    return {**column, "description": _INFERRED}


def _is_instant(text: str) -> bool:
    return bool(_INSTANT.fullmatch(text)) and utc_timestamp(text) is not None
