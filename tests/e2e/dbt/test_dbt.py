"""The example dbt project, built on tables of PostgreSQL and DuckDB."""

import json
import re
import shlex
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from tap_leadintent.sandbox import Sandbox
from tests.support.clones import Repository
from tests.support.dbt import (
    ALL_IS_WELL,
    PROJECT,
    REQUIREMENTS,
    assert_opened,
    run_dbt,
)
from tests.support.environments import build
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    Json,
    RunTap,
    ids_of,
    raw_records,
    where,
)
from tests.support.in_process import typed_catalog
from tests.support.pages import ROOT, section, settings_of_tap
from tests.support.pipelines import printed_by
from tests.support.postgres import rows_of
from tests.support.rows import instant
from tests.support.schemas import Schema
from tests.support.states import state_from
from tests.support.targets import run_target
from tests.support.warehouse import PAGE_QUERY

STAGING = ROOT / "docs/examples/dbt/models/staging/staging.yml"
MODELS = yaml.safe_load(STAGING.read_text("utf-8"))["models"]
# The first column in the description of a model is its key.
KEYS: dict[str, str] = {}
for _model in MODELS:
    _key, *_ = _model["columns"]
    KEYS[_model["name"]] = _key["name"]

HISTORY = settings_of_tap(
    section(ROOT / "docs/recipes.md", "## Keep earlier signals of a lead")
)
TYPED = "typed"
LOADS: dict[str, list[Json]] = {
    "as it is": [{}],
    "typed": [{TYPED: True, **HISTORY}],
    "typed later": [{}, {TYPED: True}],
}


QUERY = """
import duckdb, sys
path, query = sys.argv[1:]
for (row,) in duckdb.connect(path, read_only=True).execute(query).fetchall():
    print(row)
"""
DELETE = """
import duckdb, sys
path, statement = sys.argv[1:]
duckdb.connect(path).execute(statement)
print("[]")
"""
TARGETS = ("postgres", "duckdb")
MISSING = r"(\w+), (\w+): (\d+) rows that the last run wrote are missing"
COMMAND = r"changed by: tap-leadintent-state (.*)"
SALES = ROOT / "docs/examples/dbt/models/sales"
PACKAGES = """
packages:
  - git: "file://{}"
    subdirectory: docs/examples/dbt
    revision: main
"""

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

    @property
    def duckdb(self) -> Path:
        """The database of DuckDB."""
        return self.schema.folder / "leads.duckdb"

    def load(
        self,
        *configs: Json,
        state: Json | None = None,
    ) -> Json | None:
        """Run the tap once with each configuration; return the last state.

        Without a state, the first run has none. Both PostgreSQL and DuckDB load what it
        writes.
        """
        place = {
            "path": str(self.duckdb),
            "default_target_schema": self.schema.folder.name,
        }
        for given in configs:
            config = {**given}
            is_typed = config.pop(TYPED, False)
            catalog = typed_catalog(self.schema.folder, config) if is_typed else None
            run = self.tap(config, state=state, catalog=catalog).succeeded()
            self.schema.load(run)
            run_target(
                self.schema.folder,
                "target-duckdb",
                place,
                run.stdout,
            )
            state = run.state
        return state

    def dbt(
        self,
        *command: str,
        target: str = "postgres",
        **variables: Any,
    ) -> str:
        """Run a command of dbt with variables of the project; return what it prints."""
        options = ("--vars", json.dumps(variables), "--target", target)
        folder = self.schema.folder
        with self.schema.postgres.connect() as connection:
            host = connection.info.host
        place = {
            "POSTGRES_HOST": host,
            "LEADINTENT_SCHEMA": folder.name,
            "DUCKDB_PATH": str(self.duckdb),
        }
        return run_dbt(
            self.programs,
            folder,
            *command,
            *options,
            variables=place,
        )

    def arrived(self, target: str) -> str:
        """Return what the test of missing rows prints."""
        command = ("test", "--select", "rows_have_arrived")
        return self.dbt(*command, target=target, load_receipts=True)

    def results(self, target: str) -> dict[tuple[str, str], str]:
        """Return what the query of the page says, by stream and time range."""
        query = PAGE_QUERY.replace("tap_leadintent", f'"{self.schema.folder.name}"')
        columns = f"SELECT stream, time_range, result FROM ({query}) AS compared"  # noqa: S608
        if target == "postgres":
            rows = self.schema.ask(columns)
        else:
            text = (
                f"SELECT to_json([stream, time_range, result])::TEXT FROM ({columns})"  # noqa: S608
            )
            rows = printed_by(
                self.programs,
                "-c",
                QUERY,
                str(self.duckdb),
                text,
            )
        found: dict[tuple[str, str], str] = {}
        for stream, time_range, result in rows:
            found[stream, time_range] = result
        return found

    def delete(
        self,
        table: str,
        column: str,
        values: list[str],
    ) -> None:
        """Delete rows by hand from both databases."""
        place = f"{self.schema.folder.name}.{table}"
        statement = f"DELETE FROM {place} WHERE {column} IN {(*values, '')}"  # noqa: S608
        self.schema.ask(statement)
        printed_by(
            self.programs,
            "-c",
            DELETE,
            str(self.duckdb),
            statement,
        )

    def rows(self, model: str) -> list[Json]:
        """Return the rows of a model."""
        return rows_of(
            self.schema.postgres,
            f"{self.schema.folder.name}_staging",
            model,
        )

    def rows_in_duckdb(self, model: str) -> list[Json]:
        """Return the rows of a model in DuckDB, times as text."""
        name = f'"{self.schema.folder.name}_staging".{model}'
        query = f"SELECT to_json(t)::TEXT FROM {name} AS t"  # noqa: S608
        return printed_by(
            self.programs,
            "-c",
            QUERY,
            str(self.duckdb),
            query,
        )


@pytest.fixture
def project(
    tap: RunTap,
    sandbox: Sandbox,
    schema: Schema,
    programs: Path,
) -> Project:
    # References between streams point to records of the sandbox's default sizes.
    sandbox.configure(api_key=API_KEY)
    return Project(tap, schema, programs)


def changed(config: Json, changes: list[Json]) -> list[Json]:
    """Return the configuration with each of the changes."""
    return [{**config, **change} for change in changes]


@pytest.mark.parametrize("loads", LOADS.values(), ids=LOADS)
def test_staging_models_open_every_field_of_the_sandbox(
    project: Project,
    sandbox: Sandbox,
    config: Json,
    loads: list[Json],
) -> None:
    project.load(*changed(config, loads))
    has_history = "stream_maps" in loads[0]
    printed = project.dbt("build", leads_history=has_history)
    assert ALL_IS_WELL in printed, printed[-3000:]
    for stream in STREAMS:
        model = f"stg_{stream}"
        assert_opened(
            project.rows(model),
            raw_records(sandbox, stream),
            KEYS[model],
        )
    if has_history:
        assert_opened(
            project.rows("stg_leads_history"),
            raw_records(sandbox, "leads"),
            KEYS["stg_leads"],
        )


@pytest.mark.parametrize("loads", LOADS.values(), ids=LOADS)
def test_duckdb_has_the_same_views(
    project: Project,
    sandbox: Sandbox,
    config: Json,
    loads: list[Json],
) -> None:
    odd = {
        "id": "odd",
        "score": {"value": 0.123456789},
        "new": [1],
    }
    sandbox.insert("leads", odd)
    project.load(*changed(config, loads))
    end = f"{datetime.fromisoformat(sandbox.now()):%F %T}"
    has_history = "stream_maps" in loads[0]
    for target in ("postgres", "duckdb"):
        options = {"leads_history": has_history, "as_of": end}
        printed = project.dbt("build", target=target, **options)
        assert ALL_IS_WELL in printed, printed[-3000:]
    found = 0
    for path in (*STAGING.parent.glob("*.sql"), *SALES.glob("*.sql")):
        model = path.stem
        if model == "stg_leads_history" and not has_history:
            continue
        rows = comparable(project.rows(model))
        assert comparable(project.rows_in_duckdb(model)) == rows, model
        found += bool(rows)
    assert found >= 10


def comparable(rows: list[Json]) -> list[str]:
    """Return rows as sorted texts, the same for equal rows of both databases."""
    return sorted(repr(_plain(row)) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        return instant(value) or value
    if isinstance(value, list):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {name: _plain(value[name]) for name in sorted(value)}
    return value


def test_another_project_uses_it_as_a_package(
    project: Project,
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
) -> None:
    repository = Repository(tmp_path / "repository")
    shutil.copytree(PROJECT, repository.folder / "docs/examples/dbt")
    repository.commit()
    own = tmp_path / "own"
    own.mkdir()
    (own / "packages.yml").write_text(PACKAGES.format(repository.folder), "utf-8")
    shutil.copy(PROJECT / "profiles.yml", own)
    about = {
        "name": "own",
        "version": "1.0.0",
        "profile": "leadintent",
    }
    (own / "dbt_project.yml").write_text(json.dumps(about), "utf-8")
    project.load(config)
    place = {
        "LEADINTENT_SCHEMA": tmp_path.name,
        "DUCKDB_PATH": str(project.duckdb),
    }
    build_it = [
        "build",
        "--select",
        "leadintent",
        "--target",
        "duckdb",
    ]
    for command in (["deps"], build_it):
        printed = run_dbt(
            project.programs,
            tmp_path,
            *command,
            project=own,
            profiles=own,
            variables=place,
        )
    assert ALL_IS_WELL in printed, printed[-3000:]
    rows = project.rows_in_duckdb("stg_leads")
    assert ALL_IS_WELL in project.dbt("build", "--select", "stg_leads")
    assert comparable(rows) == comparable(project.rows("stg_leads"))
    assert len(rows) == len(raw_records(sandbox, "leads"))


@pytest.mark.parametrize("macro", ["value_in", "json_in", "now_in_utc"])
def test_another_adapter_is_told_what_is_missing(project: Project, macro: str) -> None:
    given = {} if macro == "now_in_utc" else {"column": "x", "path": "y"}
    command = ("run-operation", f"default__{macro}", "--args", json.dumps(given))
    printed = project.dbt(*command)
    assert "Add macros for postgres to macros/nested.sql, such as" in printed


def test_tables_without_load_times_fail(project: Project, config: Json) -> None:
    project.load(config)
    project.schema.ask("UPDATE tap_leadintent.leads SET _sdc_extracted_at = NULL")
    printed = project.dbt(
        "build",
        "--select",
        "stg_leads",
        "stg_signal_agents",
    )
    assert " ERROR=1 " in printed, printed[-3000:]
    assert (
        "Load the table of stg_leads again with the loader's setting for metadata "
        "columns on: no row has a time in _sdc_extracted_at"
    ) in printed


def test_fields_that_are_left_out_are_named(project: Project, config: Json) -> None:
    excluded = {
        "leads": ["full_name", "title"],
        "observations": ["signal.id"],
    }
    masked = {"leads": {"country_code": "__NULL__"}}
    project.load({**config, "exclude_fields": excluded, "stream_maps": masked})
    printed = project.dbt("build")
    assert " WARN=2 ERROR=0 SKIP=0 " in printed, printed[-3000:]
    names = '"full_name", "title", "country_code"'
    assert f"stg_leads: no row has a value in {names}\n" in printed
    assert 'stg_observations: no row has a value in "signal_id"\n' in printed


def test_values_of_another_type_are_counted(
    project: Project,
    sandbox: Sandbox,
    config: Json,
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
    project: Project,
    sandbox: Sandbox,
    config: Json,
) -> None:
    model = ("build", "--select", "+new_leads_by_score")
    project.load(config)
    project.dbt(*model)
    first_loads = project.rows("lead_first_loads")
    assert first_loads
    assert where(first_loads, first_loaded_at=None) == first_loads
    found = []
    sandbox.insert("leads", {"id": "late"}, observed_at="2026-01-01T00:00:00Z")
    for _ in range(2):
        project.load(config)
        assert ALL_IS_WELL in project.dbt(*model)
        (row,) = where(project.rows("lead_first_loads"), lead_id="late")
        found.append(row["first_loaded_at"])
    assert found[0] == found[1] is not None
    assert where(project.rows("new_leads_by_score"), lead_id="late")


def test_the_age_of_rows_shows_stale_sources_and_leads_that_are_gone(
    project: Project,
    sandbox: Sandbox,
    config: Json,
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
    gone = ids_of(raw_records(sandbox, "leads")[:3])
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


RECEIPTS: dict[str, Json] = {
    "typed, with history": {TYPED: True, **HISTORY},
    "flat, masked": {
        "flattening_enabled": True,
        "flattening_max_depth": 2,
        "stream_maps": {"leads": {"id": "md5(id)", "full_name": None}},
        "exclude_fields": {"leads": ["title"], "observations": ["signal"]},
    },
}
PASSES = "PASS=1 WARN=0 ERROR=0"


def assert_arrived(project: Project) -> None:
    """Assert that no row is missing from either database."""
    for target in TARGETS:
        printed = project.arrived(target)
        assert PASSES in printed, printed


@pytest.mark.parametrize("way", RECEIPTS)
def test_missing_rows_fail_until_they_are_loaded_again(
    project: Project,
    config: Json,
    way: str,
) -> None:
    config = {**config, "load_receipts": True, **RECEIPTS[way]}
    state = project.load(config)
    assert_arrived(project)
    for target in TARGETS:
        results = project.results(target)
        assert len(results) == 9
        assert {*results.values()} == {"complete"}
    newest = sorted(
        project.schema.rows("leads"),
        key=lambda row: str(row["signal_observed_at"]),
    )
    project.delete("leads", "id", [*ids_of(newest[-4:-1])])
    accounts = project.schema.rows("signal_accounts")
    project.delete(
        "signal_accounts",
        "record_key",
        [accounts[5]["record_key"]],
    )
    for target in TARGETS:
        text = project.arrived(target)
        assert "WARN=0 ERROR=1" in text, text[-3000:]
        missing = {
            ("leads", "date_found", "3"),
            ("leads", "latest_signal", "3"),
            ("signal_accounts", "date_found", "1"),
            ("signal_accounts", "latest_signal", "1"),
        }
        assert {*re.findall(MISSING, text)} == missing
        named = set()
        for place, result in project.results(target).items():
            if result == "missing":
                named.add(place)
        assert named == {(stream, time_range) for stream, time_range, _ in missing}
    for command in re.findall(COMMAND, text):
        state = state_from(*shlex.split(command), stdin=state)
    project.load(config, state=state)
    assert_arrived(project)


def test_deleted_records_warn_and_so_does_what_is_not_known(
    project: Project,
    sandbox: Sandbox,
    config: Json,
) -> None:
    config = {**config, "load_receipts": True}
    state = project.load(config)
    newest = sorted(
        raw_records(sandbox, "observations"),
        key=lambda each: str(each["observed_at"]),
    )
    sandbox.remove("observations", *ids_of(newest[-2:]))
    state = project.load({**config, "start_date": "2020-01-01"}, state=state)
    text = project.arrived("postgres")
    assert "PASS=0 WARN=1 ERROR=0" in text, text[-3000:]
    assert "observations, observed_at: 2 rows more than the last run wrote" in text
    assert text.count("rows more than") == 1
    project.load({**config, "max_requests_per_run": 8})
    text = project.arrived("postgres")
    assert "PASS=0 WARN=1 ERROR=0" in text, text[-3000:]
    assert "leads, latest_signal: not known, as the last run has not read" in text
