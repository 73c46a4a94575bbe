"""What the pages say about existing tables, tested with PostgreSQL."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import Run, entries, only
from tests.support.in_process import run_in_process, typed_catalog
from tests.support.pages import ROOT, blocks, section, settings_of_tap
from tests.support.postgres import Rows, rows_by_id, rows_of, without_metadata
from tests.support.rows import expected_rows, without
from tests.support.runs import DAY, SINCE, fill
from tests.support.targets import run_target

OF_COLUMNS = ROOT / "docs" / "columns.md"
RECIPES = ROOT / "docs" / "recipes.md"
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
REFUSED = "Altering columns is not supported. Could not convert column '.*{}.*'"


class Table:
    """A table, and runs of the tap that load it."""

    def __init__(
        self, folder: Path, postgres: Postgres, config: dict[str, Any], name: str
    ) -> None:
        self._folder = folder
        self._postgres = postgres
        self._config = {**config, "start_date": SINCE}
        self._began = 0.0
        self.name = name
        self.schema = folder.name
        self.state: dict[str, Any] | None = None

    def run(
        self,
        *,
        catalog: dict[str, Any] | None = None,
        target: dict[str, Any] | None = None,
        **settings: Any,
    ) -> Run:
        """Run the tap from the last state, and load its output, even if it fails."""
        catalog = catalog or only(self.name)
        config = {**self._config, **settings}
        # The versions of a table are at least a second apart.
        self._began = max(time.time(), self._began + 1)
        with time_machine.travel(self._began):
            run = run_in_process(
                self._folder, config, catalog=catalog, state=self.state
            )
        place = {"sqlalchemy_url": self._postgres.url}
        place["default_target_schema"] = self.schema
        loader = {**place, **(target or {})}
        run_target(self._folder, "target-postgres", loader, run.stdout)
        self.state = run.state
        return run

    def refresh(self, **options: Any) -> Run:
        """Load everything again, as `meltano run --full-refresh` does."""
        self.state = None
        return self.run(**options).succeeded()

    def discover(self) -> dict[str, Any]:
        """Return the catalog with inferred columns."""
        return only(self.name, of=typed_catalog(self._folder, self._config))

    def all_rows(self, name: str = "") -> list[dict[str, Any]]:
        """Return the rows of the table, or of another, with all columns."""
        return rows_of(self._postgres, self.schema, name or self.name)

    def rows(self, name: str = "") -> Rows:
        """Return the rows of the table, or of a view; see `rows_by_id`."""
        return rows_by_id(self._postgres, self.schema, name or self.name)

    def execute(self, statements: str) -> list[tuple[Any, ...]]:
        """Run the statements of a page, and return what the last one selects."""
        text = statements.replace("tap_leadintent", self.schema).encode()
        with self._postgres.connect() as connection:
            cursor = connection.execute(text)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def table(
    tmp_path: Path, postgres: Postgres, config: dict[str, Any]
) -> Callable[[str], Table]:
    """Return a function that returns the table of a stream."""
    return lambda name: Table(tmp_path, postgres, config, name)


# Columns


def test_a_new_column_is_null_in_old_rows_until_a_full_refresh(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    fill(sandbox, observations=100)
    observations = table("observations")
    observations.run()
    old = observations.rows()
    assert old == expected_rows(sandbox, "observations")

    catalog = only("observations")
    columns = entries(catalog)["observations"]["schema"]["properties"]
    columns["confidence"] = {"type": ["number", "null"]}
    sandbox.advance(20 * DAY)
    run = observations.run(catalog=catalog)
    read = {record["id"] for record in run.records("observations")}
    expected = expected_rows(sandbox, "observations", "confidence")
    before = {key: {**row, "confidence": None} for key, row in old.items()}
    assert observations.rows() == {
        key: expected[key] if key in read else before[key] for key in expected
    }
    assert read - old.keys()
    assert old.keys() - read

    observations.refresh(catalog=catalog)
    assert observations.rows() == expected

    # A column that is removed from the catalog keeps old values.
    observations.refresh()
    stale = expected_rows(sandbox, "observations")
    assert observations.rows() == {
        key: {**row, "confidence": expected[key]["confidence"]}
        for key, row in stale.items()
    }


def test_inferred_columns_follow_their_sample_until_they_are_frozen(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    fill(sandbox)
    signals = table("custom_signals")
    first = {"rank": 5, "active": True, "note": "x"}
    sandbox.insert("custom_signals", {"id": "a", **first})
    frozen = signals.discover()
    signals.run(catalog=frozen)
    expected = {**expected_rows(sandbox, "custom_signals", *first)["a"], **first}
    assert signals.rows()["a"] == expected

    # Another first page: a number has become text, and a text a number.
    sandbox.insert("custom_signals", {"id": "a", "rank": "high", "note": 5})
    with pytest.raises(AssertionError, match=REFUSED.format("rank")):
        signals.run(catalog=signals.discover())
    assert signals.rows()["a"] == expected

    signals.run(catalog=frozen)
    row = signals.rows()["a"]
    assert (row["rank"], row["active"], row["note"]) == (None, None, None)
    assert row["additional_properties"] == {"rank": "high", "note": 5}


def test_flattening_needs_new_tables(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    fill(sandbox, leads=5)
    leads = table("leads")
    leads.run()
    nested = leads.rows()
    with pytest.raises(AssertionError, match=REFUSED.format("additional_properties")):
        leads.refresh(**FLAT)
    assert leads.rows() == nested

    leads.schema += "_flat"
    leads.refresh(**FLAT)
    flat = leads.rows()
    assert {row["company__name"] for row in flat.values()} == {
        row["company"]["name"] for row in nested.values()
    }
    assert not {"company", "signal"} & flat[min(flat)].keys()


def test_excluded_values_stay_in_the_table_until_the_pages_statements_remove_them(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    text = section(OF_COLUMNS, "## Keeping names and personal data out")
    (removal,) = blocks(text, "sql")
    config = settings_of_tap(text)
    (drop,) = re.findall("-- or (.*)", removal)

    fill(sandbox, leads=5, monitored_leads=5)
    sandbox.insert("leads", {"id": "bare", "profile": None}, found_at=SINCE)
    remaining: dict[str, Rows] = {}
    for name, excluded in config["exclude_fields"].items():
        changed, expected = table(name), expected_rows(sandbox, name)
        changed.run()
        assert changed.rows() == expected
        remaining[name] = {
            key: without(*excluded)(row) for key, row in expected.items()
        }
        # A row that is not read again stays as it is; of others, the columns do.
        (gone,) = sandbox.remove(name, min(expected))
        changed.refresh(**config)
        kept = {key: {**expected[key], **row} for key, row in remaining[name].items()}
        assert changed.rows() == {**kept, gone: expected[gone]} != remaining[name]

    table("leads").execute(removal)
    nothing = {"leads": {"full_name": None}, "monitored_leads": {}}
    for name, rows in remaining.items():
        cleared = {key: {**row, **nothing[name]} for key, row in rows.items()}
        assert table(name).rows() == cleared
    table("leads").execute(drop)
    for name, rows in remaining.items():
        table(name).refresh(**config)
        assert table(name).rows() == rows


# Rows


def test_a_history_keeps_every_signal_beside_the_newest(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    config = settings_of_tap(section(RECIPES, "## Keep earlier signals of a lead"))
    fill(sandbox, leads=300)
    sandbox.insert("leads", {"id": "unobserved"}, found_at=SINCE)
    leads = table("leads")
    leads.run()
    seen = {}
    for days in (0, 5, 12):
        sandbox.advance(days * DAY)
        newest = expected_rows(sandbox, "leads")
        for row in newest.values():
            seen[row["id"], row["signal_observed_at"]] = row
        leads.refresh(**config)
        assert leads.rows() == newest

    held = {}
    for row in leads.all_rows("leads_history"):
        observed = row["signal_observed_at"]
        key = f"{observed:%FT%T.%fZ}" if observed else "none"
        assert row.pop("signal_key") == key
        held[row["id"], observed] = without_metadata(row)
    assert held == seen
    assert [lead for lead, observed in held if not observed] == ["unobserved"]
    assert len(seen) > len({lead for lead, _ in seen})


def test_leads_that_the_api_no_longer_returns_have_an_older_time(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    text = section(RECIPES, "## Leads that were deleted")
    (query,) = blocks(text, "sql")
    fill(sandbox, leads=300)
    leads = table("leads")
    leads.run()
    gone = sandbox.remove("leads", *[*leads.rows()][:3])
    query = query.replace("2026-06-01 02:00:00", f"{datetime.now(UTC):%F %T.%f}")
    leads.refresh()
    leads.run()
    assert {lead for (lead,) in leads.execute(query)} == {*gone}
    assert "`DELETE` in place of `SELECT id`" in text
    leads.execute(query.replace("SELECT id", "DELETE"))
    assert leads.rows() == expected_rows(sandbox, "leads")


@pytest.mark.parametrize("hard", [False, True], ids=["marked", "deleted"])
def test_accounts_that_left_the_queue_are_retired_by_a_full_read_only(
    table: Callable[[str], Table], sandbox: Sandbox, *, hard: bool
) -> None:
    fill(sandbox, monitored_accounts=250)
    table_of_accounts = table("monitored_accounts")
    expected = expected_rows(sandbox, "monitored_accounts")
    options: dict[str, Any] = {"emit_activate_version_messages": True}
    options["target"] = {"hard_delete": hard}

    def held() -> dict[str, bool]:
        """Return the accounts of the table, and whether they are marked as deleted."""
        rows = table_of_accounts.all_rows()
        assert all(without_metadata(row) == expected[row["id"]] for row in rows)
        found = {row["record_key"]: row["_sdc_deleted_at"] is not None for row in rows}
        assert len(found) == len(rows)
        return found

    table_of_accounts.refresh(**options)
    everything = held()
    assert everything == dict.fromkeys(expected, False)

    gone = sandbox.remove("monitored_accounts", *[*expected][:3])
    sandbox.faults({"kind": "status", "status": 400, "skip": 2})
    broken = table_of_accounts.run(**options)
    assert "HTTP 400" in broken.failed()
    assert broken.records("monitored_accounts")
    assert held() == everything

    sandbox.faults()
    table_of_accounts.refresh(**options)
    assert held() == {
        key: key in gone for key in everything if not (hard and key in gone)
    }
