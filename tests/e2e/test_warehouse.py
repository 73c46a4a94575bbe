"""What PostgreSQL holds after real runs of Meltano."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from psycopg import sql

from tap_leadintent.demo.processes import DemoError
from tests.support.helpers import RANGES, STREAMS, raw_records
from tests.support.pipelines import Pipeline, column, kill_group
from tests.support.postgres import rows_of, without_metadata
from tests.support.rows import expected_row
from tests.support.runs import CLOCK, DAY, SINCE, covered, fill, instant, poll

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox
    from tests.support.pipelines import PostgresWarehouse

RECIPES = (Path(__file__).parents[2] / "docs" / "recipes.md").read_text("utf-8")


def test_a_key_with_the_signals_time_keeps_every_signal_seen(
    sandbox: Sandbox, warehouse: PostgresWarehouse
) -> None:
    fill(sandbox, leads=300)
    sandbox.insert("leads", {"id": "unobserved"}, found_at=SINCE)
    pipeline = Pipeline(
        warehouse,
        sandbox,
        "signals",
        TAP_LEADINTENT_STREAM_MAPS=json.dumps(recipe("## Every signal of a lead")),
        TAP_LEADINTENT__SELECT='["leads.*"]',
    )
    seen = {}
    for days in (0, 5, 20):
        sandbox.advance(days * DAY)
        for record in raw_records(sandbox, "leads"):
            row = expected_row("leads", record)
            seen[row["id"], row["signal_observed_at"]] = row
        pipeline.run()

    held = {}
    for row in rows_of(warehouse.postgres, "signals", "leads"):
        observed = row["signal_observed_at"]
        key = f"{observed:%FT%T.%fZ}" if observed else "none"
        assert row.pop("signal_key") == key
        held[row["id"], observed] = without_metadata(row)
    assert held == seen
    assert [lead for lead, observed in held if not observed] == ["unobserved"]
    assert len(seen) > len({lead for lead, _ in seen}) + 5


def recipe(heading: str) -> Any:
    """Give the stream maps of a recipe."""
    _, _, section = RECIPES.partition(f"\n{heading}")
    block = section.partition("```yaml\n")[2].partition("```")[0]
    return yaml.safe_load(block)["config"]["stream_maps"]


@pytest.mark.parametrize("hard", [False, True], ids=["marked", "deleted"])
def test_accounts_that_left_the_queue_are_retired_by_a_whole_read_only(
    sandbox: Sandbox, warehouse: PostgresWarehouse, *, hard: bool
) -> None:
    fill(sandbox, monitored_accounts=250)
    schema = f"queue_{hard}".lower()
    pipeline = Pipeline(
        warehouse,
        sandbox,
        schema,
        TAP_LEADINTENT__SELECT='["monitored_accounts.*"]',
        TAP_LEADINTENT_EMIT_ACTIVATE_VERSION_MESSAGES="true",
        TARGET_POSTGRES_HARD_DELETE=str(hard).lower(),
    )

    accounts = raw_records(sandbox, "monitored_accounts")
    told = {a["id"]: expected_row("monitored_accounts", a) for a in accounts}

    def held() -> dict[str, bool]:
        """Give the accounts of the table, and whether they are marked deleted."""
        rows = rows_of(warehouse.postgres, schema, "monitored_accounts")
        assert all(without_metadata(row) == told[row["id"]] for row in rows)
        found = {row["record_key"]: row["_sdc_deleted_at"] is not None for row in rows}
        assert len(found) == len(rows)
        return found

    pipeline.run()
    everything = held()
    assert everything == {account["id"]: False for account in accounts}

    gone = {account["id"]: account for account in accounts[:3]}
    sandbox.remove("monitored_accounts", *gone)
    sandbox.faults({"kind": "status", "status": 400, "skip": 2})
    with pytest.raises(DemoError, match="HTTP 400"):
        pipeline.run()
    assert held() == everything

    sandbox.faults()
    pipeline.run()
    assert held() == {
        key: key in gone for key in everything if not (hard and key in gone)
    }
    if not hard:
        sandbox.insert("monitored_accounts", *gone.values())
        pipeline.run()
        assert held() == everything


def test_batches_and_versions_together_retire_nothing_that_is_there(
    sandbox: Sandbox, warehouse: PostgresWarehouse, tmp_path: Path
) -> None:
    fill(sandbox, monitored_accounts=250)
    pipeline = Pipeline(
        warehouse,
        sandbox,
        "batches",
        TAP_LEADINTENT__SELECT='["monitored_accounts.*"]',
        TAP_LEADINTENT_EMIT_ACTIVATE_VERSION_MESSAGES="true",
        TAP_LEADINTENT_BATCH_CONFIG_ENCODING_FORMAT="jsonl",
        TAP_LEADINTENT_BATCH_CONFIG_ENCODING_COMPRESSION="gzip",
        TAP_LEADINTENT_BATCH_CONFIG_STORAGE_ROOT=tmp_path.as_uri(),
    )
    pipeline.run()
    columns = ("record_key", "_sdc_deleted_at")
    with warehouse.postgres.connect() as connection:
        rows = column(connection, "batches", "monitored_accounts", *columns)
    assert len(rows) == 250
    assert all(deleted is None for _, deleted in rows)


def test_the_state_of_a_project_reads_well(
    sandbox: Sandbox, warehouse: PostgresWarehouse
) -> None:
    fill(sandbox, **dict.fromkeys(STREAMS, 120))
    pipeline = Pipeline(warehouse, sandbox, "state")
    pipeline.run()

    bookmarks = pipeline.state()["singer_state"]["bookmarks"]
    assert bookmarks.keys() == set(STREAMS)
    for stream, bookmark in bookmarks.items():
        assert len(json.dumps(bookmark, indent=2)) < 1000, stream
        entries = bookmark.get("coverage", [])
        assert [entry.keys() for entry in entries] == len(entries) * [
            {"range", "from", "to", "source", "key"}
        ]
        ranges = {entry["range"] for entry in entries}
        assert ranges == set(RANGES.get(stream, ()))
    (observed,) = bookmarks["observations"]["coverage"]
    assert observed["source"] == sandbox.url
    assert (observed["from"], observed["to"]) == (SINCE, CLOCK)


def test_a_full_refresh_that_is_killed_loses_nothing(
    sandbox: Sandbox, warehouse: PostgresWarehouse
) -> None:
    sizes = {**dict.fromkeys(STREAMS, 120), "leads": 1500}
    fill(sandbox, **sizes)
    pipeline = Pipeline(warehouse, sandbox, "refreshed")
    with warehouse.postgres.connect() as connection:

        def held() -> dict[str, set[str]]:
            tables = {s: column(connection, "refreshed", s, "id") for s in STREAMS}
            assert all(len(ids) == len(set(ids)) for ids in tables.values())
            return {stream: set(ids) for stream, ids in tables.items()}

        pipeline.run()
        everything = held()
        assert {stream: len(ids) for stream, ids in everything.items()} == sizes
        for stream in STREAMS:
            table = sql.Identifier("refreshed", stream)
            connection.execute(sql.SQL("TRUNCATE {}").format(table))
        assert "coverage" not in pipeline.partial_state()
        warehouse.hasten_states()
        fill(sandbox, **sizes, latency=0.1)
        with pipeline.running("--full-refresh") as process:
            poll(lambda: "coverage" in pipeline.partial_state())
            kill_group(process)
        assert process.returncode == -signal.SIGKILL
        assert 0 < sum(map(len, held().values())) < sum(sizes.values())
        fill(sandbox, **sizes)
        # A killed run counts as running for a few minutes.
        pipeline.run("--force")
        assert held() == everything

    bookmarks = pipeline.state()["singer_state"]["bookmarks"]
    assert bookmarks.keys() == set(STREAMS)
    assert covered({"bookmarks": bookmarks}, "leads", "date_found") == [
        (instant(SINCE), instant(CLOCK))
    ]
