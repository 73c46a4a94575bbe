"""The example dbt project, built on tables of Snowflake's stand-in."""

from pathlib import Path

import yaml

from tap_leadintent.sandbox import Sandbox
from tests.e2e.snowflake.conftest import SnowflakeWarehouse
from tests.support.dbt import ALL_IS_WELL, REQUIREMENTS, assert_opened, run_dbt
from tests.support.environments import build
from tests.support.helpers import API_KEY, raw_records
from tests.support.pipelines import Pipeline


def test_staging_models_open_leads_and_observations(
    sandbox: Sandbox, warehouse: SnowflakeWarehouse, tmp_path: Path
) -> None:
    sandbox.configure(api_key=API_KEY, sizes={"leads": 100, "observations": 100})
    schema = "MODELS"
    Pipeline(warehouse, sandbox, schema).run()
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
    profiles = {"leadintent": {"target": "fake", "outputs": {"fake": output}}}
    path = tmp_path / "profiles.yml"
    path.write_text(yaml.safe_dump(profiles), encoding="utf-8")
    programs = build(REQUIREMENTS, tmp_path / "environment")
    # The stand-in has no temporary tables, in which dbt runs its three unit tests.
    options = ["--exclude-resource-type", "unit_test"]
    source = {"LEADINTENT_SCHEMA": schema}
    printed = run_dbt(
        programs, tmp_path, "build", *options, profiles=tmp_path, variables=source
    )
    assert ALL_IS_WELL in printed, printed[-3000:]

    keys = {"leads": "lead_id", "observations": "observation_key"}
    tables = warehouse.rows("LEADINTENT_STAGING", *(f"stg_{name}" for name in keys))
    for (stream, key), rows in zip(keys.items(), tables, strict=True):
        assert_opened(rows, raw_records(sandbox, stream), key)
