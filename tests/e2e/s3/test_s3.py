"""Files on the stand-in for S3 after real runs of Meltano and target-s3."""

import json
import re
from datetime import datetime
from pathlib import Path

import pytest

from tap_leadintent.demo.processes import DemoError
from tap_leadintent.sandbox import Sandbox
from tests.e2e.s3.conftest import Lake
from tests.support.helpers import (
    STREAMS,
    declared_stream,
    exact_json,
    ids_of,
    raw_records,
)
from tests.support.pipelines import Pipeline
from tests.support.rows import Row, expected_rows, flattened, instant
from tests.support.runs import DAY, fill

PAGE = Path(__file__).parents[3] / "docs" / "warehouses.md"
FLAT = {
    "TAP_LEADINTENT_FLATTENING_ENABLED": "true",
    "TAP_LEADINTENT_FLATTENING_MAX_DEPTH": "1",
}


def newest_rows(stream: str, key: str) -> str:
    """Return the query of the page, which is about `leads`, for another stream."""
    page = PAGE.read_text(encoding="utf-8")
    _, query, _ = re.split(r"```sql\n(SELECT[^`]+ read_parquet[^`]+);\n```", page)
    return query.replace("/leads/", f"/{stream}/").replace("BY id", f"BY {key}")


def whole_seconds(value: datetime | None) -> datetime | None:
    return value and value.replace(microsecond=0)


def in_file(stream: str, row: Row) -> Row:
    """Return the expected columns of a file: objects flattened, times in seconds."""
    row = flattened(row, declared_stream(stream).schema["properties"])
    for name, value in row.items():
        if name.endswith("_at"):
            row[name] = whole_seconds(instant(value))
    return row


def read(row: Row) -> Row:
    """Read a file's row: texts of JSON and of times."""
    of_json = {"additional_properties", "qualification__references"}
    parsed: Row = {}
    for name, value in row.items():
        if name in {"window_end", "filename", "file_row_number"}:
            continue
        if name in of_json and value is not None:
            parsed[name] = exact_json(value)
        elif name.endswith("_at"):
            parsed[name] = instant(value)
        else:
            parsed[name] = value
    return parsed


def test_files_of_parquet_hold_what_the_api_holds(sandbox: Sandbox, lake: Lake) -> None:
    fill(
        sandbox,
        **{
            **dict.fromkeys(STREAMS, 60),
            "leads": 250,
        },
    )
    pipeline = Pipeline(lake, sandbox, "parquet", **FLAT)
    pipeline.run()
    sandbox.advance(10 * DAY)
    pipeline.run()
    for stream in STREAMS:
        (key,) = declared_stream(stream).primary_keys
        newest = lake.ask(newest_rows(stream, key))
        expected = expected_rows(sandbox, stream)
        assert ids_of(newest) == expected.keys(), stream
        columns: set[str] = set()
        fields: set[str] = set()
        for line in newest:
            held = read(line)
            row = in_file(stream, expected[line["id"]])
            fields |= row.keys()
            columns |= held.keys()
            for name, value in held.items():
                assert value == row.get(name)
        assert fields <= columns
    # Every row that was read again is there again.
    everything = "SELECT id FROM 's3://lake/tap_leadintent/leads/**/*.parquet'"
    assert len(lake.ask(everything)) > len(raw_records(sandbox, "leads"))


def test_parquet_without_flattening_fails(sandbox: Sandbox, lake: Lake) -> None:
    fill(sandbox, leads=3)
    select = {"TAP_LEADINTENT__SELECT": '["leads.*"]'}
    pipeline = Pipeline(
        lake,
        sandbox,
        "nested",
        TARGET_S3_PREFIX="nested",
        **select,
    )
    with pytest.raises(DemoError, match="ended with exit code 1"):
        pipeline.run()
    assert json.dumps(lake.ask("SELECT * FROM glob('s3://lake/nested/**/*')")) == "[]"
