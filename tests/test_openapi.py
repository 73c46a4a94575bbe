"""The API's contract: the document, and what it says of each field."""

import pytest
from jsonschema import Draft202012Validator

from tests.support.contract import (
    API,
    properties,
    request_schema,
    resolve,
    response_schema,
)
from tests.support.helpers import STREAMS, Json, declared_stream

RECORDS: dict[str, Json] = {}
ALL_SCHEMAS: dict[str, Json] = {**API["components"]["schemas"]}
for _stream in STREAMS:
    _response = response_schema(_stream)
    RECORDS[_stream] = _response["properties"]["data"]["items"]
    ALL_SCHEMAS[f"request of {_stream}"] = request_schema(_stream)
    ALL_SCHEMAS[f"response of {_stream}"] = _response


@pytest.mark.parametrize("schema", ALL_SCHEMAS.values(), ids=ALL_SCHEMAS)
def test_every_field_is_described(schema: Json) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema["description"]
    for name, value in properties(schema):
        resolved = resolve(value)
        assert resolved["description"], name
        assert isinstance(resolved["type"], str), name
        assert resolved["type"] != "array" or resolved["items"], name


@pytest.mark.parametrize("stream", STREAMS)
def test_undocumented_streams_are_marked(stream: str) -> None:
    schema = resolve(RECORDS[stream])
    is_marked = schema.get("x-undocumented", False)
    for name, field in schema["properties"].items():
        is_hidden = is_marked and "not shown" in field["description"].lower()
        assert field.get("x-undocumented", False) is is_hidden, name


@pytest.mark.parametrize("stream", STREAMS)
def test_request_fields(stream: str) -> None:
    declared = declared_stream(stream)
    fields = dict(request_schema(stream)["properties"])
    cursor = resolve(fields.pop("cursor"))["properties"]
    assert cursor.keys() == {"limit", "after"}
    assert cursor["limit"]["minimum"] == 1
    assert cursor["limit"]["maximum"] == 100
    ranges: list[str] = []
    filters: set[str] = set()
    for name, value in fields.items():
        field = resolve(value)
        if field["type"] != "object":
            assert field["items"]["type"] == "string"
            filters.add(name)
            continue
        ranges.append(name)
        ends = field["properties"]
        assert ends.keys() == {"start_time", "end_time"}
        for end in ends.values():
            assert end["format"] == "date-time"
    assert declared.ranges == (*ranges,)
    assert filters >= declared.filtered_fields.keys()


@pytest.mark.parametrize("stream", STREAMS)
def test_envelope(stream: str) -> None:
    envelope = response_schema(stream)["properties"]
    assert envelope.keys() == {"data", "cursor"}
    record = resolve(RECORDS[stream])["properties"]
    assert record.keys() <= declared_stream(stream).schema["properties"].keys()
    cursor = resolve(envelope["cursor"])["properties"]
    assert cursor.keys() == {"next", "has_more"}
    assert cursor["next"]["type"] == "string"
    assert cursor["has_more"]["type"] == "boolean"
