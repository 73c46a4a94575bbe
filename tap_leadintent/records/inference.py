"""Infers columns from a sample, for streams whose fields are not documented.

A column lives for years after its sample, so only clear cases become columns. A field
with mixed types, with nulls only, or with a name that warehouses may confuse stays in
`additional_properties`, where nothing is lost.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from tap_leadintent.openapi import TAP_COLUMNS
from tap_leadintent.times import utc_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Record = Mapping[str, Any]

_MOST_RECORDS = 100
"""Records that are looked at. More see rare types; fewer keep discovery fast."""

_LONGEST_NAME = 63
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PREFIX_OF_TARGETS = "_sdc_"
_TIME_NAMES = ("_at", "_time")
_INSTANT = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)", re.ASCII
)

_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": ["string", "null"]},
    "boolean": {"type": ["boolean", "null"]},
    # Also for whole numbers: a column of integers could not hold a later fraction.
    "number": {"type": ["number", "null"]},
    "object": {"type": ["object", "null"], "additionalProperties": True},
    "array": {"type": ["array", "null"]},
}
_KINDS = {str: "string", bool: "boolean", dict: "object", list: "array"}


class Inference(NamedTuple):
    """The columns inferred from a sample."""

    columns: dict[str, dict[str, Any]]
    """The schema of each new column, sorted by name."""

    unsafe_names: list[str]
    """Fields that are not columns because of their names, sorted."""


def infer(records: Sequence[Record], declared: Iterable[str]) -> Inference:
    """Infer columns from records.

    Args:
        records: The sample; only the first hundred records are used.
        declared: The columns that the stream already has.

    Returns:
        The columns to add; the order of the records does not matter.
    """
    kinds: dict[str, set[str]] = {}
    for record in records[:_MOST_RECORDS]:
        for name, value in record.items():
            found = kinds.setdefault(name, set())
            if value is not None:
                found.add(_KINDS.get(type(value), "number"))
    unsafe = set(_unsafe_names(kinds, declared))
    columns: dict[str, dict[str, Any]] = {}
    unsafe_names: list[str] = []
    for name in sorted(kinds.keys() - (set(declared) - TAP_COLUMNS.keys())):
        column = _column(name, kinds[name], records)
        if column is not None and name in unsafe:
            unsafe_names.append(name)
        elif column is not None:
            columns[name] = column
    return Inference(columns, unsafe_names)


def _column(
    name: str, kinds: set[str], records: Iterable[Record]
) -> dict[str, Any] | None:
    if len(kinds) != 1:
        return None
    column = dict(_TYPES[min(kinds)])
    if column == _TYPES["string"] and name.endswith(_TIME_NAMES):
        values = [record.get(name) for record in records]
        if all(value is None or _is_instant(value) for value in values):
            column["format"] = "date-time"
    column["description"] = "Not shown in the API description; type inferred from data."
    return column


def _is_instant(text: str) -> bool:
    return bool(_INSTANT.fullmatch(text)) and utc_timestamp(text) is not None


def _unsafe_names(fields: Iterable[str], declared: Iterable[str]) -> Iterator[str]:
    reserved = {*TAP_COLUMNS, *declared}
    spellings = Counter(name.lower() for name in {*fields, *reserved})
    for name in fields:
        if (
            name in TAP_COLUMNS
            or spellings[name.lower()] > 1
            or len(name) > _LONGEST_NAME
            or not _PLAIN_NAME.fullmatch(name)
            or name.lower().startswith(_PREFIX_OF_TARGETS)
        ):
            yield name
