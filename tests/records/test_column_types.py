"""Which values fit the type that a column declares."""

from typing import Any

import pytest

from tests.support.columns import FLAG, INTEGER, NUMBER, TEXT, TIME
from tests.support.shaping import shape

DATE = {"type": "string", "format": "date"}
ODD_OBJECT = {
    "type": "object",
    "properties": {
        "day": DATE,
        "n": {"enum": [1]},
    },
}
UTC = "2026-02-28T19:15:00.000000Z"

FITTING: list[tuple[Any, Any, Any]] = [
    (TEXT, "", ""),
    (FLAG, False, False),
    (NUMBER, 12345678901234567890123, 12345678901234567890123),
    (NUMBER, 0.1, 0.1),
    (
        {
            "type": "number",
            "minimum": 0.5,
            "multipleOf": 0.01,
        },
        0.57,
        0.57,
    ),
    (INTEGER, -(2**63), -(2**63)),
    (INTEGER, 2**63 - 1, 2**63 - 1),
    (INTEGER, 1e3, 1000),
    (TIME, "2026-03-01T01:00:00+05:45", UTC),
    ({"anyOf": [TIME, {"type": "null"}]}, "2026-03-01T01:00:00+05:45", UTC),
    (DATE, "2026-03-01", "2026-03-01"),
    (
        {
            "type": "array",
            "items": {"type": "string"},
        },
        ["a"],
        ["a"],
    ),
    (
        {
            "type": "object",
            "properties": {"n": {"enum": [1]}},
        },
        {"n": 1},
        {"n": 1},
    ),
    (ODD_OBJECT, {"day": "soon", "n": 1}, {"day": "soon", "n": 1}),
    ({}, {"any": "thing"}, {"any": "thing"}),
]


@pytest.mark.parametrize(
    ("schema", "value", "column"),
    FITTING,
    ids=repr,
)
def test_a_value_of_the_type_of_its_column(
    schema: Any,
    value: object,
    column: object,
) -> None:
    shaped = shape(
        "leads",
        {"id": "1", "x": value},
        more_columns={"x": schema},
    )
    assert type(shaped["x"]) is type(column)
    assert shaped["x"] == column
    assert shaped["additional_properties"] is None


CONTRADICTING: list[tuple[Any, Any]] = [
    (TEXT, 5),
    (FLAG, 1),
    (NUMBER, "1"),
    (NUMBER, True),
    (NUMBER, 10**400),
    ({"type": "number", "minimum": 0.5}, 0.49),
    (INTEGER, 1.5),
    (INTEGER, True),
    (INTEGER, 2**63),
    (
        {
            **INTEGER,
            "title": "Confidence",
            "default": 1,
        },
        2**63,
    ),
    (TIME, "yesterday"),
    ({"anyOf": [TIME, TEXT]}, "yesterday"),
    (DATE, "yesterday"),
    (
        {
            "type": "string",
            "enum": ["a", "b"],
        },
        "c",
    ),
    (
        {
            "type": "array",
            "items": {"type": "string"},
        },
        [1],
    ),
    (
        {
            "type": "object",
            "properties": {'n"': NUMBER},
        },
        {'n"': "1"},
    ),
    ({"type": "object", "additionalProperties": False}, {"n": 1}),
]


@pytest.mark.parametrize(("schema", "value"), CONTRADICTING, ids=repr)
def test_a_value_that_contradicts_its_column(schema: Any, value: object) -> None:
    fitting = {
        "title": "CTO",
        "company": {"domain": "example.com"},
    }
    record = {
        "id": "1",
        "x": value,
        **fitting,
    }
    shaped = shape(
        "leads",
        record,
        more_columns={"x": schema},
    )
    assert shaped.get("x") is None
    assert shaped["additional_properties"] == {"x": value}
    for name, value_of_it in fitting.items():
        assert shaped[name] == value_of_it


def test_nested_times_pass_as_they_are() -> None:
    shaped = shape(
        "leads",
        {
            "id": "1",
            "signal": {"observed_at": "yesterday"},
        },
    )
    assert shaped["signal"] == {"observed_at": "yesterday"}
    assert shaped["additional_properties"] is None


def test_a_time_finer_than_its_column_is_kept_beside_it() -> None:
    text = "2026-03-01T00:00:00.00000001Z"
    shaped = shape("observations", {"id": "1", "observed_at": text})
    assert shaped["observed_at"] == "2026-03-01T00:00:00.000000Z"
    assert shaped["additional_properties"] == {"observed_at": text}
