"""What the pages say about existing tables, tested with PostgreSQL."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
import time_machine

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import Json, Run, entries, ids_of, only
from tests.support.in_process import run_in_process, typed_catalog
from tests.support.pages import ROOT, blocks, section, settings_of_tap
from tests.support.postgres import Rows, rows_by_id, without_metadata
from tests.support.rows import expected_rows, without
from tests.support.runs import DAY, SINCE, fill
from tests.support.schemas import Schema

OF_COLUMNS = ROOT / "docs" / "columns.md"
RECIPES = ROOT / "docs" / "recipes.md"
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
REFUSED = "Altering columns is not supported. Could not convert column '.*{}.*'"


class Table:
    """A table, runs of the tap that load it, and the sandbox that they read."""

    def __init__(
        self,
        schema: Schema,
        sandbox: Sandbox,
        config: Json,
        name: str,
        size: int = 0,
    ) -> None:
        """Let the sandbox hold nothing but so many records of this table."""
        fill(sandbox, **{name: size})
        self._config = config
        self._began = 0.0
        self.schema = schema
        self.sandbox = sandbox
        self.name = name
        self.state: Any = None

    def run(
        self,
        *,
        catalog: Json | None = None,
        target: Json | None = None,
        **settings: Any,
    ) -> Run:
        """Run the tap from the last state, and load its output, even if it fails."""
        catalog = catalog or only(self.name)
        config = {**self._config, **settings}
        # The versions of a table are at least a second apart.
        self._began = max(time.time(), self._began + 1)
        with time_machine.travel(self._began):
            run = run_in_process(
                self.schema.folder,
                config,
                catalog=catalog,
                state=self.state,
            )
        self.schema.load(run, **(target or {}))
        self.state = run.state
        return run

    def refresh(self, **options: Any) -> Run:
        """Load everything again, as `meltano run --full-refresh` does."""
        self.state = None
        return self.run(**options).succeeded()

    def discover(self) -> Json:
        """Return the catalog with inferred columns."""
        return only(self.name, of=typed_catalog(self.schema.folder, self._config))

    def rows(self) -> Rows:
        """Return the rows of the table; see `rows_by_id`."""
        return rows_by_id(
            self.schema.postgres,
            self.schema.folder.name,
            self.name,
        )

    def expected(self, *added: str) -> Rows:
        """Return the rows after a complete load; see `expected_rows`."""
        return expected_rows(self.sandbox, self.name, *added)


NewTable = Callable[..., Table]


@pytest.fixture
def table(
    schema: Schema,
    sandbox: Sandbox,
    config: Json,
) -> NewTable:
    """Return a function that returns the table of a stream of so many records."""
    return partial(Table, schema, sandbox, config)


# Columns


def test_a_new_column_is_null_in_old_rows_until_a_full_refresh(table: NewTable) -> None:
    observations = table("observations", 100)
    observations.run()
    old = observations.rows()
    assert old == observations.expected()

    catalog = only("observations")
    columns = entries(catalog)["observations"]["schema"]["properties"]
    columns["confidence"] = {"type": ["number", "null"]}
    observations.sandbox.advance(20 * DAY)
    run = observations.run(catalog=catalog)
    read = ids_of(run.records("observations"))
    expected = observations.expected("confidence")
    for key in expected.keys() - read:
        expected[key] = {**old[key], "confidence": None}
    assert observations.rows() == expected
    assert read - old.keys()
    assert old.keys() - read

    observations.refresh(catalog=catalog)
    expected = observations.expected("confidence")
    assert observations.rows() == expected

    # A column that is removed from the catalog keeps old values.
    observations.refresh()
    stale = observations.expected()
    for key, row in stale.items():
        row["confidence"] = expected[key]["confidence"]
    assert observations.rows() == stale


def test_inferred_columns_follow_their_sample_until_they_are_frozen(
    table: NewTable,
) -> None:
    signals = table("custom_signals")
    first = {
        "rank": 5,
        "active": True,
        "note": "x",
    }
    signals.sandbox.insert("custom_signals", {"id": "a", **first})
    frozen = signals.discover()
    signals.run(catalog=frozen)
    expected = {
        **signals.expected(*first)["a"],
        **first,
    }
    assert signals.rows()["a"] == expected

    # Another first page: a number has become text, and a text a number.
    signals.sandbox.insert(
        "custom_signals",
        {
            "id": "a",
            "rank": "high",
            "note": 5,
        },
    )
    with pytest.raises(AssertionError, match=REFUSED.format("rank")):
        signals.run(catalog=signals.discover())
    assert signals.rows()["a"] == expected

    signals.run(catalog=frozen)
    row = signals.rows()["a"]
    assert row["rank"] is None
    assert row["active"] is None
    assert row["note"] is None
    assert row["additional_properties"] == {"rank": "high", "note": 5}


def test_flattening_needs_new_tables(table: NewTable) -> None:
    leads = table("leads", 5)
    leads.run()
    nested = leads.rows()
    with pytest.raises(AssertionError, match=REFUSED.format("additional_properties")):
        leads.refresh(**FLAT)
    assert leads.rows() == nested


def test_an_excluded_column_stays_until_it_is_dropped(table: NewTable) -> None:
    text = section(OF_COLUMNS, "## Keeping names and personal data out")
    (drop,) = re.findall("-- or (.*)", text)
    leads = table("leads", 5)
    config = settings_of_tap(text)
    leads.run()
    leads.refresh(**config)
    rows = leads.rows()
    expected = leads.expected()
    assert rows.keys() == expected.keys()
    for key, row in expected.items():
        assert rows[key]["full_name"] == row["full_name"]
    leads.schema.ask(drop)
    leads.refresh(**config)
    excluded = without(*config["exclude_fields"]["leads"])
    rows = leads.rows()
    assert rows.keys() == expected.keys()
    for key, row in expected.items():
        assert rows[key] == excluded(row)


# Rows


def test_a_history_keeps_every_signal_beside_the_newest(table: NewTable) -> None:
    config = settings_of_tap(section(RECIPES, "## Keep earlier signals of a lead"))
    leads = table("leads", 120)
    leads.sandbox.insert(
        "leads",
        {"id": "unobserved"},
        found_at=SINCE,
    )
    leads.run()
    seen = {}
    for days in (0, 5, 12):
        leads.sandbox.advance(days * DAY)
        newest = leads.expected()
        for row in newest.values():
            observed = row["signal_observed_at"]
            seen[row["id"], observed] = row
        leads.refresh(**config)
        assert leads.rows() == newest

    held = {}
    for row in leads.schema.rows("leads_history"):
        observed = row["signal_observed_at"]
        key = f"{observed:%FT%T.%fZ}" if observed else "none"
        assert row.pop("signal_key") == key
        held[row["id"], observed] = without_metadata(row)
    assert held == seen
    assert [lead for lead, observed in held if not observed] == ["unobserved"]
    assert len(seen) > len({lead for lead, _ in seen})


def test_leads_that_the_api_no_longer_returns_have_an_older_time(
    table: NewTable,
) -> None:
    text = section(RECIPES, "## Leads that were deleted")
    (query,) = blocks(text, "sql")
    leads = table("leads", 120)
    leads.run()
    gone = leads.sandbox.remove("leads", *[*leads.rows()][:3])
    query = query.replace("2026-06-01 02:00:00", f"{datetime.now(UTC):%F %T.%f}")
    leads.refresh()
    leads.run()
    assert {lead for (lead,) in leads.schema.ask(query)} == {*gone}
    assert "`DELETE` in place of `SELECT id`" in text
    leads.schema.ask(query.replace("SELECT id", "DELETE"))
    assert leads.rows() == leads.expected()


def test_accounts_that_left_the_queue_are_retired_by_a_full_read_only(
    table: NewTable,
) -> None:
    accounts = table("monitored_accounts", 250)
    expected = accounts.expected()
    versions: Json = {"emit_activate_version_messages": True}

    def gone() -> set[str]:
        """Return the accounts that are marked; assert that all are there once."""
        rows = accounts.schema.rows("monitored_accounts")
        assert len(rows) == len(expected)
        marked = set()
        for row in rows:
            assert without_metadata(row) == expected[row["id"]]
            if row["_sdc_deleted_at"]:
                marked.add(row["id"])
        assert ids_of(rows) == expected.keys()
        return marked

    accounts.refresh(**versions)
    assert gone() == set()
    left = accounts.sandbox.remove("monitored_accounts", *[*expected][:3])
    accounts.sandbox.faults(
        {
            "kind": "status",
            "status": 400,
            "skip": 2,
        }
    )
    broken = accounts.run(**versions)
    assert "HTTP 400" in broken.failed()
    assert broken.records("monitored_accounts")
    assert gone() == set()

    accounts.sandbox.faults()
    accounts.refresh(**versions)
    assert gone() == {*left}
    accounts.refresh(
        **versions,
        target={"hard_delete": True},
    )
    assert accounts.rows().keys() == expected.keys() - left
