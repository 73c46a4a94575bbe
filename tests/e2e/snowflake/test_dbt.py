"""The example dbt project, built on tables of Snowflake's stand-in."""

from functools import partial
from pathlib import Path

import yaml

from tap_leadintent.sandbox import Sandbox
from tests.e2e.snowflake.conftest import SnowflakeWarehouse
from tests.support.dbt import ALL_IS_WELL, REQUIREMENTS, assert_opened, run_dbt
from tests.support.environments import build
from tests.support.helpers import API_KEY, raw_records, where
from tests.support.pipelines import Pipeline
from tests.support.warehouse import PAGE_QUERY


def test_staging_models_open_leads_and_observations(
    sandbox: Sandbox,
    warehouse: SnowflakeWarehouse,
    tmp_path: Path,
) -> None:
    sandbox.configure(
        api_key=API_KEY,
        sizes={"leads": 100, "observations": 100},
    )
    schema = "MODELS"
    receipts = {"TAP_LEADINTENT_LOAD_RECEIPTS": "true"}
    Pipeline(warehouse, sandbox, schema, **receipts).run()
    output = {
        "type": "snowflake",
        "account": "fakesnow",
        "host": "127.0.0.1",
        "port": int(warehouse.port),
        "protocol": "http",
        "user": "any",
        "password": "any",
        "database": "TESTDB",
        "warehouse": "LOADING",
        "role": "LOADER",
        "schema": "LEADINTENT_STAGING",
        "threads": 2,
    }
    profiles = {
        "leadintent": {
            "target": "fake",
            "outputs": {"fake": output},
        }
    }
    path = tmp_path / "profiles.yml"
    path.write_text(yaml.safe_dump(profiles), encoding="utf-8")
    programs = build(REQUIREMENTS, tmp_path / "environment")
    # The stand-in has no temporary tables, in which dbt runs its three unit tests.
    options = ["--exclude-resource-type", "unit_test"]
    options += ["--vars", "{load_receipts: true}"]
    source = {"LEADINTENT_SCHEMA": schema}
    dbt = partial(run_dbt, programs, tmp_path, profiles=tmp_path, variables=source)
    printed = dbt("build", *options)
    assert ALL_IS_WELL in printed, printed[-3000:]
    assert "PASS rows_have_arrived" in printed

    keys = {"leads": "lead_id", "observations": "observation_key"}
    tables = warehouse.rows("LEADINTENT_STAGING", *(f"stg_{name}" for name in keys))
    for (stream, key), rows in zip(
        keys.items(),
        tables,
        strict=True,
    ):
        assert_opened(rows, raw_records(sandbox, stream), key)

    for record in raw_records(sandbox, "leads")[:3]:
        warehouse.ask(f"delete from {schema}.leads where id = '{record['id']}'")
    printed = dbt("test", "--select", "rows_have_arrived", *options)
    assert "WARN=0 ERROR=1" in printed, printed[-3000:]
    assert "leads, date_found: 3 rows that the last run wrote are missing" in printed
    (rows,) = warehouse.ask(PAGE_QUERY.replace("tap_leadintent", schema))
    assert len(rows) == 9
    for row in rows:
        is_whole = row["stream"] != "leads" or row["arrived"] == row["checked_records"]
        assert row["result"] == ("complete" if is_whole else "missing"), row
    (found,) = where(rows, stream="leads", time_range="date_found")
    assert found["result"] == "missing"
