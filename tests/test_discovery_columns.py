"""Typed columns for streams whose fields are not documented."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tap_leadintent.discovery import infer
from tests.support.columns import ARRAY, FLAG, NUMBER, OBJECT, TEXT, TIME

DECLARED = ("id", "observed_at", "record_key", "additional_properties")

INFERRED = "Not shown in the API description; type inferred from data."

NOON, LATER = "2026-03-01T12:00:00Z", "2026-03-01T12:00:00.5+05:45"


def sample(name: str, *values: Any) -> list[dict[str, Any]]:
    """Return records with one field; an ellipsis stands for one without it."""
    return [{"id": "1"} | ({} if v is ... else {name: v}) for v in values]


@pytest.mark.parametrize(
    ("name", "values", "schema"),
    [
        ("x", ["a", "", None, ...], TEXT),
        ("x", [True, False], FLAG),
        ("x", [1, 1.5, 10**30, None], NUMBER),
        ("x", [{"a": 1}, {}], OBJECT),
        ("x", [[], [1, "a"]], ARRAY),
        ("created_at", [NOON, LATER, None, ...], TIME),
        ("start_time", [NOON], TIME),
        ("created_at", [NOON, "2026-03-01"], TEXT),
        ("created_at", ["2026-02-30T12:00:00Z"], TEXT),
        ("chat", [NOON], TEXT),
    ],
)
def test_columns(name: str, values: list[Any], schema: dict[str, Any]) -> None:
    columns = infer(sample(name, *values), DECLARED)
    assert columns == {name: {**schema, "description": INFERRED}}


@pytest.mark.parametrize(
    "values", [[...], [None, ...], [1, "1"], [1, True], [NOON, 1]], ids=repr
)
def test_values_without_a_column(values: list[Any]) -> None:
    assert infer(sample("x_at", *values), DECLARED) == {}


@pytest.mark.parametrize(
    "names",
    [
        ["STATUS", "Status", "status"],
        ["ID"],
        ["Record_Key"],
        ["x" * 64],
        ["größe"],
        ["a.b"],
        ["1st"],
        [""],
        ["_sdc_batched_at"],
    ],
    ids=repr,
)
def test_names_without_a_column(names: list[str]) -> None:
    """Some warehouses refuse or confuse them."""
    fields = dict.fromkeys(names, "a")
    fine = dict.fromkeys(["x" * 63, "_x", "X1", "userId"], 1)
    assert infer([{"id": "1", **fine, **fields}], DECLARED).keys() == fine.keys()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False)
    | st.text(max_size=3) | st.sampled_from([NOON, LATER]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2)
    ),
    max_leaves=4,
)  # fmt: skip
fields = st.sampled_from(["a", "A", "b_at", "id", "record_key", "x" * 64]) | st.text()
samples = st.lists(st.dictionaries(fields, values, max_size=5), max_size=6)


@given(samples, st.randoms())
def test_the_sample_fits_its_columns_in_any_order(
    records: list[dict[str, Any]], random: Any
) -> None:
    columns = infer(records, DECLARED)
    assert columns.keys().isdisjoint(DECLARED)
    assert len({name.lower() for name in columns}) == len(columns)
    for name, column in columns.items():
        for record in records:
            Draft202012Validator(column).validate(record.get(name))
    shuffled = [dict(random.sample([*r.items()], len(r))) for r in records]
    random.shuffle(shuffled)
    assert [*infer(shuffled, DECLARED).items()] == [*columns.items()]
