"""What a warehouse has to hold of the API's records."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]

# Columns that hold a field of the record as it is.
FIELDS = {
    "signal_agents": (
        *("id", "type", "name", "status", "schedule", "next_check_at", "sheet"),
    ),
    "leads": (
        *("id", "full_name", "title", "country_code", "profile", "company", "sheet"),
        *("signal", "qualification", "score"),
    ),
    "signal_accounts": ("id",),
    "monitored_accounts": ("id",),
    "observations": ("id", "observed_at"),
    "custom_signals": ("id",),
    "monitored_leads": ("id",),
}
TIMES = {"next_check_at", "observed_at"}


def instant(value: str | datetime | None) -> datetime | None:
    """Read a time; one without an offset is UTC, and what is not a time is None."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    return value.replace(tzinfo=value.tzinfo or UTC) if value else None


def expected_row(stream: str, record: dict[str, Any]) -> Row:
    """Work out from the API's record what a warehouse has to hold."""
    row = {
        name: instant(record.get(name)) if name in TIMES else record.get(name)
        for name in FIELDS[stream]
    }
    if stream == "leads":
        row["signal_observed_at"] = instant(
            (record.get("signal") or {}).get("observed_at")
        )
    elif stream != "signal_agents":
        row["record_key"] = record["id"]
    rest = {name: value for name, value in record.items() if name not in row}
    row["additional_properties"] = rest or None
    return row


def without(*fields: str) -> Callable[[Row], Row]:
    """Take columns, and nested fields named with dots, out of a row."""

    def change(row: Row) -> Row:
        rest = row["additional_properties"] or {}
        for name in fields:
            path = name.split(".")
            row, rest = _pruned(row, path), _pruned(rest, path)
        return {**row, "additional_properties": rest or None}

    return change


def _pruned(value: Any, path: list[str]) -> Any:
    if isinstance(value, list):
        return [_pruned(item, path) for item in value]
    if not isinstance(value, dict):
        return value
    name, *inner = path
    if not inner:
        return {n: v for n, v in value.items() if n != name}
    return {n: _pruned(v, inner) if n == name else v for n, v in value.items()}


def flattened(row: Row, columns: dict[str, Any], depth: int) -> Row:
    """Flatten a row; `columns` are the schemas of its columns before that."""
    flat: Row = {}
    rest: Row = {}
    told = dict(row["additional_properties"] or {})
    for name, value in row.items():
        if name != "additional_properties":
            schema = columns.get(name, {"type": []})
            if "properties" in schema and isinstance(told.get(name), dict):
                value = told.pop(name)  # noqa: PLW2901 - part of it has a column
            _spread(flat, rest, (name,), schema, value, depth)
    rest |= told
    return {**flat, "additional_properties": rest or None}


def _spread(  # noqa: PLR0913, PLR0917 - it walks value and schema at once
    flat: Row,
    rest: Row,
    path: tuple[str, ...],
    schema: dict[str, Any],
    value: Any,
    depth: int,
) -> None:
    """Put a value into its columns, and what no column holds into the rest."""
    column, is_deep = "__".join(path), len(path) > depth
    fields = schema.get("properties")
    if schema and (fields is None or is_deep):
        is_time = schema.get("format") == "date-time" and isinstance(value, str)
        flat[column] = instant(value) if is_time else value
        if "number" in schema["type"] and isinstance(value, str):
            flat[column] = None
        if flat[column] is None and value is not None:
            rest[column] = value
    elif schema or (isinstance(value, dict) and value and not is_deep):
        fields, value = fields or {}, value or {}
        for name in {**fields, **value}:
            inner = fields.get(name, {})
            _spread(flat, rest, (*path, name), inner, value.get(name), depth)
    else:
        rest[column] = value
