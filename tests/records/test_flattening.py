"""Flat records have the columns of their SCHEMA, and what has none is kept."""

from __future__ import annotations

import json
import logging
from collections import Counter
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from singer_sdk.helpers._flattening import FlatteningOptions, flatten_record

from tap_leadintent.records.flattening import Flattening
from tap_leadintent.records.notes import RecordNotes
from tests.support.helpers import declared_stream, exact_json
from tests.support.shaping import shape

QUIET = logging.getLogger("records.quiet")
QUIET.disabled = True

TEXT = {"type": ["string", "null"]}
NUMBER = {"type": ["number", "null"]}
TIME = {"type": ["string", "null"], "format": "date-time"}
OBJECT = {"type": ["object", "null"]}


def opened(**fields: Any) -> dict[str, Any]:
    """Give the schema of an object with these fields."""
    return {**OBJECT, "properties": fields}


def flattening(
    fields: dict[str, Any],
    depth: int = 1,
    notes: RecordNotes | None = None,
    **options: Any,
) -> Flattening:
    """Give what flattens records with these fields."""
    fields = {**fields, "additional_properties": {**OBJECT, "properties": {"x": TEXT}}}
    schema = {"type": "object", "properties": fields}
    options_ = FlatteningOptions(enabled=True, max_level=depth, **options)
    return Flattening(schema, options_, notes or RecordNotes(QUIET))


def flat(
    fields: dict[str, Any], record: dict[str, Any], depth: int = 1, **options: Any
) -> dict[str, Any]:
    made = flattening(fields, depth, **options)
    found = made.record({"additional_properties": None, **record})
    assert found.keys() <= made.schema["properties"].keys()
    Draft202012Validator(made.schema).validate(found)
    rest = found.pop("additional_properties")
    return {**found, "rest": rest and exact_json(rest)}


COMPANY = {"id": TEXT, "company": opened(name=TEXT, hq=opened(city=TEXT))}
HQ = {"city": "c", "zip": {"code": 1}}
SIZES = {"min": 1}
ODD = {"name": "n", "industry": "i", "sizes": SIZES, "hq": HQ}
RECORD = {"id": "1", "company": ODD}


@pytest.mark.parametrize(
    ("depth", "columns", "rest"),
    [
        (
            1,
            {"company__name": "n", "company__hq": '{"city":"c","zip":{"code":1}}'},
            {"company__industry": "i", "company__sizes": SIZES},
        ),
        (
            2,
            {"company__name": "n", "company__hq__city": "c"},
            {
                "company__industry": "i",
                "company__sizes__min": 1,
                "company__hq__zip": {"code": 1},
            },
        ),
    ],
)
@pytest.mark.parametrize("separator", ["__", "."])
def test_a_nested_field_without_a_column_is_kept_under_its_flat_name(
    depth: int, columns: dict[str, Any], rest: dict[str, Any], separator: str
) -> None:
    def named(found: dict[str, Any]) -> dict[str, Any]:
        return {name.replace("__", separator): v for name, v in found.items()}

    before = json.dumps(RECORD)
    found = flat(COMPANY, RECORD, depth, separator=separator)
    assert found == {"id": "1", **named(columns), "rest": named(rest)}
    assert json.dumps(RECORD) == before


def test_of_an_object_that_contradicts_its_column_only_that_value_is_kept() -> None:
    company = {"name": 5, "hq": HQ, "new": 1}
    record = {"company": None, "additional_properties": {"company": company, "x": 1}}
    assert flat(COMPANY, record, 2) == {
        "id": None,
        "company__name": None,
        "company__hq__city": "c",
        "rest": {
            "company__name": 5,
            "company__hq__zip": {"code": 1},
            "company__new": 1,
            "x": 1,
        },
    }
    record["additional_properties"] = {"company": "text"}
    assert flat(COMPANY, record)["rest"] == {"company": "text"}


@pytest.mark.parametrize("company", [None, ..., {}, {"name": None}], ids=str)
def test_an_object_that_is_null_leaves_nothing(company: object) -> None:
    record = {} if company is ... else {"company": company}
    columns = ("id", "company__name", "company__hq", "rest")
    assert flat(COMPANY, record) == dict.fromkeys(columns)


@pytest.mark.parametrize("value", ["Acme", "", 0, False, ["Acme"], []], ids=repr)
def test_what_is_no_object_where_the_schema_has_one_is_kept(value: object) -> None:
    found = flat({"company": opened(name=TEXT)}, {"company": value})
    assert found == {"company__name": None, "rest": {"company": value}}


def test_a_column_that_cannot_be_null_is_absent_instead() -> None:
    plain = {"company": opened(name={"type": "string"})}
    assert flat(plain, {"company": None}) == {"rest": None}


def test_shortened_names() -> None:
    fields = {"id": TEXT, "organization": opened(headquarters=TEXT)}
    record = {"organization": {"headquarters": "x", "new": 1}}
    made = flattening(fields, max_key_length=12)
    found = made.record({**record, "additional_properties": {"a": 1}})
    assert found.keys() == made.schema["properties"].keys()
    assert json.loads(found["ap"]) == {"org__new": 1, "a": 1}


def test_what_no_column_holds_is_told_under_its_flat_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    notes = RecordNotes(logging.getLogger("records"))
    made = flattening({"company": opened(at=TIME)}, notes=notes)
    made.record({"company": {"at": "soon", "new": 1}})
    notes.log(documented=True, show=str)
    unknown, contradicting = [record.getMessage() for record in caplog.records]
    assert "'company__new'" in unknown
    assert contradicting.endswith("'company__at' in 1 record")


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ({"type": ["array", "null"]}, [1, "ü"], '[1,"\\u00fc"]'),
        (OBJECT, {"a": 1}, '{"a":1}'),
        (NUMBER, 1.5, 1.5),
    ],
    ids=str,
)
def test_values(column: dict[str, Any], value: object, text: object) -> None:
    assert flat({"x": column}, {"x": value})["x"] == text


UTC = "2026-03-01T06:15:00.000000Z"


@pytest.mark.parametrize(
    ("column", "value", "held", "kept"),
    [
        (TIME, "2026-03-01T12:00:00+05:45", UTC, False),
        (TIME, "2026-03-01T06:15:00.0000001Z", UTC, True),
        (TIME, "soon", None, True),
        (NUMBER, Decimal("1e400"), None, True),
        (TEXT, 5, None, True),
        ({"type": ["integer", "null"]}, Decimal("2.0"), 2, False),
    ],
    ids=str,
)
def test_a_nested_field_is_held_to_its_column_like_others(
    column: dict[str, Any], value: object, held: object, *, kept: bool
) -> None:
    """Within an object, which a warehouse stores as JSON, these did not matter."""
    found = flat({"signal": opened(x=column)}, {"signal": {"x": value}})
    assert found.get("signal__x") == held
    assert found["rest"] == ({"signal__x": value} if kept else None)


@pytest.mark.parametrize("name", ["leads", "signal_agents"])
@pytest.mark.parametrize("depth", [1, 2])
def test_what_the_schema_knows_is_flattened_as_the_sdk_does(
    name: str, depth: int
) -> None:
    schema = declared_stream(name).schema
    options = FlatteningOptions(enabled=True, max_level=depth)
    made = Flattening(schema, options, RecordNotes(QUIET))
    record: dict[str, Any] = {"id": "1", "title": "x", "name": "n", "new": [1]}
    for field, column in schema["properties"].items():
        if "properties" in column and field != "additional_properties":
            record[field] = dict.fromkeys(column["properties"])
    shaped = shape(name, record)
    theirs = flatten_record(shaped, made.schema, max_level=depth)
    assert {**made.record(shaped), **theirs} == made.record(shaped)


names = st.sampled_from(["a", "b", "a_b", "b_a", "c"])
schemas = st.recursive(
    st.sampled_from([TEXT, {"type": ["array", "null"]}, OBJECT]),
    lambda inner: st.dictionaries(names, inner, max_size=3).map(lambda f: opened(**f)),
    max_leaves=8,
)
values = st.recursive(
    st.none() | st.sampled_from(["x", "y", "z"]),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def leaves(value: object) -> Counter[str]:
    """Count the texts that a value holds, also as JSON."""
    if isinstance(value, str) and value.startswith("{"):
        value = json.loads(value)
    if isinstance(value, dict):
        return sum((leaves(each) for each in value.values()), Counter())
    return Counter([value] if isinstance(value, str) else [])


@example(
    {"b_a": opened(c=TEXT), "b": opened(a=TEXT)},
    {"b": {"a": {}}, "b_a": {"c": "x"}},
    1,
    "_",
)
@example({"a_b": TEXT, "a": opened(c=TEXT)}, {"a_b": None, "a": {"b": "x"}}, 1, "_")
@given(
    st.dictionaries(names, schemas, max_size=4),
    st.dictionaries(names, values, max_size=4),
    st.integers(1, 3),
    st.sampled_from(["_", "__"]),
)
def test_nothing_is_lost_and_nothing_is_undeclared(
    fields: dict[str, Any], record: dict[str, Any], depth: int, separator: str
) -> None:
    try:
        made = flattening(fields, depth, separator=separator)
    except ValueError:
        return
    found = made.record(record)
    assert found.keys() == made.schema["properties"].keys()
    assert leaves(found) == leaves(record)
