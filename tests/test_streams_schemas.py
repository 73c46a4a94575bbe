"""The streams' schemas, which are drawn from the API's contract."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.contract import properties, walk
from tests.support.helpers import STREAMS, declared_stream


@pytest.fixture(params=STREAMS)
def schema(request: pytest.FixtureRequest) -> dict[str, Any]:
    return dict(declared_stream(request.param).schema)


def test_only_the_key_is_not_nullable(schema: dict[str, Any]) -> None:
    fixed = [
        name
        for name, column in schema["properties"].items()
        if "null" not in column["type"]
    ]
    assert fixed == (["record_key"] if "record_key" in schema["properties"] else ["id"])


def test_nested_values_are_nullable(schema: dict[str, Any]) -> None:
    for name, value in properties(schema):
        assert "null" in value["type"] or name in {"id", "record_key"}, name


def test_nothing_is_required(schema: dict[str, Any]) -> None:
    assert not [where for where, _ in walk(schema) if where.endswith("/required")]


def test_nested_objects_are_open_and_never_empty(schema: dict[str, Any]) -> None:
    objects = {
        name: value for name, value in properties(schema) if "object" in value["type"]
    }
    assert "additional_properties" in objects
    for name, value in objects.items():
        assert value["additionalProperties"] is True, name
        assert value.get("properties") != {}, name


def test_arrays_at_the_top_have_no_items(schema: dict[str, Any]) -> None:
    """With `items`, target-postgres makes `jsonb[]` and fails on nested arrays."""
    for name, column in schema["properties"].items():
        assert "items" not in column, name


def test_few_types(schema: dict[str, Any]) -> None:
    for name, value in properties(schema):
        types = {value["type"]} if isinstance(value["type"], str) else value["type"]
        assert len({*types} - {"null"}) == 1, name
        assert "integer" not in types, name
        assert value.get("format", "date-time") == "date-time", name


@pytest.mark.parametrize("name", STREAMS)
def test_schema_is_normalised_once(name: str) -> None:
    one, other = declared_stream(name), declared_stream(name)
    assert one is not other
    assert one.schema is one.schema
    assert one.schema is other.schema
