"""The example dbt project, built on tables of PostgreSQL."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tap_leadintent.sandbox import Sandbox
from tests.support.dbt import ALL_IS_WELL, REQUIREMENTS, assert_opened, run_dbt
from tests.support.environments import build
from tests.support.helpers import API_KEY, STREAMS, Json, RunTap, raw_records
from tests.support.in_process import typed_catalog
from tests.support.pages import ROOT, section, settings_of_tap
from tests.support.postgres import rows_of
from tests.support.schemas import Schema

STAGING = ROOT / "docs/examples/dbt/models/staging/staging.yml"
MODELS = yaml.safe_load(STAGING.read_text("utf-8"))["models"]
# The first column in the description of a model is its key.
KEYS = {model["name"]: model["columns"][0]["name"] for model in MODELS}


HISTORY = settings_of_tap(
    section(ROOT / "docs/recipes.md", "## Keep earlier signals of a lead")
)
TYPED = "typed"
LOADS: dict[str, list[Json]] = {
    "as it is": [{}],
    "typed": [{TYPED: True, **HISTORY}],
    "typed later": [{}, {TYPED: True}],
}


BEHIND = """
    UPDATE tap_leadintent.loads SET complete_to = complete_to - INTERVAL '40 days'
    WHERE time_range = 'latest_signal'
"""
AGE = """
    UPDATE tap_leadintent.{}
    SET _sdc_extracted_at = _sdc_extracted_at - INTERVAL '40 days'
"""


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(REQUIREMENTS, tmp_path_factory.mktemp("dbt") / "environment")


@dataclass(frozen=True)
class Project:
    """The example project, and runs of the tap that load its tables."""

    tap: RunTap
    schema: Schema
    programs: Path

    def load(self, *configs: Json) -> None:
        """Run the tap once with each configuration; the first run has no state."""
        state = None
        for given in configs:
            config = {**given}
            is_typed = config.pop(TYPED, False)
            catalog = typed_catalog(self.schema.folder, config) if is_typed else None
            run = self.tap(config, state=state, catalog=catalog).succeeded()
            self.schema.load(run)
            state = run.state

    def dbt(self, *command: str, **variables: Any) -> str:
        """Run a command of dbt with variables of the project; return what it prints."""
        options = ("--vars", json.dumps(variables))
        schema, folder = self.schema, self.schema.folder
        with schema.postgres.connect() as connection:
            place = {"POSTGRES_HOST": connection.info.host}
        place["LEADINTENT_SCHEMA"] = folder.name
        return run_dbt(self.programs, folder, *command, *options, variables=place)

    def rows(self, model: str) -> list[Json]:
        """Return the rows of a model."""
        return rows_of(
            self.schema.postgres, f"{self.schema.folder.name}_staging", model
        )


@pytest.fixture
def project(tap: RunTap, sandbox: Sandbox, schema: Schema, programs: Path) -> Project:
    # References between streams point to records of the sandbox's default sizes.
    sandbox.configure(api_key=API_KEY)
    return Project(tap, schema, programs)


@pytest.mark.parametrize("loads", LOADS.values(), ids=LOADS)
def test_staging_models_open_every_field_of_the_sandbox(
    project: Project, sandbox: Sandbox, config: Json, loads: list[Json]
) -> None:
    project.load(*({**config, **change} for change in loads))
    has_history = "stream_maps" in loads[0]
    printed = project.dbt("build", leads_history=has_history)
    assert ALL_IS_WELL in printed, printed[-3000:]
    for stream in STREAMS:
        records = raw_records(sandbox, stream)
        assert_opened(project.rows(f"stg_{stream}"), records, KEYS[f"stg_{stream}"])
    if has_history:
        records = raw_records(sandbox, "leads")
        assert_opened(project.rows("stg_leads_history"), records, KEYS["stg_leads"])


def test_fields_that_are_left_out_are_named(project: Project, config: Json) -> None:
    excluded = {"leads": ["full_name", "title"], "observations": ["signal.id"]}
    masked = {"leads": {"country_code": "__NULL__"}}
    project.load({**config, "exclude_fields": excluded, "stream_maps": masked})
    printed = project.dbt("build")
    assert " WARN=2 ERROR=0 SKIP=0 " in printed, printed[-3000:]
    names = '"full_name", "title", "country_code"'
    assert f"stg_leads: no row has a value in {names}\n" in printed
    assert 'stg_observations: no row has a value in "signal_id"\n' in printed


def test_values_of_another_type_are_counted(
    project: Project, sandbox: Sandbox, config: Json
) -> None:
    fields: dict[str, Json] = {
        "leads": {"score": {"value": "high"}},
        "signal_agents": {"next_check_at": "soon"},
        "signal_accounts": {"found_at": "30 February", "signals_count": "many"},
        "monitored_accounts": {"added_at": [], "checks": {}},
        "observations": {"confidence": "high", "published_at": 1.5},
        "custom_signals": {"created_at": "", "active": "maybe"},
        "monitored_leads": {"activities_count": "n/a", "latest_activity_at": True},
    }
    for stream, record in fields.items():
        sandbox.insert(stream, {"id": "odd", **record})
    project.load(config)
    printed = project.dbt("build")
    assert f" WARN={len(fields)} ERROR=0 SKIP=0 " in printed, printed[-3000:]
    for stream, record in fields.items():
        for name in record:
            field = "score.value" if name == "score" else name
            lost = f"stg_{stream}: 1 values of {field} are not of its type"
            assert lost in printed


def test_the_first_load_of_a_lead_does_not_change(
    project: Project, sandbox: Sandbox, config: Json
) -> None:
    model = ("build", "--select", "+new_leads_by_score")
    project.load(config)
    project.dbt(*model)
    assert {row["first_loaded_at"] for row in project.rows("lead_first_loads")} == {
        None
    }
    found = []
    sandbox.insert("leads", {"id": "late"}, observed_at="2026-01-01T00:00:00Z")
    for _ in range(2):
        project.load(config)
        assert ALL_IS_WELL in project.dbt(*model)
        (time,) = (
            row["first_loaded_at"]
            for row in project.rows("lead_first_loads")
            if row["lead_id"] == "late"
        )
        found.append(time)
    assert found[0] == found[1] is not None
    new = project.rows("new_leads_by_score")
    assert "late" in {row["lead_id"] for row in new}


def test_the_age_of_rows_shows_stale_sources_and_leads_that_are_gone(
    project: Project, sandbox: Sandbox, config: Json
) -> None:
    clock = datetime.now(UTC).isoformat()
    sandbox.configure(api_key=API_KEY, clock=clock)
    project.load({**config, "load_receipts": True})
    for table in ("leads", "signal_agents"):
        project.schema.ask(AGE.format(table))
    freshness = ("source", "freshness")
    printed = project.dbt(*freshness, load_receipts=True)
    assert "ERROR STALE freshness of leadintent.signal_agents" in printed
    assert "PASS freshness of leadintent.loads" in printed
    project.schema.ask(BEHIND)
    printed = project.dbt(*freshness, load_receipts=True)
    assert "ERROR STALE freshness of leadintent.loads" in printed
    gone = {lead["id"] for lead in raw_records(sandbox, "leads")[:3]}
    sandbox.remove("leads", *gone)
    start = f"{datetime.now(UTC):%F %T}"
    project.load(config)
    assert "PASS freshness of" in project.dbt(*freshness)

    model = ("build", "--select", "leads_no_longer_returned")
    for variables, expected in (
        ({}, set[str]()),
        ({"leads_complete_since": start}, gone),
        ({"leads_complete_days": 32}, gone),
    ):
        printed = project.dbt(*model, **variables)
        assert "PASS=3 WARN=0 ERROR=0" in printed, printed[-3000:]
        rows = project.rows("leads_no_longer_returned")
        assert {row["lead_id"] for row in rows} == expected
