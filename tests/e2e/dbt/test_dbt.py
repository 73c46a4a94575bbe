"""The example dbt project, built on tables of PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.dbt import REQUIREMENTS, dbt_build, opened
from tests.support.environments import build
from tests.support.helpers import API_KEY, STREAMS, raw_records
from tests.support.postgres import rows_of
from tests.support.rows import instant
from tests.support.targets import run_target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.demo.postgres import Postgres
    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

KEYS = {
    "signal_agents": "agent_id",
    "leads": "lead_id",
    "signal_accounts": "account_key",
    "monitored_accounts": "account_key",
    "observations": "observation_key",
    "custom_signals": "custom_signal_key",
    "monitored_leads": "lead_key",
}


def test_staging_models_open_every_field_of_the_sandbox(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    postgres: Postgres,
    tmp_path: Path,
) -> None:
    # References between streams point into the sandbox's own sizes.
    sandbox.configure(api_key=API_KEY)
    settings = {
        "sqlalchemy_url": postgres.url,
        "default_target_schema": "tap_leadintent",
    }
    messages = tap(config).succeeded().stdout
    run_target(tmp_path, "target-postgres", settings, messages)
    environment = build(REQUIREMENTS, tmp_path / "environment")
    with postgres.connect() as connection:
        host = {"POSTGRES_HOST": connection.info.host}
    dbt_build(environment, tmp_path, variables=host)
    for stream in STREAMS:
        rows = rows_of(postgres, "leadintent_staging", f"stg_{stream}")
        held = {row[KEYS[stream]]: row for row in rows}
        records = raw_records(sandbox, stream)
        assert held.keys() == {record["id"] for record in records}
        for record in records:
            fields = opened(record)
            del fields["id"]  # under the name of the key
            told = {
                name: instant(value) if name.endswith("_at") else value
                for name, value in fields.items()
            }
            row = held[record["id"]]
            assert {name: row[name] for name in told} == told
