"""What target-duckdb makes of what the tap writes."""

import json
import subprocess
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import (
    STREAMS,
    Json,
    RunTap,
    declared_stream,
    exact_json,
    ids_of,
)
from tests.support.pages import section
from tests.support.postgres import without_metadata
from tests.support.rows import expected_rows, instant
from tests.support.runs import DAY, SINCE, fill
from tests.support.targets import python_of, run_target
from tests.support.walk import DOCS, lines_of

TARGET = "target-duckdb"
QUERY = """
import json, sys, duckdb
path, *statements, query, output = sys.argv[1:]
with duckdb.connect(path) as connection:
    for statement in statements:
        connection.execute(statement)
    connection.execute(f"COPY ({query}) TO '{output}' (FORMAT json)")
"""
SIZES = {
    **dict.fromkeys(STREAMS, 7),
    "leads": 250,
    "custom_signals": 1,
}
ADA = {
    "id": "ada",
    "full_name": 'Zoë "Ada",\nByron',
    "profile": {"url": "of.example/ada"},
    "score": {"value": 0.30000000000000004},
    "new": {"": [[], [2.5], {}, None, True]},
}


def rows_after(database: Path, *statements: str) -> dict[str, list[Json]]:
    """Run statements, and return the rows of all tables."""
    tables = " UNION ALL ".join(
        f"SELECT '{name}' AS stream, to_json(t) AS row FROM tap_leadintent.{name} AS t"  # noqa: S608
        for name in STREAMS
    )
    output = database.with_suffix(".jsonl")
    command = [
        *python_of(TARGET),
        "-c",
        QUERY,
        str(database),
    ]
    subprocess.run(  # noqa: S603
        [
            *command,
            *statements,
            tables,
            str(output),
        ],
        check=True,
    )
    rows: dict[str, list[Json]] = {name: [] for name in STREAMS}
    for line in output.read_text(encoding="utf-8").split("\n"):
        if line:
            found = exact_json(line)
            rows[found["stream"]].append(found["row"])
    return rows


def clearing_statements() -> Iterator[str]:
    """Yield what the page tells to write for the fields that its example excludes."""
    heading = "## Keeping names and personal data out"
    call = "json_merge_patch(profile, '{\"url\": null}')"
    assert call in section(DOCS / "columns.md", heading)
    (excluded, _) = lines_of("columns.md", heading)
    for stream, fields in json.loads(excluded.split("'")[1]).items():
        columns = declared_stream(stream).schema["properties"]
        for field in fields:
            column, _, nested = field.rpartition(".")
            value = "NULL"
            if field in columns:
                column = field
            else:
                column = column or "additional_properties"
                value = call.replace("profile", column).replace("url", nested)
            yield (
                f"UPDATE tap_leadintent.{stream} SET {column} = {value} "  # noqa: S608
                f"WHERE {column} IS NOT NULL"
            )


def test_duckdb_holds_what_the_api_holds_and_what_is_left_out_can_be_removed(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
) -> None:
    fill(sandbox, **SIZES)
    sandbox.insert("leads", ADA, found_at=SINCE)
    known = {**ADA, "email": "ada@example.com"}
    sandbox.insert("monitored_leads", known, activity_at=SINCE)
    database = tmp_path / "leads.duckdb"
    place = {
        "path": str(database),
        "default_target_schema": "tap_leadintent",
    }
    state = None
    for days in (0, 10):
        sandbox.advance(days * DAY)
        run = tap(config, state=state).succeeded()
        state = run.state
        run_target(tmp_path, TARGET, place, run.stdout)
    for stream, rows in rows_after(database).items():
        expected = expected_rows(sandbox, stream)
        assert ids_of(rows) == expected.keys()
        assert len(rows) == len(expected)
        for row in map(without_metadata, rows):
            wanted = expected[row["id"]]
            found = {**row}
            for name, value in wanted.items():
                if isinstance(value, datetime):
                    found[name] = instant(row[name])
            assert found == wanted

    text = json.dumps(rows_after(database, *clearing_statements()), default=str)
    assert "Byron" not in text
    assert "ada@" not in text
    assert text.count("of.example/ada") == 1, "nobody named that of monitored leads"
