"""The expected rows of a warehouse, made of the records of the API."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from singer_sdk.singerlib.json import serialize_json

from tap_leadintent.openapi import record_fields
from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import UNDOCUMENTED, Json, raw_records

Row = Json


def instant(value: str | datetime | None) -> datetime | None:
    """Return a time in UTC, or None if the value is not a time."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if value is None:
        return None
    return value.replace(tzinfo=value.tzinfo or UTC)


def expected_row(
    stream: str,
    record: Json,
    *added: str,
) -> Row:
    """Return the expected row of a warehouse for a record of the API.

    Args:
        stream: The record's stream.
        record: The record.
        added: Columns beside those that the stream declares.
    """
    fields = record_fields(stream)
    columns = [*fields, *added]
    row = {name: record.get(name) for name in columns}
    for name, field in fields.items():
        if field.get("format") == "date-time":
            row[name] = instant(row[name])
    if stream == "leads":
        signal = record.get("signal") or {}
        row["signal_observed_at"] = instant(signal.get("observed_at"))
    elif stream in UNDOCUMENTED:
        row["record_key"] = record["id"]
    extra_fields: Json = {}
    for name, value in record.items():
        if name not in row:
            extra_fields[name] = value
    row["additional_properties"] = extra_fields or None
    return row


def expected_rows(
    sandbox: Sandbox,
    stream: str,
    *added: str,
) -> dict[str, Row]:
    """Return the expected rows of a table after a complete load, by id."""
    rows = {}
    for record in raw_records(sandbox, stream):
        rows[record["id"]] = expected_row(stream, record, *added)
    return rows


def without(*fields: str) -> Callable[[Row], Row]:
    """Return a function that removes columns, or nested fields, from a row."""

    def change(row: Row) -> Row:
        extra_fields = row["additional_properties"] or {}
        for name in fields:
            path = name.split(".")
            row = _pruned(row, path)
            extra_fields = _pruned(extra_fields, path)
        return {
            **row,
            "additional_properties": extra_fields or None,
        }

    return change


def _pruned(value: Any, path: list[str]) -> Any:
    if isinstance(value, list):
        return [_pruned(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    name, *inner = path
    pruned = {**value}
    if not inner:
        pruned.pop(name, None)
    elif name in pruned:
        pruned[name] = _pruned(value[name], inner)
    return pruned


def flattened(row: Row, columns: Json) -> Row:
    """Return a row flattened by one level; `columns` are the schemas of its columns."""
    flat: Row = {}
    extra_fields = dict(row["additional_properties"] or {})
    for name, value in row.items():
        fields = columns.get(name, {}).get("properties")
        if fields is None:
            flat[name] = value
            continue
        held = value or {}
        for field in {**fields, **held}:
            column = f"{name}__{field}"
            inner = held.get(field)
            if field not in fields:
                if inner not in (None, {}):
                    is_nested = isinstance(inner, (dict, list))
                    text = serialize_json(inner) if is_nested else inner
                    extra_fields[column] = text
            elif fields[field].get("format") == "date-time":
                flat[column] = instant(inner)
            else:
                flat[column] = inner
    flat["additional_properties"] = extra_fields or None
    return flat
