"""Typed columns for streams whose fields are not documented."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tap_leadintent.discovery import infer
from tap_leadintent.openapi import TAP_COLUMNS

DECLARED = ("id", "observed_at", "record_key", "additional_properties")

TEXT = {"type": ["string", "null"]}
TIME = {"type": ["string", "null"], "format": "date-time"}
NUMBER = {"type": ["number", "null"]}
FLAG = {"type": ["boolean", "null"]}
OBJECT = {"type": ["object", "null"], "additionalProperties": True}
ARRAY = {"type": ["array", "null"]}

NOON, LATER = "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.5+05:45"


def sample(name: str, *values: Any) -> list[dict[str, Any]]:
    """Give records with one field; an ellipsis stands for one without it."""
    return [{"id": "1"} | ({} if v is ... else {name: v}) for v in values]


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """Give a schema without its description, which has to tell of the inference."""
    assert "inferred" in schema["description"]
    return {name: part for name, part in schema.items() if name != "description"}


@pytest.mark.parametrize(
    ("values", "schema"),
    [
        (["a", "", None, ...], TEXT),
        ([True, False], FLAG),
        ([1, 0], NUMBER),
        ([Decimal("1.5"), 2, None], NUMBER),
        ([10**30, Decimal("1e400")], NUMBER),
        ([{"a": 1}, {}, {"b": {"c": [1]}}], OBJECT),
        ([[], [1, "a"], [[{}]]], ARRAY),
        ([NOON], TEXT),
    ],
)
def test_columns(values: list[Any], schema: dict[str, Any]) -> None:
    columns, unsafe_names = infer(sample("x", *values), DECLARED)
    assert {name: described(column) for name, column in columns.items()} == {
        "x": schema
    }
    assert unsafe_names == []


@pytest.mark.parametrize(
    "values",
    [
        [...],
        [None, ...],
        [1, "1"],
        [1, True],
        [[], "a", None],
        [NOON, 1],
    ],
    ids=repr,
)
@pytest.mark.parametrize("name", ["x", "x_at"])
def test_what_stays_out(name: str, values: list[Any]) -> None:
    assert infer(sample(name, *values), DECLARED) == ({}, [])


@pytest.mark.parametrize(
    ("name", "values", "schema"),
    [
        ("created_at", [NOON, LATER, None, ...], TIME),
        ("start_time", [NOON], TIME),
        ("created_at", [NOON, "2026-03-01"], TEXT),
        ("created_at", [NOON, "2026-03-01T12:00:00"], TEXT),
        ("created_at", ["2026-02-30T12:00:00Z"], TEXT),
        ("created_at", ["20260301T120000Z"], TEXT),
        ("created_at", ["9999-12-31T23:59:59-01:00"], TEXT),
        ("chat", [NOON], TEXT),
    ],
)
def test_times(name: str, values: list[Any], schema: dict[str, Any]) -> None:
    columns, _ = infer(sample(name, *values), DECLARED)
    assert described(columns[name]) == schema


@pytest.mark.parametrize(
    "names",
    [
        ["STATUS", "Status", "status"],
        ["ID"],
        ["Record_Key"],
        ["record_key"],
        ["additional_properties"],
        ["window_end"],
        ["signal_observed_at"],
        ["x" * 64],
        ["größe"],
        ["a.b"],
        ["1st"],
        [""],
        ["_sdc_batched_at"],
    ],
    ids=repr,
)
def test_names_that_stay_out(names: list[str]) -> None:
    fields = dict.fromkeys(names, "a")
    columns, unsafe_names = infer([{"id": "1", "fine": 1, **fields}], DECLARED)
    assert columns.keys() == {"fine"}
    assert unsafe_names == sorted({*names} - {*TAP_COLUMNS})


@pytest.mark.parametrize("name", ["x" * 63, "_x", "X1", "userId"])
def test_names_that_become_columns(name: str) -> None:
    assert infer([{name: "a"}], DECLARED)[0].keys() == {name}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False)
    | st.text(max_size=3) | st.sampled_from([NOON, LATER]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2)
    ),
    max_leaves=4,
)  # fmt: skip
fields = st.sampled_from(["a", "A", "b_at", "id", "record_key", "x" * 64]) | st.text()
samples = st.lists(st.dictionaries(fields, values, max_size=5), max_size=6)


@given(samples, st.randoms())
def test_order_does_not_matter(records: list[dict[str, Any]], random: Any) -> None:
    shuffled = [dict(random.sample([*r.items()], len(r))) for r in records]
    random.shuffle(shuffled)
    one, other = infer(records, DECLARED), infer(shuffled, DECLARED)
    assert json.dumps(one) == json.dumps(other)


@given(samples)
def test_the_sample_fits_its_columns(records: list[dict[str, Any]]) -> None:
    columns, unsafe_names = infer(records, DECLARED)
    assert not columns.keys() & {*unsafe_names, *DECLARED}
    assert len({name.lower() for name in columns}) == len(columns)
    for name, column in columns.items():
        Draft202012Validator.check_schema(column)
        for record in records:
            Draft202012Validator(column).validate(record.get(name))
