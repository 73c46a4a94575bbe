"""The API's contract: the document, and what it says of each field."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support.contract import (
    API,
    OPERATIONS,
    properties,
    request_schema,
    resolve,
    response_schema,
    walk,
)
from tests.support.helpers import STREAMS, declared_stream

RECORDS = {
    "SignalAgent": "signal_agents",
    "Lead": "leads",
    "SignalAccount": "signal_accounts",
    "MonitoredAccount": "monitored_accounts",
    "Observation": "observations",
    "CustomSignal": "custom_signals",
    "MonitoredLead": "monitored_leads",
}
ALL_SCHEMAS = {
    **{f"request of {stream}": request_schema(stream) for stream in STREAMS},
    **{f"response of {stream}": response_schema(stream) for stream in STREAMS},
    **API["components"]["schemas"],
}


# The document


def test_operations() -> None:
    assert sorted(OPERATIONS) == sorted(STREAMS)
    for path, methods in API["paths"].items():
        assert path.startswith("/v1/")
        assert methods.keys() == {"post"}
        assert methods["post"]["summary"]
        assert methods["post"]["requestBody"]["required"] is True
        for response in methods["post"]["responses"].values():
            assert response["description"]


@pytest.mark.parametrize("stream", STREAMS)
def test_path(stream: str) -> None:
    assert API["paths"][declared_stream(stream).path]["post"] is OPERATIONS[stream]


def test_references_lead_somewhere() -> None:
    references = [node for where, node in walk(API) if where.endswith("/$ref")]
    assert references
    for reference in references:
        assert resolve({"$ref": reference})["type"] == "object"


@pytest.mark.parametrize("schema", ALL_SCHEMAS.values(), ids=ALL_SCHEMAS)
def test_schema(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)
    assert schema["description"]
    for name, value in properties(schema):
        resolved = resolve(value)
        assert resolved["description"], name
        assert isinstance(resolved["type"], str), name
        assert resolved["type"] != "array" or resolved["items"], name


@pytest.mark.parametrize(
    ("component", "documented"),
    [
        ("SignalAccount", set()),
        ("MonitoredAccount", set()),
        ("Observation", {"observed_at"}),
        ("CustomSignal", set()),
        ("MonitoredLead", set()),
    ],
)
def test_what_is_not_documented_is_marked(component: str, documented: set[str]) -> None:
    schema = API["components"]["schemas"][component]
    marked = {
        name
        for name, value in schema["properties"].items()
        if value.get("x-undocumented") is True
    }
    assert schema["x-undocumented"] is True
    assert schema["properties"].keys() - marked == documented
    for name in marked:
        assert "not shown" in schema["properties"][name]["description"].lower()


# What the API description says, field by field

STRINGS = "array of string"
RANGE = {"": "object", "start_time": "date-time", "end_time": "date-time"}


def documented(schema: dict[str, Any]) -> dict[str, str]:
    """Give the kind of each property by its dotted name."""
    kinds = {}
    for name, value in properties(schema):
        resolved = resolve(value)
        kind = resolved.get("format", resolved["type"])
        items = resolved.get("items", {}).get("type")
        kinds[name] = f"{kind} of {items}" if items else kind
        if resolved is not value:
            for inner, inner_value in properties(resolved):
                kinds[f"{name}.{inner}"] = inner_value["type"]
    return kinds


def time_range(name: str) -> dict[str, str]:
    return {f"{name}.{end}".rstrip("."): kind for end, kind in RANGE.items()}


CURSOR = {"cursor": "object", "cursor.limit": "integer", "cursor.after": "string"}
MONITOR_FILTERS = dict.fromkeys(("account_ids", "signals", "statuses"), STRINGS)


@pytest.mark.parametrize(
    ("stream", "fields"),
    [
        ("signal_agents", {}),
        (
            "leads",
            {
                "signals": STRINGS,
                "sheet_ids": STRINGS,
                "company_ids": STRINGS,
                "lead_country_codes": STRINGS,
                "company_country_codes": STRINGS,
                **time_range("date_found"),
                **time_range("latest_signal"),
            },
        ),
        (
            "signal_accounts",
            {**time_range("date_found"), **time_range("latest_signal")},
        ),
        ("monitored_accounts", {**MONITOR_FILTERS, **time_range("latest_activity")}),
        ("observations", {**MONITOR_FILTERS, **time_range("observed_at")}),
        ("custom_signals", {}),
        ("monitored_leads", time_range("latest_activity")),
    ],
)
def test_request_fields(stream: str, fields: dict[str, str]) -> None:
    assert documented(request_schema(stream)) == {**fields, **CURSOR}


@pytest.mark.parametrize(("component", "stream"), RECORDS.items())
def test_envelope(component: str, stream: str) -> None:
    envelope = response_schema(stream)
    assert documented(envelope) == {
        "data": "array",
        "cursor": "object",
        "cursor.next": "string",
        "cursor.has_more": "boolean",
    }
    items = envelope["properties"]["data"]["items"]
    assert items == {"$ref": f"#/components/schemas/{component}"}


def test_largest_page() -> None:
    limit = API["components"]["schemas"]["CursorRequest"]["properties"]["limit"]
    assert (limit["minimum"], limit["maximum"]) == (1, 100)
