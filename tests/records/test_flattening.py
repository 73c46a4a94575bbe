"""Flat records carry the columns of their schema, and what has none is kept."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from singer_sdk.helpers._flattening import FlatteningOptions, flatten_record

from tap_leadintent.records.flattening import Flattening
from tests.support.flattening import (
    NUMBER,
    OBJECT,
    TEXT,
    Noting,
    flattening,
    opened,
)
from tests.support.helpers import declared_stream, exact_json
from tests.support.shaping import shape


def flat(
    fields: dict[str, Any], record: dict[str, Any], depth: int = 1, **options: Any
) -> dict[str, Any]:
    made, _ = flattening(fields, depth, **options)
    found = made.record({"additional_properties": None, **record})
    assert found.keys() <= made.schema["properties"].keys()
    Draft202012Validator(made.schema).validate(found)
    rest = found.pop("additional_properties")
    return {**found, "rest": rest and json.loads(rest)}


COMPANY = {"id": TEXT, "company": opened(name=TEXT, hq=opened(city=TEXT))}


@pytest.mark.parametrize(
    ("depth", "columns", "rest"),
    [
        (
            1,
            {"company__name": "n", "company__hq": '{"city":"c","zip":{"code":1}}'},
            {"company": {"industry": "i", "sizes": {"min": 1}}},
        ),
        (
            2,
            {"company__name": "n", "company__hq__city": "c"},
            {
                "company": {
                    "industry": "i",
                    "sizes": {"min": 1},
                    "hq": {"zip": {"code": 1}},
                }
            },
        ),
        (
            9,
            {"company__name": "n", "company__hq__city": "c"},
            {
                "company": {
                    "industry": "i",
                    "sizes": {"min": 1},
                    "hq": {"zip": {"code": 1}},
                }
            },
        ),
    ],
)
@pytest.mark.parametrize("separator", ["__", "_", ".", ""])
def test_new_nested_fields_stay_nested_objects(
    depth: int, columns: dict[str, Any], rest: dict[str, Any], separator: str
) -> None:
    hq = {"city": "c", "zip": {"code": 1}}
    company = {"name": "n", "industry": "i", "sizes": {"min": 1}, "hq": hq}
    record = {"id": "1", "company": company}
    found = flat(COMPANY, record, depth, separator=separator)
    columns = {name.replace("__", separator): v for name, v in columns.items()}
    assert found == {"id": "1", **columns, "rest": rest}


def test_what_was_kept_before_stays_beside_it() -> None:
    record = {"company": {"new": 1}, "additional_properties": {"other": 2}}
    found = flat(COMPANY, record)
    assert found["rest"] == {"company": {"new": 1}, "other": 2}
    assert flat(COMPANY, {"additional_properties": {"a": {"b": 1}}})["rest"] == {
        "a": {"b": 1}
    }


@pytest.mark.parametrize("company", [None, ..., {}, {"name": None}], ids=str)
def test_columns_of_an_object_that_is_not_there_are_null(company: object) -> None:
    record = {} if company is ... else {"company": company}
    assert flat(COMPANY, record) == {
        "id": None,
        "company__name": None,
        "company__hq": None,
        "rest": None,
    }


def test_a_column_that_cannot_be_null_is_absent_instead() -> None:
    plain = {"company": opened(name={"type": "string"})}
    assert flat(plain, {"company": None}) == {"rest": None}


def test_a_new_field_does_not_take_the_column_of_another() -> None:
    """Named alike once they are flat: `company_hq` and the field `hq` of `company`."""
    fields = {"company_hq": TEXT, "company": opened(name=TEXT), "a": opened(b_c=TEXT)}
    record = {
        "company_hq": None,
        "company": {"hq": "x"},
        "a": {"b_c": "kept", "b": {"c": "new"}},
    }
    assert flat(fields, record, 2, separator="_") == {
        "company_hq": None,
        "company_name": None,
        "a_b_c": "kept",
        "rest": {"company": {"hq": "x"}, "a": {"b": {"c": "new"}}},
    }


def test_shortened_names() -> None:
    fields = {"id": TEXT, "organization": opened(headquarters=TEXT)}
    record = {"organization": {"headquarters": "x", "new": 1}}
    made, noted = flattening(fields, max_key_length=12)
    columns = made.schema["properties"].keys() - {"id", "ap"}
    assert all(len(column) < 20 for column in columns)
    found = made.record({**record, "additional_properties": {"a": 1}})
    assert {found[column] for column in columns} == {"x"}
    assert json.loads(found["ap"]) == {"organization": {"new": 1}, "a": 1}
    assert noted == ["organization.new"]


def test_two_fields_with_one_column_are_an_error() -> None:
    fields = {"a_b": TEXT, "a": opened(b=TEXT)}
    with pytest.raises(ValueError, match="a_b"):
        flattening(fields, separator="_")


def test_fields_that_no_column_holds_are_noted() -> None:
    made, noted = flattening(COMPANY, 2)
    made.record({"company": {"a": {"x": 1}, "hq": {"b": 1}}})
    assert noted == ["company.a", "company.hq.b"]


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ({"type": ["array", "null"]}, [1, "ü"], '[1,"\\u00fc"]'),
        (OBJECT, {"a": 1}, '{"a":1}'),
        ({}, 5, "5"),
        ({}, "text", "text"),
        ({"type": ["array", "integer", "null"]}, 5, "5"),
        (NUMBER, 1.5, 1.5),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", "x"),
    ],
    ids=str,
)
def test_values(column: dict[str, Any], value: object, text: object) -> None:
    assert flat({"x": column}, {"x": value})["x"] == text


TIME = {"type": ["string", "null"], "format": "date-time"}
UTC = "2026-03-01T06:15:00.000000Z"


@pytest.mark.parametrize(
    ("column", "value", "held", "kept", "noted"),
    [
        (TIME, "2026-03-01T12:00:00+05:45", UTC, None, False),
        (TIME, "2026-03-01T06:15:00.0000001Z", UTC, True, False),
        (TIME, "soon", None, True, True),
        (TIME, "", None, True, True),
        (NUMBER, Decimal("1e400"), None, True, True),
        (NUMBER, 1.5, 1.5, None, False),
        ({"type": ["integer", "null"]}, 2**63, None, True, True),
        ({"type": ["integer", "null"]}, Decimal("2.0"), 2, None, False),
        ({"type": ["string", "null"], "format": "date"}, "1/2", None, True, True),
        (TIME, None, None, None, False),
    ],
    ids=str,
)
def test_a_nested_field_is_held_to_its_column_like_others(
    column: dict[str, Any], value: object, held: object, kept: object, *, noted: bool
) -> None:
    """Within an object, which a warehouse stores as JSON, these did not matter."""
    made, noted_names = flattening({"signal": opened(x=column)})
    found = made.record({"signal": {"x": value}})
    assert found["signal__x"] == held
    assert type(found["signal__x"]) is type(held)
    rest = found["additional_properties"]
    assert (exact_json(rest) if rest else None) == (kept and {"signal": {"x": value}})
    assert noted_names == (["contradicted: signal__x"] if noted else [])


def test_a_column_that_the_sdk_flattens_away_is_kept() -> None:
    either = {"anyOf": [{"type": "number"}, {"type": "null"}]}
    assert flat({"x": either}, {"x": 1}) == {"rest": {"x": 1}}


def test_additional_properties_are_not_taken_apart() -> None:
    noted: list[str] = []
    options = FlatteningOptions(enabled=True, max_level=3)
    fields = {"additional_properties": opened(known=TEXT)}
    made = Flattening({"properties": fields}, options, Noting(noted))
    assert made.schema["properties"].keys() == {"additional_properties"}
    rest = {"known": "x", "other": 1}
    assert made.record({"additional_properties": rest}) == {
        "additional_properties": '{"known":"x","other":1}'
    }


@pytest.mark.parametrize("name", ["leads", "signal_agents"])
@pytest.mark.parametrize("depth", [1, 2, 5])
def test_what_the_schema_knows_is_flattened_as_the_sdk_does(
    name: str, depth: int
) -> None:
    schema = declared_stream(name).schema
    options = FlatteningOptions(enabled=True, max_level=depth)
    made = Flattening(schema, options, Noting([]))
    record: dict[str, Any] = {"id": "1", "title": "x", "name": "n", "new": [1]}
    for field, column in schema["properties"].items():
        if "properties" in column and field != "additional_properties":
            record[field] = dict.fromkeys(column["properties"])
    shaped = shape(name, record)
    theirs = flatten_record(shaped, made.schema, max_level=depth)
    assert {**made.record(shaped), **theirs} == made.record(shaped)
