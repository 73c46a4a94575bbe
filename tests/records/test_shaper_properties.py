"""Whatever the API says of a record can be found in what the target gets."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from singer_sdk.contrib.msgspec import serialize_jsonl
from singer_sdk.helpers._typing import conform_record_data_types
from singer_sdk.helpers.conform import TypeConformanceLevel
from singer_sdk.singerlib import SelectionMask

from tap_leadintent.api.page import Page
from tap_leadintent.records.keys import canonical_json
from tap_leadintent.records.notes import RecordNotes
from tap_leadintent.records.shaper import RecordShaper
from tests.support.arbitrary import (
    MADE_BY_THE_TAP,
    catalogs,
    keeps_names,
    records,
    spelled,
    told,
)
from tests.support.helpers import STREAMS, declared_stream, exact_json

LOGGER = logging.getLogger("records.quiet")
LOGGER.disabled = True


def digits_of(value: Any) -> Any:
    """Replace each number by the double that stands for it, but no flag."""
    if isinstance(value, dict):
        return {key: digits_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return [digits_of(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return value
    return float(value) if abs(float(value)) < 1e308 else str(value)


def same(one: Any, other: Any) -> bool:
    """Compare doubles, and a number never with a flag."""
    return repr(digits_of(one)) == repr(digits_of(other))


def in_column(value: Any, column: Any, schema: dict[str, Any]) -> bool:
    """Tell whether a column says what the API said."""
    if schema.get("format") == "date-time":
        # What is finer than the column stands in additional_properties.
        return not re.search(r"\.\d{7}", value) and utc(value) == utc(column)
    if isinstance(value, Decimal) and isinstance(column, int):
        return value == column
    return same(value, column)


def utc(text: str) -> datetime:
    """Read a time; one without an offset is UTC."""
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


@given(st.sampled_from(STREAMS), catalogs, records.filter(keeps_names))
def test_nothing_is_dropped_and_nothing_contradicts_the_schema(
    name: str, catalog: dict[str, Any], record: dict[str, Any]
) -> None:
    stream = declared_stream(name)
    columns = {**stream.schema["properties"], **catalog}
    schema = {**stream.schema, "properties": columns}
    content = f'{{"data": [{spelled(record)}], "cursor": {{"has_more": false}}}}'
    decoded = Page.of(content.encode()).decode().data
    (shaped,) = RecordShaper(
        columns=columns,
        key_properties=stream.primary_keys,
        made=stream.made,
        mask=SelectionMask(),
        notes=RecordNotes(LOGGER),
    ).shape(decoded)
    emitted = exact_json(bytes(serialize_jsonl(shaped)))

    Draft202012Validator(schema).validate(emitted)
    assert emitted.keys() <= columns.keys()
    rest = emitted["additional_properties"] or {}
    for field, value in told(record).items():
        if field in rest:
            assert same(value, rest[field])
        elif value is None:
            assert emitted.get(field) is None
        else:
            assert field not in MADE_BY_THE_TAP
            assert in_column(value, emitted[field], columns[field])
    assert rest.keys() <= told(record).keys()
    if "record_key" in columns:
        identifier = told(record)["id"]
        text = identifier if isinstance(identifier, str) else canonical_json(identifier)
        assert emitted["record_key"] == text

    # What the SDK would do to the record has been done.
    conformed = conform_record_data_types(
        name, shaped, schema, TypeConformanceLevel.RECURSIVE, LOGGER
    )
    assert same(conformed, shaped)
