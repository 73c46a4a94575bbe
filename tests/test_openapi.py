"""The API's contract: the document, and what it says of each field."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.contract import (
    API,
    properties,
    request_schema,
    resolve,
    response_schema,
)
from tests.support.helpers import STREAMS, declared_stream

RECORDS = {n: response_schema(n)["properties"]["data"]["items"] for n in STREAMS}
ALL_SCHEMAS = {
    **{f"request of {stream}": request_schema(stream) for stream in STREAMS},
    **{f"response of {stream}": response_schema(stream) for stream in STREAMS},
    **API["components"]["schemas"],
}


@pytest.mark.parametrize("schema", ALL_SCHEMAS.values(), ids=ALL_SCHEMAS)
def test_every_field_is_described(schema: dict[str, Any]) -> None:
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
    assert is_marked is (stream not in {"signal_agents", "leads"})
    for name, field in schema["properties"].items():
        is_shown = not is_marked or name == "observed_at"
        assert field.get("x-undocumented", False) is not is_shown, name
        assert is_shown or "not shown" in field["description"].lower()


# What the API description says, field by field

MONITOR = ("account_ids", "signals", "statuses")
LEADS = (
    "signals",
    "sheet_ids",
    "company_ids",
    "lead_country_codes",
    "company_country_codes",
)


@pytest.mark.parametrize(
    ("stream", "filters", "ranges"),
    [
        ("signal_agents", (), ()),
        ("leads", LEADS, ("date_found", "latest_signal")),
        ("signal_accounts", (), ("date_found", "latest_signal")),
        ("monitored_accounts", MONITOR, ("latest_activity",)),
        ("observations", MONITOR, ("observed_at",)),
        ("custom_signals", (), ()),
        ("monitored_leads", (), ("latest_activity",)),
    ],
)
def test_request_fields(
    stream: str, filters: tuple[str, ...], ranges: tuple[str, ...]
) -> None:
    fields = {n: resolve(f) for n, f in request_schema(stream)["properties"].items()}
    assert fields.keys() == {*filters, *ranges, "cursor"}
    assert declared_stream(stream).ranges == ranges
    for name in filters:
        assert fields[name]["type"] == "array"
        assert fields[name]["items"]["type"] == "string"
    for name in ranges:
        ends = fields[name]["properties"]
        assert ends.keys() == {"start_time", "end_time"}
        assert all(end["format"] == "date-time" for end in ends.values())
    cursor = fields["cursor"]["properties"]
    assert cursor.keys() == {"limit", "after"}
    assert (cursor["limit"]["minimum"], cursor["limit"]["maximum"]) == (1, 100)


@pytest.mark.parametrize("stream", STREAMS)
def test_envelope(stream: str) -> None:
    envelope = response_schema(stream)["properties"]
    assert envelope.keys() == {"data", "cursor"}
    record = resolve(RECORDS[stream])["properties"]
    assert record.keys() <= declared_stream(stream).schema["properties"].keys()
    cursor = resolve(envelope["cursor"])["properties"]
    kinds = {name: field["type"] for name, field in cursor.items()}
    assert kinds == {"next": "string", "has_more": "boolean"}
