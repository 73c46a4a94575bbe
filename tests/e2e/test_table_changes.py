"""What the pages say of changes to tables that exist, seen in PostgreSQL."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.helpers import entries, only, raw_records, select
from tests.support.in_process import run_in_process
from tests.support.pages import ROOT, section
from tests.support.postgres import rows_of, types_of, without_metadata
from tests.support.rows import expected_row, instant, without
from tests.support.runs import DAY, SINCE, fill
from tests.support.targets import run_target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.demo.postgres import Postgres
    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

    Rows = dict[str, dict[str, Any]]

PAGE = ROOT / "docs" / "warehouses.md"
OF_COLUMNS = ROOT / "docs" / "columns.md"
FLAT = {"flattening_enabled": True, "flattening_max_depth": 1}
NUMBER = {"type": ["number", "null"]}
REFUSED = "Altering columns is not supported. Could not convert column '.*{}.*'"


class Table:
    """A table, and runs into it."""

    def __init__(
        self, folder: Path, postgres: Postgres, config: dict[str, Any], name: str
    ) -> None:
        self._folder = folder
        self._postgres = postgres
        self._config = {**config, "start_date": SINCE}
        self.name = name
        self.schema = folder.name
        self.state: dict[str, Any] | None = None

    def run(self, *, catalog: dict[str, Any] | None = None, **settings: Any) -> Run:
        """Go on from the state, and load what the tap writes."""
        catalog = catalog or only(self.name)
        config = {**self._config, **settings}
        run = run_in_process(self._folder, config, catalog=catalog, state=self.state)
        target = {
            "sqlalchemy_url": self._postgres.url,
            "default_target_schema": self.schema,
        }
        run_target(self._folder, "target-postgres", target, run.succeeded().stdout)
        self.state = run.state
        return run

    def refresh(self, **options: Any) -> Run:
        """Load everything anew, as `meltano run --full-refresh` does."""
        self.state = None
        return self.run(**options)

    def discover(self) -> dict[str, Any]:
        """Give the catalog with inferred columns."""
        config = {**self._config, "infer_columns": True}
        run = run_in_process(self._folder, config, "--discover").succeeded()
        return only(self.name, of=json.loads(run.stdout))

    def rows(self, name: str = "") -> Rows:
        """Give the rows of the table, or of a view, by id."""
        rows = rows_of(self._postgres, self.schema, name or self.name)
        found = {row["id"]: without_metadata(row) for row in rows}
        assert len(found) == len(rows)
        return found

    def types(self) -> dict[str, str]:
        """Give the types of the columns."""
        return {n: kind for _, n, kind, _ in types_of(self._postgres, self.schema)}


@pytest.fixture
def table(
    tmp_path: Path, postgres: Postgres, config: dict[str, Any]
) -> Callable[[str], Table]:
    """Give the table of a stream."""
    return lambda name: Table(tmp_path, postgres, config, name)


def expected(sandbox: Sandbox, stream: str, *columns: str) -> Rows:
    """Give the rows of a whole load, some fields in columns of their own."""
    rows = {}
    for record in raw_records(sandbox, stream):
        row = expected_row(stream, record)
        rest = dict(row["additional_properties"] or {})
        own = {name: rest.pop(name, None) for name in columns}
        own |= {n: instant(own[n]) for n in columns if n.endswith("_at")}
        rows[record["id"]] = {**row, **own, "additional_properties": rest or None}
    return rows


def with_confidence() -> dict[str, Any]:
    catalog = only("observations")
    columns = entries(catalog)["observations"]["schema"]["properties"]
    columns["confidence"] = NUMBER
    return catalog


@pytest.mark.parametrize(
    "change", [lambda _: with_confidence(), Table.discover], ids=["schema", "inferred"]
)
def test_a_new_column_is_null_in_old_rows_until_a_full_refresh(
    table: Callable[[str], Table],
    sandbox: Sandbox,
    change: Callable[[Table], dict[str, Any]],
) -> None:
    fill(sandbox, observations=100)
    observations = table("observations")
    observations.run()
    old = observations.rows()
    assert old == expected(sandbox, "observations")

    catalog = change(observations)
    columns = entries(catalog)["observations"]["schema"]["properties"]
    new = columns.keys() - old[min(old)].keys() - {"window_end"}
    assert "confidence" in new
    sandbox.advance(20 * DAY)
    run = observations.run(catalog=catalog)
    read = {record["id"] for record in run.records("observations")}
    whole = expected(sandbox, "observations", *new)
    before = {key: {**row, **dict.fromkeys(new)} for key, row in old.items()}
    assert observations.rows() == {
        key: whole[key] if key in read else before[key] for key in whole
    }
    assert read - old.keys()
    assert old.keys() - read

    observations.refresh(catalog=catalog)
    assert observations.rows() == whole


def test_a_column_that_is_taken_back_goes_stale(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    fill(sandbox, observations=20)
    observations = table("observations")
    observations.run(catalog=with_confidence())
    before = observations.rows()
    first, second = (raw_records(sandbox, "observations")[n] for n in (0, 1))
    changed = {**first, "confidence": 0.125, "observed_at": sandbox.now()}
    new = {**second, "id": "new", "observed_at": sandbox.now()}
    sandbox.insert(
        "observations",
        *(json.loads(json.dumps(r, default=float)) for r in (changed, new)),
        observed_at=sandbox.now(),
    )
    for load in (observations.run, observations.refresh):
        load()
        rows = observations.rows()
        row = rows[first["id"]]
        assert row["confidence"] == before[first["id"]]["confidence"] != 0.125
        assert row["additional_properties"]["confidence"] == 0.125
        assert rows["new"]["confidence"] is None
    assert {
        key: {n: value for n, value in row.items() if n != "confidence"}
        for key, row in rows.items()
    } == expected(sandbox, "observations")


def test_inferred_columns_follow_their_sample_until_they_are_frozen(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    fill(sandbox, custom_signals=0)
    signals = table("custom_signals")
    first = {"rank": 5, "active": True, "note": "x"}
    sandbox.insert("custom_signals", {"id": "a", **first})
    frozen = signals.discover()
    signals.run(catalog=frozen)
    assert signals.rows()["a"] == {
        **expected(sandbox, "custom_signals", *first)["a"],
        **first,
    }

    # Another first page: a number has become text, and a text a number.
    sandbox.insert("custom_signals", {"id": "a", "rank": "high", "note": 5})
    before = signals.rows()
    with pytest.raises(AssertionError, match=REFUSED.format("rank")):
        signals.run(catalog=signals.discover())
    assert signals.rows() == before

    signals.run(catalog=frozen)
    row = signals.rows()["a"]
    assert (row["rank"], row["active"], row["note"]) == (None, None, None)
    assert row["additional_properties"] == {"rank": "high", "note": 5}

    sandbox.insert("custom_signals", {"id": "a", "rank": 6, "note": 5})
    signals.run(catalog=signals.discover())
    assert signals.rows()["a"]["note"] == "5.0", "a text column takes it as text"


def repair_flat_rows(leads: Table, postgres: Postgres) -> None:
    """Give a row what an earlier version put there, and run the page's SQL."""
    text = section(PAGE, "### Flattened rows from before")
    _, _, repair = text.partition("```sql\n")
    table = f"{leads.schema}.leads"
    repair = repair.partition("```")[0].replace("tap_leadintent.leads", table)
    before = '{"new": {"x": 1}, "company": {"industry": "i", "hq": {"x": 2}}}'
    with postgres.connect() as connection:
        connection.execute(
            f"UPDATE {table} SET additional_properties = %s "  # noqa: S608 - a test
            f"WHERE id = (SELECT min(id) FROM {table})",
            (before,),
        )
        connection.execute(repair)
    rows = leads.rows()
    after = {"new": {"x": 1}, "company__industry": "i", "company__hq": {"x": 2}}
    assert json.loads(rows[min(rows)].pop("additional_properties")) == after
    assert not any(row.get("additional_properties") for row in rows.values())


def test_flattening_needs_new_tables(
    table: Callable[[str], Table], sandbox: Sandbox, postgres: Postgres
) -> None:
    fill(sandbox, leads=5)
    leads = table("leads")
    leads.run()
    nested, types = leads.rows(), leads.types()
    with pytest.raises(AssertionError, match=REFUSED.format("additional_properties")):
        leads.refresh(**FLAT)
    assert (leads.rows(), leads.types()) == (nested, types)

    leads.schema += "_flat"
    leads.refresh(**FLAT)
    flat = leads.rows()
    assert {row["company__name"] for row in flat.values()} == {
        row["company"]["name"] for row in nested.values()
    }
    assert not {"company", "signal"} & flat[min(flat)].keys()
    repair_flat_rows(leads, postgres)

    # The way back is not refused: it is to be seen in columns that go stale.
    lead = raw_records(sandbox, "leads")[0]["id"]
    sandbox.insert("leads", {"id": lead, "company": {"name": "Other"}})
    leads.refresh()
    row = leads.rows()[lead]
    assert row["company"] == {"name": "Other"}
    assert row["company__name"] == flat[lead]["company__name"]
    assert leads.types()["additional_properties"] == "text"


def test_without_a_key_every_row_stays_and_a_view_gives_the_newest(
    table: Callable[[str], Table], sandbox: Sandbox, postgres: Postgres
) -> None:
    view = re.search(
        r"```sql\n(CREATE VIEW .*?);\n```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert view, "the page has the query"
    fill(sandbox, leads=150)
    leads = table("leads")
    count = 0
    with postgres.connect() as connection:
        for days in (0, 1, 10):
            sandbox.advance(days * DAY)
            run = leads.run(stream_maps={"leads": {"__key_properties__": []}})
            if not days:
                query = view[1].replace("tap_leadintent", leads.schema)
                connection.execute(query.encode())
            count += len(run.records("leads"))
            rows = rows_of(postgres, leads.schema, "leads")
            assert len(rows) == count
            assert leads.rows("newest_leads") == expected(sandbox, "leads")
    assert count > len(leads.rows("newest_leads"))


def test_a_column_that_is_deselected_keeps_its_values(
    table: Callable[[str], Table], sandbox: Sandbox
) -> None:
    fill(sandbox, leads=5)
    leads, catalog = table("leads"), only("leads")
    leads.run()
    select(catalog, "leads", "properties", "full_name", selected=False)
    run = leads.refresh(catalog=catalog)
    assert not any("full_name" in record for record in run.records("leads"))
    assert leads.rows() == expected(sandbox, "leads")


def test_what_is_excluded_stays_in_the_table_until_the_pages_statements_remove_it(
    table: Callable[[str], Table], sandbox: Sandbox, postgres: Postgres
) -> None:
    told = section(OF_COLUMNS, "## Keeping names and personal data out")
    setting, removal, _ = re.findall(r"```(?:yaml|sql)\n(.*?)```", told, re.DOTALL)
    config = yaml.safe_load(setting)["config"]
    (drop,) = re.findall("-- or (.*)", removal)

    fill(sandbox, leads=5, monitored_leads=5)
    sandbox.insert("leads", {"id": "bare", "profile": None}, found_at=SINCE)
    left: dict[str, Rows] = {}
    for name, excluded in config["exclude_fields"].items():
        changed, whole = table(name), expected(sandbox, name)
        changed.run()
        assert changed.rows() == whole
        left[name] = {key: without(*excluded)(row) for key, row in whole.items()}
        # A row that is not read again stays as it is; of others, the columns do.
        (gone,) = sandbox.remove(name, min(whole))
        changed.refresh(**config)
        kept = {key: {**whole[key], **row} for key, row in left[name].items()}
        assert changed.rows() == {**kept, gone: whole[gone]} != left[name]

    def tell(statements: str) -> None:
        with postgres.connect() as connection:
            connection.execute(
                statements.replace("tap_leadintent", table("leads").schema).encode()
            )

    tell(removal)
    nothing = {"leads": {"full_name": None}, "monitored_leads": {}}
    for name, rows in left.items():
        cleared = {key: {**row, **nothing[name]} for key, row in rows.items()}
        assert table(name).rows() == cleared
    tell(drop)
    for name, rows in left.items():
        table(name).refresh(**config)
        assert table(name).rows() == rows
