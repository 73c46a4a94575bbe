"""Records that change their shape, or hold what kills pipelines, into PostgreSQL."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import entries, exact_json, only, raw_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run
    from tests.support.postgres import Rows


def is_told(value: Any, field: str, row: dict[str, Any]) -> bool:
    """Tell whether a row says what the API said of a field."""
    if value is None:
        return row.get(field) is None
    if field in (row["additional_properties"] or {}):
        return bool(row["additional_properties"][field] == value)
    column = row[field]
    if isinstance(column, datetime):
        return column == datetime.fromisoformat(value)
    return bool(column == value) and isinstance(column, bool) == isinstance(value, bool)


def assert_all_told(rows: Rows, records: list[dict[str, Any]]) -> None:
    """Assert that every value of the records is in the row, and no other record."""
    assert rows.keys() == {record["id"] for record in records}
    for record in records:
        row = rows[record["id"]]
        untold = {f: v for f, v in record.items() if not is_told(v, f, row)}
        assert untold == {}


DRIFT: dict[str, list[dict[str, Any]]] = {
    "custom_signals": [
        {"name": {"en": "Hiring"}, "active": "yes", "created_at": "soon"},
        {"name": 5, "active": 1, "created_at": 1767225600, "new": [[1], {"a": 2.50}]},
        {"name": ["a"], "active": None, "created_at": "2026-03-01T12:00:00+05:45"},
        {},
    ],
    "monitored_accounts": [
        {"checks": "many", "owner": "Zoë", "custom_signals": {"id": 1}},
        {"checks": 1.5, "owner": [1], "custom_signals": "none", "CHECKS": 1},
        {"checks": True, "owner": {"name": 5, "new": {}}, "added_at": "2026-03-01"},
        {"checks": 10**30, "Checks": [[[]]], "status": False},
    ],
}


@pytest.mark.parametrize("stream", DRIFT)
def test_a_sample_that_drifts_costs_neither_a_run_nor_a_value(
    tap: Callable[..., Run],
    load: Callable[[Run], dict[str, Rows]],
    sandbox: Sandbox,
    config: dict[str, Any],
    stream: str,
) -> None:
    discovered = tap({**config, "infer_columns": True}, "--discover").succeeded()
    catalog = only(stream, of=json.loads(discovered.stdout))
    before = raw_records(sandbox, stream)
    rows = load(tap(config, catalog=catalog))[stream]
    assert_all_told(rows, before)
    assert all(row["additional_properties"] is None for row in rows.values())

    ids = [record["id"] for record in before]
    drifted = [{"id": f"new-{n}", **d} for n, d in enumerate(DRIFT[stream])]
    drifted += [{"id": i, **d} for i, d in zip(ids, DRIFT[stream], strict=False)]
    sandbox.insert(stream, *drifted)
    run = tap(config, catalog=catalog)
    assert_all_told(load(run)[stream], raw_records(sandbox, stream))
    assert run.stderr.count("contradict the types of their columns") == 1


KILLERS = {
    "text": (r'"a\u0000b\ud800c \ud83d\ude80"', "a\ufffdb\ufffdc 🚀"),
    r"na\u0000me": ("1", 1),
    "constants": ("[NaN, Infinity, -Infinity]", [None] * 3),
    "beyond_double": ("1e400", Decimal("1e400")),
    "beyond_64_bits": ("12345678901234567890123", 12345678901234567890123),
    "exact": ("[0.1000, 0.1000000000000000055511151231257827]",
              [Decimal("0.1000"), Decimal("0.1000000000000000055511151231257827")]),
    "beyond_warehouses": ("[1e4300, -1e-20000, 1e9999999999999999999]",
                       ["1e4300", "-1e-20000", "1e9999999999999999999"]),
    "at_the_edge": ("9e4299", Decimal("9e4299")),
    "nested": (r'[[], [[1.50, "\u0000"]], {"": {"\ud800": null}}]',
               [[], [[Decimal("1.50"), "\ufffd"]], {"": {"\ufffd": None}}]),
    "Text": ('"only its case differs"', "only its case differs"),
    "x" * 100: ("true", True),
}  # fmt: skip


def test_values_that_kill_pipelines(
    tap: Callable[..., Run],
    load: Callable[[Run], dict[str, Rows]],
    sandbox: Sandbox,
    config: dict[str, Any],
) -> None:
    fields = ", ".join(f'"{name}": {text}' for name, (text, _) in KILLERS.items())
    told = {n.replace(r"\u0000", "\ufffd"): value for n, (_, value) in KILLERS.items()}
    title = r'"\u0000\udc00"'
    sandbox.insert(
        "leads",
        texts=[f'{{"id": "a", "title": {title}, "score": {{{fields}}}, {fields}}}'],
    )
    run = tap(config, catalog=only("leads")).succeeded()
    for output in (run.stdout, json.dumps(run.messages, default=str)):
        assert r"\u0000" not in output
        assert r"\ud800" not in output
    assert run.stderr.count("A record held") == 3

    (record,) = (r for r in run.records("leads") if r["id"] == "a")
    row = load(run)["leads"]["a"]
    for found in (record, row):
        assert found["title"] == "\ufffd\ufffd"
        assert found["score"] == told
        assert found["additional_properties"] == told


# What floats hold; `use_copy: false` keeps all digits.
NUMBERS = {
    "12345678901234567890123": Decimal(12345678901234568000000),
    "0.1000": Decimal("0.1"),
    "1e308": Decimal("1e308"),
    "-2.5e-300": Decimal("-2.5e-300"),
    "1e309": None,
    "1e-400": None,
    "NaN": None,
}
INTEGERS = {
    "9223372036854775807": 2**63 - 1,
    "9223372036854775808": None,
    "-1e3": -1000,
    "1.5": None,
}
TIMES = {
    '"2026-03-01T01:00:00+05:45"': "2026-02-28T19:15:00.000000",
    '"2026-03-01 01:00:00.5-0330"': "2026-03-01T04:30:00.500000",
    '"2026-03-01T01:00:00"': "2026-03-01T01:00:00.000000",
    '"0001-01-01T00:00:00+00:01"': None,
    '"2026-02-30T00:00:00Z"': None,
    '"2026-03-01T23:59:60Z"': None,
}


def test_typed_columns(
    tap: Callable[..., Run],
    load: Callable[[Run], dict[str, Rows]],
    sandbox: Sandbox,
    config: dict[str, Any],
) -> None:
    catalog = only("custom_signals")
    entries(catalog)["custom_signals"]["schema"]["properties"] |= {
        "number": {"type": ["number", "null"]},
        "integer": {"type": ["integer", "null"]},
        "time": {"type": ["string", "null"], "format": "date-time"},
    }
    wanted: dict[tuple[str, str], Any] = {
        (column, text): value
        for column, values in (
            ("number", NUMBERS), ("integer", INTEGERS), ("time", TIMES)
        )
        for text, value in values.items()
    }  # fmt: skip
    sandbox.configure(api_key=config["api_key"], sizes={"custom_signals": 0})
    texts = [f'{{"id": "{n}", "{c}": {t}}}' for n, (c, t) in enumerate(wanted)]
    sandbox.insert("custom_signals", texts=texts)
    rows = load(tap(config, catalog=catalog))["custom_signals"]
    for number, ((column, text), value) in enumerate(wanted.items()):
        row = rows[str(number)]
        found = row[column]
        shown = f"{found:%FT%T.%f}" if isinstance(found, datetime) else found
        assert shown == value
        assert str(shown) == str(value) or value == Decimal("1e308")
        if value is None and text != "NaN":
            assert row["additional_properties"] == {column: exact_json(text)}
        else:
            assert row["additional_properties"] is None
