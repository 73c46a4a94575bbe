"""Which values fit the type that a column declares."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.support.shaping import shape

TEXT = {"type": ["string", "null"]}
NUMBER = {"type": ["number", "null"]}
INTEGER = {"type": ["integer", "null"]}
FLAG = {"type": ["boolean", "null"]}
TIME = {"type": ["string", "null"], "format": "date-time"}

FITTING: list[tuple[Any, Any, Any]] = [
    (TEXT, "", ""),
    (FLAG, False, False),
    (NUMBER, 12345678901234567890123, 12345678901234567890123),
    (NUMBER, Decimal("0.1000"), Decimal("0.1000")),
    (NUMBER, 0.1, 0.1),
    ({"type": "number", "minimum": 0.5, "multipleOf": 0.01}, 0.57, 0.57),
    (NUMBER, Decimal("-0.0"), Decimal("-0.0")),
    (INTEGER, -(2**63), -(2**63)),
    (INTEGER, Decimal("1e3"), 1000),
    (TIME, "2026-03-01T01:00:00+05:45", "2026-02-28T19:15:00.000000Z"),
    (TIME, "2026-03-01T01:00:00", "2026-03-01T01:00:00.000000Z"),
    ({"anyOf": [TIME, {"type": "null"}]}, "2026-03-01T01:00:00Z",
     "2026-03-01T01:00:00.000000Z"),
    ({"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    ({"type": ["string", "integer"]}, 5, 5),
    ({}, {"any": "thing"}, {"any": "thing"}),
    ({"type": "string", "format": "date"}, "2026-03-01", "2026-03-01"),
    ({"type": "number", "minimum": Decimal("0.5")}, Decimal("0.5"), Decimal("0.5")),
    ({"type": "number", "multipleOf": Decimal("0.01")}, Decimal("0.07"),
     Decimal("0.07")),
    ({"type": "number", "multipleOf": 0.01}, Decimal("0.07"), Decimal("0.07")),
    ({"type": "array", "items": {"multipleOf": Decimal("0.5")}}, [1], [1]),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "value", "column"), FITTING, ids=repr)
def test_a_value_that_fits(schema: Any, value: object, column: object) -> None:
    shaped = shape("leads", {"id": "1", "x": value}, columns={"x": schema})
    assert (shaped["x"], str(shaped["x"])) == (column, str(column))
    assert type(shaped["x"]) is type(column)
    assert shaped["additional_properties"] is None


CONTRADICTING: list[tuple[Any, Any]] = [
    (TEXT, {"a": 1}),
    (TEXT, 5),
    (FLAG, 1),
    (NUMBER, "1"),
    (NUMBER, True),
    (NUMBER, Decimal("1e400")),
    (NUMBER, 1e-310),
    (INTEGER, 1.5),
    ({"type": "number", "multipleOf": 0.01}, 0.575),
    (NUMBER, Decimal("1e-400")),
    (INTEGER, 2**63),
    (INTEGER, Decimal("1.5")),
    (TIME, "yesterday"),
    (TIME, "2026-02-30T00:00:00Z"),
    (TIME, "9999-12-31T23:59:59-01:00"),
    (TIME, 1767225600),
    ({"anyOf": [TIME, TEXT]}, "yesterday"),
    ({"type": "string", "format": "date"}, "yesterday"),
    ({"type": "string", "format": "uuid"}, "1"),
    ({"type": "string", "enum": ["a", "b"]}, "c"),
    ({"type": "number", "minimum": Decimal("0.5")}, Decimal("0.49")),
    ({"type": "number", "multipleOf": Decimal("0.01")}, Decimal("0.075")),
    # Decimal arithmetic gives up on these, in targets too.
    ({"type": "number", "multipleOf": Decimal("0.01")}, Decimal("1e30")),
    ({"type": "number", "multipleOf": 2}, Decimal("1e30")),
    ({"type": ["array", "null"]}, {}),
    ({"type": "object", "properties": {"n'\"": NUMBER}}, {"n'\"": "1"}),
    ({"type": "object", "additionalProperties": False}, {"n": 1}),
]


@pytest.mark.parametrize(("schema", "value"), CONTRADICTING, ids=repr)
def test_a_value_that_contradicts_its_column(schema: Any, value: object) -> None:
    fitting = {"title": "CTO", "company": {"domain": "example.com"}}
    columns = {"x": schema}
    shaped = shape("leads", {"id": "1", "x": value, **fitting}, columns=columns)
    assert shaped.get("x") is None
    assert shaped["additional_properties"] == {"x": value}
    assert {name: shaped[name] for name in fitting} == fitting


def test_nested_times_pass_as_they_are() -> None:
    for text in ("yesterday", "2026-03-01T01:00:00+01:00"):
        shaped = shape("leads", {"id": "1", "signal": {"observed_at": text}})
        assert shaped["signal"] == {"observed_at": text}
        assert shaped["additional_properties"] is None


@pytest.mark.parametrize("digits", ["1234567", "0000001", "123456789"])
def test_a_time_finer_than_its_column_is_kept_beside_it(digits: str) -> None:
    text = f"2026-03-01T00:00:00.{digits}Z"
    shaped = shape("observations", {"id": "1", "observed_at": text})
    assert shaped["observed_at"] == f"2026-03-01T00:00:00.{digits[:6]}Z"
    assert shaped["additional_properties"] == {"observed_at": text}


def test_a_text_with_many_decimals_is_not_a_time() -> None:
    text = "version 1.12345678 of it"
    shaped = shape("leads", {"id": "1", "title": text, "full_name": 5})
    assert shaped["title"] == text
    assert shaped["additional_properties"] == {"full_name": 5}
