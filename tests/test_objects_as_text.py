"""`objects_as_text`: the same rows, with JSON text in the columns of objects."""

import json
from typing import Any

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.columns import ARRAY, TEXT, opened
from tests.support.helpers import (
    STREAMS,
    Json,
    Run,
    RunTap,
    entries,
    exact_json,
    only,
    select,
    where,
)

SETTING = {"objects_as_text": True}
TEXT_COLUMN = {"type": ["string", "null"]}
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
EXCLUDED = {"exclude_fields": {"leads": ["company.name", "new.secret"]}}
MAPS = {
    "stream_maps": {
        "leads": {
            "company": None,
            "profile": "self",
            "copied": "signal",
            "guessed": "record['signal']",
            "dumped": "json.dumps(signal)",
        },
        "copies": {
            "__source__": "leads",
            "__else__": None,
            "id": "id",
            "signal": "signal",
        },
    }
}
LEAD = {
    "id": "odd",
    "full_name": [
        "Łukasz",
        {
            "b": 1,
            "a": [1.5, None],
        },
    ],
    "company": {
        "name": "Müller",
        "domain": "müller.example",
        "employees": 2**60,
    },
    "qualification": {
        "references": [{"url": "u", "label": "ß"}],
        "new": {},
    },
    "new": {
        "z": 1,
        "a": "\u2028",
        "secret": "x",
    },
}


def run(
    tap: RunTap,
    config: Json,
    **more: Any,
) -> Run:
    return tap(config, **more).succeeded()


def holds_objects(column: Json) -> bool:
    """Return whether a column may hold objects or arrays."""
    return not {"object", "array"}.isdisjoint(column["type"])


def read(row: Json, columns: Json) -> Json:
    """Parse the texts of the columns that hold objects without the setting."""
    parsed: Json = {}
    for name, value in row.items():
        if isinstance(value, str) and holds_objects(columns[name]):
            parsed[name] = exact_json(value)
        else:
            parsed[name] = value
    return parsed


@pytest.mark.parametrize(
    "settings",
    [
        {},
        FLAT,
        EXCLUDED,
        MAPS,
        {**FLAT, **EXCLUDED},
        {**FLAT, "stream_maps": {}},
    ],
    ids=["plain", "flat", "excluded", "mapped", "flat and excluded", "empty maps"],
)
def test_rows_are_the_same_and_hold_no_objects(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    settings: Json,
) -> None:
    sandbox.insert("leads", LEAD)
    # Otherwise, `window_end` depends on when the run begins.
    config |= {"end_date": "2026-11-01", **settings}
    catalog = only(*STREAMS)
    select(catalog, "leads", "signal", "reason", selected=False)
    typed = {
        "new": opened(z=TEXT),
        "full_name": {**ARRAY, "items": TEXT},
    }
    entries(catalog)["leads"]["schema"]["properties"].update(typed)
    expected = run(tap, config, catalog=catalog)
    found = run(
        tap,
        {**config, **SETTING},
        catalog=catalog,
    )
    names = set()
    for message in expected.of_type("SCHEMA"):
        name = message["stream"]
        names.add(name)
        columns = message["schema"]["properties"]
        text_columns = found.schema(name)["properties"]
        assert text_columns.keys() == columns.keys()
        for column, schema in text_columns.items():
            usual = columns[column]
            assert schema == (TEXT_COLUMN if holds_objects(usual) else usual)
        rows = found.records(name)
        assert rows
        for row in rows:
            for value in row.values():
                assert not isinstance(value, dict | list)
        if "guessed" not in columns:
            assert [read(row, columns) for row in rows] == expected.records(name)
    assert names >= {*STREAMS}


def test_text_keeps_the_order_and_the_characters_of_the_api(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    sandbox.insert("leads", LEAD)
    rows = run(
        tap,
        {**config, **SETTING},
        catalog=only("leads"),
    ).records("leads")
    (row,) = where(rows, id="odd")
    assert row["company"] == (
        '{"name":"Müller","domain":"müller.example","employees":1152921504606846976}'
    )
    assert row["signal"] is None
    assert row["additional_properties"] == (
        '{"new":{"z":1,"a":"\u2028","secret":"x"},'
        '"full_name":["Łukasz",{"b":1,"a":[1.5,null]}]}'
    )


def test_what_a_map_makes_is_text(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    signal = {"type": "ü"}
    sandbox.insert("leads", {**LEAD, "signal": signal})
    done = run(
        tap,
        {
            **config,
            **MAPS,
            **SETTING,
        },
        catalog=only("leads"),
    )
    (row,) = where(done.records("leads"), id="odd")
    assert "company" not in row
    for name in ("copied", "guessed", "dumped"):
        assert json.loads(row[name])["type"] == "ü"


@pytest.mark.parametrize(
    "types",
    [["object", "string", "null"], None],
    ids=str,
)
def test_a_column_that_allows_other_types_too(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    types: list[str] | None,
) -> None:
    sandbox.insert(
        "leads",
        {"id": "object", "new": {"a": 1}},
        {"id": "text", "new": "text"},
        {"id": "null", "new": None},
    )
    catalog = only("leads")
    column = {} if types is None else {"type": types}
    entries(catalog)["leads"]["schema"]["properties"]["new"] = column
    done = run(
        tap,
        {**config, **SETTING},
        catalog=catalog,
    )
    assert done.schema("leads")["properties"]["new"] == TEXT_COLUMN
    rows = done.records("leads")
    texts = {
        "object": '{"a":1}',
        "text": "text",
        "null": None,
    }
    for key, text in texts.items():
        (row,) = where(rows, id=key)
        assert row["new"] == text
