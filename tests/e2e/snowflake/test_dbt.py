"""The example dbt project, built on tables of Snowflake's stand-in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from tests.support.dbt import ALL_IS_WELL, REQUIREMENTS, dbt_build, opened
from tests.support.environments import build
from tests.support.helpers import API_KEY, raw_records
from tests.support.pipelines import Pipeline
from tests.support.rows import instant

if TYPE_CHECKING:
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.e2e.snowflake.conftest import SnowflakeWarehouse


@pytest.mark.parametrize("typed", ["false", "true"], ids=["as it is", "typed"])
def test_staging_models_open_leads_and_observations(
    sandbox: Sandbox, warehouse: SnowflakeWarehouse, tmp_path: Path, typed: str
) -> None:
    sandbox.configure(api_key=API_KEY, sizes={"leads": 100, "observations": 100})
    schema = f"TYPED_{typed}".upper()
    typing = {"TAP_LEADINTENT_INFER_COLUMNS": typed}
    Pipeline(warehouse, sandbox, schema, **typing).run()
    output = {
        "type": "snowflake",
        "account": "fakesnow",
        "host": "127.0.0.1",
        "port": warehouse.port,
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
    environment = build(REQUIREMENTS, tmp_path / "environment")
    source = ("--vars", f"{{leadintent_schema: {schema}}}")
    said = dbt_build(environment, tmp_path, *source, profiles=tmp_path)
    assert ALL_IS_WELL in said, said[-3000:]

    keys = {"leads": "lead_id", "observations": "observation_key"}
    tables = warehouse.rows("LEADINTENT_STAGING", *(f"stg_{name}" for name in keys))
    for (stream, key), rows in zip(keys.items(), tables, strict=True):
        held = {row[key]: row for row in rows}
        records = raw_records(sandbox, stream)
        assert held.keys() == {record["id"] for record in records}
        for record in records:
            told = {
                name: instant(value) if name.endswith("_at") else value
                for name, value in opened(record).items()
                if name != "id"
            }
            row = held[record["id"]]
            assert {name: row[name] for name in told} == told
