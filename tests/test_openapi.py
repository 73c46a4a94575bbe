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

RECORDS = {n: response_schema(n)["properties"]["data"]["items"] for n in STREAMS}
ALL_SCHEMAS = {
    **{f"request of {stream}": request_schema(stream) for stream in STREAMS},
    **{f"response of {stream}": response_schema(stream) for stream in STREAMS},
    **API["components"]["schemas"],
}


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
    fields = {n: resolve(f) for n, f in request_schema(stream)["properties"].items()}
    cursor = fields.pop("cursor")["properties"]
    assert cursor.keys() == {"limit", "after"}
    assert cursor["limit"]["minimum"] == 1
    assert cursor["limit"]["maximum"] == 100
    ranges = [name for name, field in fields.items() if field["type"] == "object"]
    assert declared_stream(stream).ranges == (*ranges,)
    for name in ranges:
        ends = fields.pop(name)["properties"]
        assert ends.keys() == {"start_time", "end_time"}
        for end in ends.values():
            assert end["format"] == "date-time"
    for field in fields.values():
        assert field["items"]["type"] == "string"
    assert fields.keys() >= declared_stream(stream).filtered_fields.keys()


@pytest.mark.parametrize("stream", STREAMS)
def test_envelope(stream: str) -> None:
    envelope = response_schema(stream)["properties"]
    assert envelope.keys() == {"data", "cursor"}
    record = resolve(RECORDS[stream])["properties"]
    assert record.keys() <= declared_stream(stream).schema["properties"].keys()
    cursor = resolve(envelope["cursor"])["properties"]
    kinds = {name: field["type"] for name, field in cursor.items()}
    assert kinds == {"next": "string", "has_more": "boolean"}
