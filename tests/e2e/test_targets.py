"""What real targets make of what the tap writes: tables of PostgreSQL, and files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import (
    API_KEY,
    STREAMS,
    exact_json,
    raw_records,
)
from tests.support.postgres import rows_of
from tests.support.rows import expected_row
from tests.support.runs import DAY, SINCE, fill
from tests.support.targets import run_target

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.demo.postgres import Postgres
    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run
    from tests.support.postgres import Rows

OTHERS = [stream for stream in STREAMS if stream != "leads"]
SIZES = [
    {"leads": 1234, **dict(zip(OTHERS, (0, 1, 99, 100, 101, 7), strict=True))},
    {"leads": 100, **dict(zip(OTHERS, (101, 100, 0, 99, 1, 250), strict=True))},
]

WAREHOUSES = (Path(__file__).parents[2] / "docs" / "warehouses.md").read_text(
    encoding="utf-8"
)

LONG = "Ωmega 長い文 🚀 \\u00e9\\\\ \\u2028" * 20_000
ODD_LEADS = (
    f'{{"id": "odd-1", "full_name": "Zoë 佐藤 \\"🚀\\"", "title": "{LONG}"}}',
    '{"id": "odd-2", "score": {"value": 0.12345678901234567890123, "n": 1e30}}',
    '{"id": "odd-5", "score": {"value": -2.50}}',
    '{"id": "odd-4", "new": {"deep": [[], [1, [2.50]], {}, null, true], "": ""}}',
    '{"id": "odd-3", "title": "", "company": {}, "signal": null}',
)


def fill_unevenly(
    sandbox: Sandbox, sizes: dict[str, int]
) -> dict[str, list[dict[str, Any]]]:
    """Let the sandbox show records, odd ones too; give those of each stream."""
    sandbox.configure(api_key=API_KEY, sizes=sizes)
    sandbox.insert("leads", texts=ODD_LEADS)
    return {stream: raw_records(sandbox, stream) for stream in STREAMS}


def assert_once(found: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    """Assert that each record was found once, and no other."""
    ids = Counter(record["id"] for record in records)
    assert Counter(row["id"] for row in found) == ids
    assert set(ids.values()) <= {1}


def assert_tables_hold(tables: dict[str, Rows], sandbox: Sandbox) -> None:
    """Assert that the tables hold what the API holds, column by column."""
    for stream in STREAMS:
        assert {
            key: {name: value for name, value in row.items() if name != "window_end"}
            for key, row in tables[stream].items()
        } == {
            record["id"]: expected_row(stream, record)
            for record in raw_records(sandbox, stream)
        }


@pytest.mark.parametrize("sizes", SIZES, ids=["many leads", "few leads"])
def test_postgres_holds_what_the_api_holds(
    tap: Callable[..., Run],
    load: Callable[[Run], dict[str, Rows]],
    sandbox: Sandbox,
    config: dict[str, Any],
    sizes: dict[str, int],
) -> None:
    held = fill_unevenly(sandbox, sizes)
    run = tap(config).succeeded()
    tables = load(run)
    for stream, records in held.items():
        assert_once(run.records(stream), records)
    assert_tables_hold(tables, sandbox)


def test_run_after_run_postgres_holds_what_the_api_holds(
    tap: Callable[..., Run],
    load: Callable[[Run], dict[str, Rows]],
    sandbox: Sandbox,
    config: dict[str, Any],
) -> None:
    fill(sandbox, **{**dict.fromkeys(STREAMS, 40), "leads": 200})
    config["start_date"] = SINCE
    state: dict[str, Any] | None = None
    seen = []
    for days in (0, 1, 10):
        sandbox.advance(days * DAY)
        # One that is found now, with a signal of long ago.
        late = {"id": f"late-{days}", "signal": {"observed_at": SINCE}}
        sandbox.insert("leads", late, found_at=sandbox.now())
        run = tap(config, state=state).succeeded()
        state = run.state
        tables = load(run)
        assert_tables_hold(tables, sandbox)
        seen.append(tables["leads"])
    first, _, last = seen
    assert len(last) > len(first) + 2, "only the late leads are new"
    assert any(last[key] != row for key, row in first.items()), "no lead has moved"


@pytest.fixture
def load_mapped(
    postgres: Postgres, tmp_path: Path
) -> Callable[..., list[dict[str, Any]]]:
    """Load a record whose columns a map has filled; give the table's rows."""
    schema = tmp_path.name
    target = {"sqlalchemy_url": postgres.url, "default_target_schema": schema}

    def load(columns: dict[str, Any], values: dict[str, Any], **settings: Any) -> Any:
        properties = {"id": {"type": "string"}, **columns}
        lines: list[dict[str, Any]] = [
            {
                "type": "SCHEMA",
                "stream": "maps",
                "schema": {"type": "object", "properties": properties},
                "key_properties": ["id"],
            },
            {"type": "RECORD", "stream": "maps", "record": {"id": "a", **values}},
        ]
        messages = "".join(f"{json.dumps(line)}\n" for line in lines)
        try:
            run_target(tmp_path, "target-postgres", {**target, **settings}, messages)
        finally:
            rows = rows_of(postgres, schema, "maps")
        return rows

    return load


NUMBER = {"type": ["number", "null"]}
TEXT = {"type": ["string", "null"]}
OBJECT = {"type": ["object", "null"]}
REFUSALS: list[tuple[dict[str, Any], str, bool, str]] = [
    (NUMBER, "high", False, "could not convert string to float: 'high'"),
    (NUMBER, "high", True, "'high' is not of type 'number', 'null'"),
    ({"type": ["boolean", "null"]}, "yes", False, "Not a boolean value: 'yes'"),
    (
        {**TEXT, "format": "date-time"},
        "soon",
        False,
        "Could not parse value 'soon' for field",
    ),
]


@pytest.mark.parametrize(("column", "value", "validates", "error"), REFUSALS)
def test_what_a_map_makes_of_a_column_may_be_refused(  # noqa: PLR0913, PLR0917 - fixtures
    load_mapped: Callable[..., list[dict[str, Any]]],
    postgres: Postgres,
    tmp_path: Path,
    column: dict[str, Any],
    value: str,
    error: str,
    *,
    validates: bool,
) -> None:
    assert error in WAREHOUSES
    with pytest.raises(AssertionError, match=error):
        load_mapped({"mapped": column}, {"mapped": value}, validate_records=validates)
    assert rows_of(postgres, tmp_path.name, "maps") == []


def test_what_a_map_makes_of_a_column_may_be_converted(
    load_mapped: Callable[..., list[dict[str, Any]]],
) -> None:
    columns = {"number": NUMBER, "text": TEXT, "object": OBJECT}
    (row,) = load_mapped(columns, {"number": "5", "text": 5, "object": "x"})
    assert (row["number"], row["text"], row["object"]) == (5, "5", "x")


def test_files_hold_what_the_api_holds(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    held = fill_unevenly(sandbox, SIZES[0])
    output = tmp_path / "output"
    output.mkdir()
    settings = {"destination_path": str(output)}
    run = tap(config).succeeded()
    state = run_target(tmp_path, "target-jsonl", settings, run.stdout)

    found = {path.stem: path for path in output.iterdir()}
    assert found.keys() == {stream for stream, records in held.items() if records}
    for stream, path in found.items():
        # Not splitlines(), which also splits at what JSON strings may hold.
        lines = path.read_text(encoding="utf-8").split("\n")
        rows = [exact_json(line) for line in lines if line]
        assert_once(rows, held[stream])
        assert rows == run.records(stream)
    assert state["bookmarks"].keys() <= set(STREAMS)
