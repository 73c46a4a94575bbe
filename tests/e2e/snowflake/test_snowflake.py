"""What Snowflake's stand-in holds after real runs of Meltano and target-snowflake."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import STREAMS, raw_records
from tests.support.pipelines import Pipeline
from tests.support.rows import expected_row
from tests.support.runs import DAY, SINCE, fill

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox
    from tests.e2e.snowflake.conftest import SnowflakeWarehouse

ODD_LEADS = (
    r'{"id": "odd-1", "full_name": "Zoë 佐藤 \"🚀\"", "title": "a\nb\\n\u0001"}',
    '{"id": "odd-2", "new": {"deep": [[], [1, [2.5]], {}, null, true], "": ""}}',
    '{"id": "odd-3", "title": "", "company": {}, "signal": null, "score": {"n": 0.5}}',
)

OURS = {
    "signal_agents": {
        **dict.fromkeys(("id", "type", "name", "status", "schedule"), "text"),
        "next_check_at": "time",
        "sheet": "object",
    },
    "leads": {
        **dict.fromkeys(("id", "full_name", "title", "country_code"), "text"),
        **dict.fromkeys(("profile", "company", "sheet", "signal"), "object"),
        **dict.fromkeys(("qualification", "score"), "object"),
        "signal_observed_at": "time",
    },
    "signal_accounts": {"record_key": "text", "id": "text", "window_end": "time"},
    "monitored_accounts": {"record_key": "text", "id": "text", "window_end": "time"},
    "observations": {"record_key": "text", "id": "text", "observed_at": "time"},
    "custom_signals": {"record_key": "text", "id": "text"},
    "monitored_leads": {"record_key": "text", "id": "text", "window_end": "time"},
}
THEIRS = {
    **dict.fromkeys(
        ("extracted_at", "received_at", "batched_at", "deleted_at"), "time"
    ),
    **dict.fromkeys(("sequence", "table_version", "sync_started_at"), "whole number"),
}
TYPES = {
    "text": "VARCHAR(16777216)",
    "time": "TIMESTAMP_NTZ(9)",
    "object": "VARIANT",
    "whole number": "NUMBER(38,0)",
    "number": "FLOAT",
}


TYPED = {
    stream: {
        **columns,
        "additional_properties": "object",
        **{f"_sdc_{name}": kind for name, kind in THEIRS.items()},
    }
    for stream, columns in OURS.items()
}


def held(
    warehouse: SnowflakeWarehouse, schema: str, *streams: str
) -> dict[str, dict[str, dict[str, Any]]]:
    """Read tables' rows by id, without what the target adds."""
    tables = warehouse.rows(schema, *streams)
    found = {}
    for stream, rows in zip(streams, tables, strict=True):
        found[stream] = {
            row["id"]: {
                name: value
                for name, value in row.items()
                # The end of a window is not a field of the record.
                if name != "window_end" and not name.startswith("_sdc_")
            }
            for row in rows
        }
        assert len(found[stream]) == len(rows)
    return found


def test_it_holds_what_the_api_holds_run_after_run(
    sandbox: Sandbox, warehouse: SnowflakeWarehouse
) -> None:
    fill(sandbox, **{**dict.fromkeys(STREAMS, 60), "leads": 250})
    sandbox.insert("leads", texts=ODD_LEADS, found_at=SINCE)
    password = {"TARGET_SNOWFLAKE_PASSWORD": "password"}
    pipeline = Pipeline(replace(warehouse, credentials=password), sandbox, "whole")
    seen: list[dict[str, Any]] = []
    for days in (0, 1, 10):
        sandbox.advance(days * DAY)
        pipeline.run()
        rows = held(warehouse, "whole", *STREAMS)
        for stream in STREAMS:
            assert rows[stream] == {
                record["id"]: expected_row(stream, record)
                for record in raw_records(sandbox, stream)
            }, stream
        seen.append(rows["leads"])
    first, _, last = seen
    assert len(last) > len(first), "no new leads"
    assert any(last[key] != row for key, row in first.items()), "no lead has moved"


def test_the_types_of_all_columns(
    sandbox: Sandbox, warehouse: SnowflakeWarehouse
) -> None:
    fill(sandbox, **dict.fromkeys(STREAMS, 5))
    column = {"observations": {"confidence": {"type": ["number", "null"]}}}
    pipeline = Pipeline(
        warehouse, sandbox, "types", TAP_LEADINTENT__SCHEMA=json.dumps(column)
    )
    pipeline.run()
    expected = {
        **TYPED,
        "observations": {**TYPED["observations"], "confidence": "number"},
    }
    assert dict(zip(STREAMS, warehouse.types("types", *STREAMS), strict=True)) == {
        stream: {name: TYPES[kind] for name, kind in columns.items()}
        for stream, columns in expected.items()
    }


def test_a_new_column_is_null_in_old_rows_and_a_removed_one_goes_stale(
    sandbox: Sandbox, warehouse: SnowflakeWarehouse
) -> None:
    fill(sandbox, observations=200)
    select = {"TAP_LEADINTENT__SELECT": '["observations.*"]'}
    column = {"observations": {"confidence": {"type": ["number", "null"]}}}
    extra = {"TAP_LEADINTENT__SCHEMA": json.dumps(column)}

    def confidences() -> dict[str, float | None]:
        (rows,) = warehouse.rows("changed", "observations")
        return {
            row["id"]: row["confidence"]
            if row["confidence"] is not None
            else row["additional_properties"]["confidence"]
            for row in rows
        }

    Pipeline(warehouse, sandbox, "changed", **select).run()
    (old,) = warehouse.rows("changed", "observations")
    assert "confidence" not in old[0]

    sandbox.advance(10 * DAY)
    Pipeline(warehouse, sandbox, "changed", **select, **extra).run()
    (rows,) = warehouse.rows("changed", "observations")
    typed = {row["id"] for row in rows if row["confidence"] is not None}
    assert 0 < len(typed) < len(rows)
    assert {row["id"] for row in rows} - typed <= {row["id"] for row in old}
    assert confidences() == {
        record["id"]: record["confidence"]
        for record in raw_records(sandbox, "observations")
    }

    sandbox.advance(10 * DAY)
    Pipeline(warehouse, sandbox, "changed", **select).run()
    (rows,) = warehouse.rows("changed", "observations")
    stale = {row["id"] for row in rows if row["confidence"] is not None}
    assert stale == typed
    assert {row["id"] for row in rows} == {
        record["id"] for record in raw_records(sandbox, "observations")
    }


@pytest.mark.parametrize("hard", [False, True], ids=["marked", "deleted"])
def test_accounts_that_left_the_queue_are_retired(
    sandbox: Sandbox, warehouse: SnowflakeWarehouse, *, hard: bool
) -> None:
    fill(sandbox, monitored_accounts=50)
    schema = f"queue_{hard}".lower()
    select = {"TAP_LEADINTENT__SELECT": '["monitored_accounts.*"]'}
    versions = {
        "TAP_LEADINTENT_EMIT_ACTIVATE_VERSION_MESSAGES": "true",
        "TARGET_SNOWFLAKE_HARD_DELETE": str(hard).lower(),
    }

    def retired() -> dict[str, bool]:
        """Give the accounts of the table, and whether they are marked deleted."""
        (rows,) = warehouse.rows(schema, "monitored_accounts")
        return {row["id"]: row["_sdc_deleted_at"] is not None for row in rows}

    def leave(count: int) -> set[str]:
        """Let accounts leave the queue; give their ids."""
        gone = [account["id"] for account in raw_records(sandbox, "monitored_accounts")]
        return set(sandbox.remove("monitored_accounts", *gone[:count]))

    # Loaded before versions were switched on: without a version, never retired.
    Pipeline(warehouse, sandbox, schema, **select).run()
    everything = retired()
    assert len(everything) == 50
    first = leave(3)
    pipeline = Pipeline(warehouse, sandbox, schema, **select, **versions)
    pipeline.run()
    assert retired() == everything

    # The repair of docs/warehouses.md; and one that leaves later.
    table = f"{schema}.monitored_accounts"
    repair = (
        f"update {table} set _sdc_table_version = 0 where _sdc_table_version is null"
    )
    warehouse.ask(repair)
    second = leave(2)
    pipeline.run()
    gone = first | second
    assert retired() == {
        key: key in gone for key in everything if not (hard and key in gone)
    }
