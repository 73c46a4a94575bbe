"""The sandbox returns and accepts what the OpenAPI description says."""

from typing import Any

import pytest

from tap_leadintent.openapi import PATHS, is_documented, record_fields
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tests.support.asking import page
from tests.support.contract import (
    properties,
    request_schema,
    response_schema,
    validator,
)


def test_each_endpoint_of_openapi_json_is_served() -> None:
    assert ENDPOINTS.keys() == PATHS.keys()
    for name, endpoint in ENDPOINTS.items():
        assert endpoint.path == PATHS[name]


@pytest.mark.parametrize("stream", ENDPOINTS)
def test_responses_match_their_schema(sandbox: Sandbox, stream: str) -> None:
    response = page(sandbox, stream)
    assert response["data"]
    validator(response_schema(stream)).validate(response)


@pytest.mark.parametrize("stream", [*filter(is_documented, ENDPOINTS)])
def test_exactly_the_documented_fields_occur(sandbox: Sandbox, stream: str) -> None:
    seen: set[str] = set()
    for record in sandbox.records(stream):
        seen.update(paths(record))
    schema = {"properties": record_fields(stream)}
    declared = dict(properties(schema))
    assert seen == declared.keys()


@pytest.mark.parametrize("stream", ENDPOINTS)
def test_documented_filters_and_ranges_are_accepted(stream: str) -> None:
    fields = request_schema(stream)["properties"]
    endpoint = ENDPOINTS[stream]
    ranges = set()
    for name, field in fields.items():
        if "start_time" in str(field):
            ranges.add(name)
    assert ranges == set(endpoint.ranges)
    # The names of an agent's filters are not shown; those of the sandbox are its own.
    filters = endpoint.filters if stream != "signal_agents" else {}
    named = fields.keys() - {"cursor", *ranges}
    assert named == filters.keys()


def paths(value: Any, prefix: str = "") -> list[str]:
    """Return the dotted paths of all fields of a record."""
    found: list[str] = []
    if isinstance(value, list):
        for item in value:
            found += paths(item, prefix)
        return found
    if not isinstance(value, dict):
        return found
    for name, item in value.items():
        path = prefix + name
        found.append(path)
        found += paths(item, f"{path}.")
    return found
