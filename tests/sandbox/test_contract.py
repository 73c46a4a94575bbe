"""The sandbox returns and accepts what the OpenAPI description says."""

import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tests.support.asking import page
from tests.support.contract import API, properties, request_schema, response_schema

FORMATS = FormatChecker(formats=())


@FORMATS.checks("date-time")
def _is_utc(value: object) -> bool:
    pattern = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z"
    return not isinstance(value, str) or re.fullmatch(pattern, value) is not None


def validator(schema: dict[str, Any]) -> Draft202012Validator:
    rooted = {**schema, "components": API["components"]}
    return Draft202012Validator(rooted, format_checker=FORMATS)


@pytest.mark.parametrize("stream", ENDPOINTS)
def test_responses_match_their_schema(sandbox: Sandbox, stream: str) -> None:
    response = page(sandbox, stream)
    assert response["data"]
    validator(response_schema(stream)).validate(response)


@pytest.mark.parametrize(
    ("stream", "name"), [("signal_agents", "SignalAgent"), ("leads", "Lead")]
)
def test_exactly_the_documented_fields_occur(
    sandbox: Sandbox, stream: str, name: str
) -> None:
    seen: set[str] = set()
    for record in sandbox.records(stream):
        seen |= set(paths(record))
    declared = properties(API["components"]["schemas"][name])
    assert seen == {field for field, _ in declared}


@pytest.mark.parametrize("stream", ENDPOINTS)
def test_documented_filters_and_ranges_are_accepted(stream: str) -> None:
    fields = request_schema(stream)["properties"]
    endpoint = ENDPOINTS[stream]
    ranges = {name for name, field in fields.items() if "start_time" in str(field)}
    assert ranges == set(endpoint.ranges)
    assert set(fields) - {"cursor"} <= {*endpoint.filters, *endpoint.ranges}


def paths(value: Any, prefix: str = "") -> list[str]:
    """Return the dotted paths of all fields of a record."""
    if isinstance(value, list):
        return [path for item in value for path in paths(item, prefix)]
    if not isinstance(value, dict):
        return []
    found = []
    for name, item in value.items():
        found += [prefix + name, *paths(item, f"{prefix}{name}.")]
    return found
