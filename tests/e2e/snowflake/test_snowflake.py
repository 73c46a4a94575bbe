"""Tables of the stand-in for Snowflake after real runs of target-snowflake."""

import json
from dataclasses import replace

from tap_leadintent.sandbox import Sandbox
from tests.e2e.snowflake.conftest import SnowflakeWarehouse
from tests.support.helpers import (
    STREAMS,
    Json,
    declared_stream,
    ids_of,
    raw_records,
)
from tests.support.pipelines import Pipeline
from tests.support.postgres import without_metadata
from tests.support.rows import expected_rows
from tests.support.runs import DAY, SINCE, fill

ODD_LEADS = (
    r'{"id": "odd-1", "full_name": "Zoë 佐藤 \"🚀\"", "title": "a\nb\\n\u0001"}',
    '{"id": "odd-2", "new": {"deep": [[], [1, [2.5]], {}, null, true], "": ""}}',
    '{"id": "odd-3", "title": "", "company": {}, "signal": null, "score": {"n": 0.5}}',
)

TYPES = {
    "string": "VARCHAR(16777216)",
    "date-time": "TIMESTAMP_NTZ(9)",
    "object": "VARIANT",
    "integer": "NUMBER(38,0)",
    "number": "FLOAT",
}


def held(
    warehouse: SnowflakeWarehouse,
    schema: str,
    *streams: str,
) -> dict[str, dict[str, Json]]:
    """Read tables' rows by id, without what the target adds."""
    tables = warehouse.rows(schema, *streams)
    found = {}
    for stream, rows in zip(streams, tables, strict=True):
        found[stream] = {row["id"]: without_metadata(row) for row in rows}
        assert len(found[stream]) == len(rows)
    return found


def test_it_holds_what_the_api_holds_run_after_run(
    sandbox: Sandbox,
    warehouse: SnowflakeWarehouse,
) -> None:
    fill(
        sandbox,
        **{
            **dict.fromkeys(STREAMS, 60),
            "leads": 250,
        },
    )
    sandbox.insert("leads", *ODD_LEADS, found_at=SINCE)
    password = {"TARGET_SNOWFLAKE_PASSWORD": "password"}
    pipeline = Pipeline(
        replace(warehouse, credentials=password),
        sandbox,
        "complete",
    )
    seen: list[Json] = []
    for days in (0, 1, 10):
        sandbox.advance(days * DAY)
        pipeline.run()
        rows = held(warehouse, "complete", *STREAMS)
        for stream in STREAMS:
            assert rows[stream] == expected_rows(sandbox, stream), stream
        seen.append(rows["leads"])
    first, _, last = seen
    assert len(last) > len(first), "no new leads"
    assert any(last[key] != row for key, row in first.items()), "no lead has moved"


def test_the_types_of_all_columns(
    sandbox: Sandbox,
    warehouse: SnowflakeWarehouse,
) -> None:
    fill(sandbox, **dict.fromkeys(STREAMS, 5))
    added = {"observations": {"confidence": {"type": ["number", "null"]}}}
    extra = {"TAP_LEADINTENT__SCHEMA": json.dumps(added)}
    Pipeline(warehouse, sandbox, "types", **extra).run()
    tables = dict(
        zip(
            STREAMS,
            warehouse.types("types", *STREAMS),
            strict=True,
        )
    )
    for stream, columns in tables.items():
        declared = declared_stream(stream).schema["properties"] | added.get(stream, {})
        for name, schema in declared.items():
            kinds = schema["type"]
            kind = kinds if isinstance(kinds, str) else kinds[0]
            assert columns.pop(name) == TYPES[schema.get("format", kind)]
        for name in columns:
            assert name.startswith("_sdc_")


def test_accounts_that_left_the_queue_are_marked(
    sandbox: Sandbox,
    warehouse: SnowflakeWarehouse,
) -> None:
    fill(sandbox, monitored_accounts=50)
    schema = "queue"
    select = {"TAP_LEADINTENT__SELECT": '["monitored_accounts.*"]'}
    versions = {"TAP_LEADINTENT_EMIT_ACTIVATE_VERSION_MESSAGES": "true"}

    def retired() -> dict[str, bool]:
        """Return the accounts of the table, and whether they are marked as deleted."""
        (rows,) = warehouse.rows(schema, "monitored_accounts")
        return {row["id"]: row["_sdc_deleted_at"] is not None for row in rows}

    def leave(count: int) -> set[str]:
        """Remove accounts from the queue, and return their ids."""
        accounts = raw_records(sandbox, "monitored_accounts")
        gone = ids_of(accounts[:count])
        return set(sandbox.remove("monitored_accounts", *gone))

    # Loaded before versions were switched on: without a version, never retired.
    Pipeline(warehouse, sandbox, schema, **select).run()
    everything = retired()
    assert len(everything) == 50
    first = leave(3)
    pipeline = Pipeline(
        warehouse,
        sandbox,
        schema,
        **select,
        **versions,
    )
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
    assert retired() == {key: key in gone for key in everything}
