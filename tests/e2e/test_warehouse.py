"""What PostgreSQL holds after real runs of Meltano."""

import json
import os
import re
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import STREAMS, TIMEOUT, declared_stream
from tests.support.pages import ROOT, section
from tests.support.pipelines import Pipeline, PostgresWarehouse
from tests.support.postgres import tables_of
from tests.support.runs import CLOCK, SINCE, covered, fill, poll

RUNS, LOGS = ROOT / "docs/runs.md", "## What a run logs"


def assert_reads_well(bookmarks: dict[str, Any], source: str) -> None:
    """Assert that the state of a project is short, and says what is covered."""
    assert bookmarks.keys() == set(STREAMS)
    for stream, bookmark in bookmarks.items():
        assert len(json.dumps(bookmark, indent=2)) < 1000, stream
        entries = bookmark.get("coverage", [])
        figures = {"longest", "page"}  # of the queries, in one entry
        assert [entry.keys() - figures for entry in entries] == len(entries) * [
            {"range", "from", "to", "source", "key"}
        ]
        declared = declared_stream(stream)
        ranges = declared.ranges if declared.is_incremental else ()
        assert {entry["range"] for entry in entries} == {*ranges}
    (observed,) = bookmarks["observations"]["coverage"]
    assert observed["source"] == source
    assert (observed["from"], observed["to"]) == (SINCE, CLOCK)


def assert_has_figures(log: Path, sizes: dict[str, int]) -> None:
    """Assert that lines of Meltano's log have the figures of a run as fields."""
    text = log.read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines() if line[:1] == "{"]
    ends = [line for line in lines if line.keys() >= {"stream", "requests"}]
    assert {line["stream"]: line["records"] for line in ends} == sizes
    (run,) = [line for line in lines if "failed_streams" in line]
    assert (run["records"], run["failed_streams"]) == (sum(sizes.values()), [])
    metrics = {line["metric_info"]["metric"] for line in lines if "metric_info" in line}
    assert metrics >= {"record_count", "sync_duration"}
    assert "http_request_duration" not in metrics
    events = {_shape(line["event"]) for line in lines if "event" in line}
    (shown,) = re.findall(r"```text\n(.*?)```", section(RUNS, LOGS), re.DOTALL)
    # A run of a few seconds logs no progress.
    ended = [line for line in shown.splitlines() if "so far" not in line]
    assert {_shape(line.partition("] tap-leadintent ")[2]) for line in ended} <= events


def _shape(line: str) -> str:
    """Return a line without its figures."""
    return re.sub(r"\d[\d,.:TZ-]*", "0", re.sub(r", [\d.]+ s of waiting", "", line))


@pytest.mark.long
def test_a_state_reads_well_and_a_full_refresh_that_is_killed_loses_nothing(
    sandbox: Sandbox, warehouse: PostgresWarehouse
) -> None:
    sizes = {**dict.fromkeys(STREAMS, 120), "leads": 1500}
    fill(sandbox, **sizes)
    json_log = {"MELTANO_CLI_LOG_FORMAT": "json"}
    pipeline = Pipeline(warehouse, sandbox, "refreshed", **json_log)
    with warehouse.postgres.connect() as connection:

        def held() -> dict[str, set[str]]:
            tables = tables_of(warehouse.postgres, "refreshed")
            return {stream: set(rows) for stream, rows in tables.items()}

        def bookmarks() -> Any:
            state = json.loads(pipeline.kept_state())["singer_state"]
            return state["bookmarks"]

        pipeline.run()
        assert_has_figures(pipeline.log, sizes)
        assert_reads_well(bookmarks(), sandbox.url)
        everything = held()
        assert {stream: len(ids) for stream, ids in everything.items()} == sizes
        for stream in STREAMS:
            table = sql.Identifier("refreshed", stream)
            connection.execute(sql.SQL("TRUNCATE {}").format(table))
        assert "coverage" not in pipeline.kept_state("partial_state")
        warehouse.shorten_state_interval()
        fill(sandbox, **sizes, latency=0.1)
        with pipeline.running("--full-refresh") as process:
            poll(lambda: "coverage" in pipeline.kept_state("partial_state"))
            os.killpg(process.pid, signal.SIGKILL)
            assert process.wait(TIMEOUT) == -signal.SIGKILL
        assert 0 < sum(map(len, held().values())) < sum(sizes.values())
        fill(sandbox, **sizes)
        # A killed run counts as running for a few minutes.
        pipeline.run("--force")
        assert held() == everything

    assert_reads_well(bookmarks(), sandbox.url)
    assert covered({"bookmarks": bookmarks()}, "leads", "date_found") == [
        (datetime.fromisoformat(SINCE), datetime.fromisoformat(CLOCK))
    ]
