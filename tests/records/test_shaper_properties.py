"""Whatever the API says of a record can be found in what the target gets."""

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from singer_sdk.contrib.msgspec import serialize_jsonl

from tap_leadintent.findings import Findings
from tap_leadintent.records.keys import canonical_json
from tests.support.arbitrary import MADE_BY_THE_TAP, catalogs, records
from tests.support.helpers import STREAMS, declared_stream
from tests.support.shaping import shape

LOGGER = logging.getLogger("records.quiet")
LOGGER.disabled = True


def in_column(
    value: Any,
    column: Any,
    schema: dict[str, Any],
) -> bool:
    """Return whether a column says what the API said."""
    if schema.get("format") == "date-time":
        # What is finer than the column stands in additional_properties.
        return not re.search(r"\.\d{7}", value) and utc(value) == utc(column)
    # An integer may have been spelled like a number.
    value = int(value) if type(column) is int and type(value) is float else value
    return repr(value) == repr(column)


def utc(text: str) -> datetime:
    """Read a time; one without an offset is UTC."""
    instant = datetime.fromisoformat(text)
    return instant if instant.tzinfo else instant.replace(tzinfo=UTC)


@given(st.sampled_from(STREAMS), catalogs, records)
def test_nothing_is_dropped_and_nothing_contradicts_the_schema(
    name: str,
    catalog: dict[str, Any],
    record: dict[str, Any],
) -> None:
    columns = {
        **declared_stream(name).schema["properties"],
        **catalog,
    }
    shaped = shape(
        name,
        record,
        more_columns=catalog,
        findings=Findings(LOGGER),
    )
    emitted = json.loads(bytes(serialize_jsonl(shaped)))

    Draft202012Validator({"properties": columns}).validate(emitted)
    assert emitted.keys() <= columns.keys()
    extra = emitted["additional_properties"] or {}
    for field, value in record.items():
        if field in extra:
            assert repr(value) == repr(extra[field])
        elif value is None:
            assert emitted.get(field) is None
        else:
            assert field not in MADE_BY_THE_TAP
            assert in_column(value, emitted[field], columns[field])
    assert extra.keys() <= record.keys()
    if "record_key" in columns:
        identifier = record["id"]
        text = identifier if isinstance(identifier, str) else canonical_json(identifier)
        assert emitted["record_key"] == text
