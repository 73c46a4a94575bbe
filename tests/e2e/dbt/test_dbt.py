"""The example dbt project, built on tables of PostgreSQL."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.sandbox import Sandbox
from tests.support.dbt import ALL_IS_WELL, REQUIREMENTS, assert_opened, dbt_build
from tests.support.environments import build
from tests.support.helpers import API_KEY, STREAMS, Run, raw_records
from tests.support.postgres import rows_of
from tests.support.targets import run_target

KEYS = {
    "signal_agents": "agent_id",
    "leads": "lead_id",
    "signal_accounts": "account_key",
    "monitored_accounts": "account_key",
    "observations": "observation_key",
    "custom_signals": "custom_signal_key",
    "monitored_leads": "lead_key",
}


LOADS: dict[str, list[dict[str, Any]]] = {
    "as it is": [{}],
    "typed": [{"infer_columns": True}],
    "typed later": [{}, {"infer_columns": True}],
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(REQUIREMENTS, tmp_path_factory.mktemp("dbt") / "environment")


@pytest.fixture
def load_and_build(  # noqa: PLR0913, PLR0917 - fixtures
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    postgres: Postgres,
    programs: Path,
    tmp_path: Path,
) -> Callable[..., str]:
    """Load the sandbox, once with each of the settings, and give what dbt says."""

    def load_and_build(*loads: dict[str, Any]) -> str:
        # References between streams point into the sandbox's own sizes.
        sandbox.configure(api_key=API_KEY)
        schema, state = tmp_path.name, None
        settings = {"sqlalchemy_url": postgres.url, "default_target_schema": schema}
        for change in loads:
            run = tap({**config, **change}, state=state).succeeded()
            run_target(tmp_path, "target-postgres", settings, run.stdout)
            state = run.state
        with postgres.connect() as connection:
            host = {"POSTGRES_HOST": connection.info.host}
        source = ("--vars", f"{{leadintent_schema: {schema}}}")
        return dbt_build(programs, tmp_path, *source, variables=host)

    return load_and_build


@pytest.mark.parametrize("loads", LOADS.values(), ids=LOADS)
def test_staging_models_open_every_field_of_the_sandbox(
    load_and_build: Callable[..., str],
    sandbox: Sandbox,
    postgres: Postgres,
    loads: list[dict[str, Any]],
) -> None:
    said = load_and_build(*loads)
    assert ALL_IS_WELL in said, said[-3000:]
    for stream in STREAMS:
        rows = rows_of(postgres, "leadintent_staging", f"stg_{stream}")
        assert_opened(rows, raw_records(sandbox, stream), KEYS[stream])


def test_a_column_without_a_value_in_any_row_fails(
    load_and_build: Callable[..., str],
) -> None:
    said = load_and_build({"exclude_fields": {"observations": ["account_id"]}})
    assert "PASS=30 WARN=0 ERROR=1 SKIP=0" in said
    assert "Failure in test no_empty_columns_stg_observations" in said
