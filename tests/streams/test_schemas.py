"""The streams' schemas, which are drawn from the API's contract."""

import pytest

from tap_leadintent.openapi import ComputedColumn, record_schema
from tests.support.contract import properties
from tests.support.helpers import STREAMS, Json, declared_stream


@pytest.mark.parametrize("name", STREAMS)
def test_what_warehouses_need_of_a_schema(name: str) -> None:
    schema = declared_stream(name).schema
    columns = schema["properties"]
    key = "record_key" if "record_key" in columns else "id"
    for field, value in properties(schema):
        declared = value["type"]
        types = {declared} if isinstance(declared, str) else {*declared}
        assert ("null" in types) is (field != key), field
        assert len(types - {"null"}) == 1, field
        assert value.get("format", "date-time") == "date-time", field
        assert "required" not in value, field
        if "object" in types:
            assert value["additionalProperties"] is True, field
            assert value.get("properties") != {}, field
    assert "required" not in schema


def test_a_documented_array_is_a_column_without_items() -> None:
    """With them, target-postgres makes `jsonb[]` and fails on nested arrays."""
    text: Json = {"type": ["string", "null"]}
    computed = ComputedColumn(
        "tags",
        {"type": "array", "items": text},
        lambda *_: None,
    )
    columns = record_schema("Lead", computed)["properties"]
    assert columns["tags"] == {"type": "array"}
