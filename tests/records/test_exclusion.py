"""Fields that a user excludes are in no record and in no schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tap_leadintent.records.exclusion import Exclusion

RECORD = {
    "id": "1",
    "name": {"first": "Ada", "last": "Lovelace"},
    "refs": [{"url": "u", "tags": [{"url": "v"}]}, {"url": "w"}, "url", None],
    "a.b": 1,
    "a": {"b": 2, "c": {"d": 3}, "c.d": 4},
    "x": {"a.b": 5, "a": {"b": 6, "c": 7}},
    "text": "url",
    "": 0,
    "nothing": None,
}

CASES: list[tuple[list[str], dict[str, Any]]] = [
    (["absent", "absent.too", "id.too", "nothing.too"], {}),
    (["name.first", "name.last"], {"name": {}}),
    (
        ["refs.tags.url"],
        {"refs": [{"url": "u", "tags": [{}]}, {"url": "w"}, "url", None]},
    ),
    (["a.b"], {"a.b": ..., "a": {"c": {"d": 3}, "c.d": 4}}),
    (["x.a.b"], {"x": {"a": {"c": 7}}}),
]


@pytest.mark.parametrize(("names", "change"), CASES, ids=[str(n) for n, _ in CASES])
def test_records(names: list[str], change: dict[str, Any]) -> None:
    before = json.dumps(RECORD)
    expected = {n: v for n, v in {**RECORD, **change}.items() if v is not ...}
    exclusion = Exclusion(names)
    assert exclusion.record(RECORD) == expected
    assert json.dumps(RECORD) == before
    assert bool(exclusion) is bool(names)


def test_what_is_taken() -> None:
    exclusion = Exclusion(["signal", "company.name", "a.b"])
    assert exclusion.takes("signal")
    assert exclusion.takes("signal", "observed_at")
    assert exclusion.takes("company", "name")
    assert exclusion.takes("a", "b", "c")
    assert not exclusion.takes("company")
    assert not exclusion.takes("company", "id")


def test_schemas() -> None:
    text = {"type": ["string", "null"]}
    items = {"type": "object", "properties": {"url": text, "n": text}, "required": []}
    schema: dict[str, Any] = {
        "type": "object",
        "required": ["id", "name"],
        "properties": {
            "id": text,
            "name": text,
            "company": {
                "type": "object",
                "properties": {"name": text, "id": text},
                "required": ["name"],
            },
            "refs": {"type": "array", "items": {**items, "required": ["url"]}},
            "any": {"anyOf": [{"properties": {"x": text, "y": text}}, text]},
            "open": {"type": "object"},
        },
    }
    before = json.dumps(schema)
    names = ["name", "company.name", "refs.url", "any.x", "open.x"]
    assert Exclusion(names).schema(schema) == {
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": text,
            "company": {"type": "object", "properties": {"id": text}, "required": []},
            "refs": {"type": "array", "items": {**items, "properties": {"n": text}}},
            "any": {"anyOf": [{"properties": {"y": text}}, text]},
            "open": {"type": "object"},
        },
    }
    assert json.dumps(schema) == before


names = st.sampled_from(["a", "b", "a.b", "b.a", "a.b.a", ""])
values = st.recursive(
    st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=8,
)


def paths(value: object, *above: str) -> set[tuple[str, ...]]:
    """Give the path of each field of a value."""
    if isinstance(value, list):
        return {path for item in value for path in paths(item, *above)}
    if not isinstance(value, dict):
        return set()
    here = {(*above, name) for name in value}
    return here.union(*(paths(field, *above, name) for name, field in value.items()))


def schema_of(value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        properties = {name: schema_of(field) for name, field in value.items()}
        return {"properties": properties, "required": [*properties]}
    return {}


@given(st.dictionaries(names, values, max_size=4), st.sets(names | st.just("a.b.c")))
def test_nothing_else_is_taken(record: dict[str, Any], excluded: set[str]) -> None:
    exclusion = Exclusion(excluded)
    left = exclusion.record(record)
    kept = {
        path
        for path in paths(record)
        if excluded.isdisjoint(".".join(path[:n]) for n in range(1, len(path) + 1))
    }
    assert paths(left) == kept
    Draft202012Validator(exclusion.schema(schema_of(record))).validate(left)
