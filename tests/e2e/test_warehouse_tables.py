"""What PostgreSQL holds of streams that are mapped, versioned or in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.support.batching import batch_config
from tests.support.helpers import only, raw_records
from tests.support.in_process import run_in_process
from tests.support.pages import ROOT
from tests.support.pipelines import column
from tests.support.postgres import rows_of, without_metadata
from tests.support.rows import expected_row
from tests.support.runs import DAY, SINCE, fill
from tests.support.targets import run_target

if TYPE_CHECKING:
    from pathlib import Path

    from tap_leadintent.demo.postgres import Postgres
    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

RECIPES = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Load:
    """The tap and target-postgres, as they are piped together."""

    postgres: Postgres
    folder: Path
    config: dict[str, Any]
    stream: str

    @property
    def schema(self) -> str:
        """Where the table is."""
        return self.folder.name

    def run(self, **settings: Any) -> Run:
        """Read the stream whole, and load what is written, also if the tap fails."""
        selected = only(self.stream)
        run = run_in_process(self.folder, self.config, catalog=selected)
        place = {"sqlalchemy_url": self.postgres.url}
        place["default_target_schema"] = self.schema
        run_target(self.folder, "target-postgres", {**place, **settings}, run.stdout)
        return run


def test_a_key_with_the_signals_time_keeps_every_signal_seen(
    sandbox: Sandbox, postgres: Postgres, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, leads=300)
    sandbox.insert("leads", {"id": "unobserved"}, found_at=SINCE)
    config |= {"stream_maps": recipe("## Every signal of a lead")}
    load = Load(postgres, tmp_path, config, "leads")
    seen = {}
    for days in (0, 5, 20):
        sandbox.advance(days * DAY)
        for record in raw_records(sandbox, "leads"):
            row = expected_row("leads", record)
            seen[row["id"], row["signal_observed_at"]] = row
        load.run().succeeded()

    held = {}
    for row in rows_of(postgres, load.schema, "leads"):
        observed = row["signal_observed_at"]
        key = f"{observed:%FT%T.%fZ}" if observed else "none"
        assert row.pop("signal_key") == key
        held[row["id"], observed] = without_metadata(row)
    assert held == seen
    assert [lead for lead, observed in held if not observed] == ["unobserved"]
    assert len(seen) > len({lead for lead, _ in seen}) + 5


def recipe(heading: str) -> Any:
    """Give the stream maps of a recipe."""
    _, _, section = RECIPES.partition(f"\n{heading}")
    block = section.partition("```yaml\n")[2].partition("```")[0]
    return yaml.safe_load(block)["config"]["stream_maps"]


@pytest.mark.parametrize("hard", [False, True], ids=["marked", "deleted"])
def test_accounts_that_left_the_queue_are_retired_by_a_whole_read_only(
    sandbox: Sandbox,
    postgres: Postgres,
    config: dict[str, Any],
    tmp_path: Path,
    *,
    hard: bool,
) -> None:
    fill(sandbox, monitored_accounts=250)
    config |= {"emit_activate_version_messages": True}
    load = Load(postgres, tmp_path, config, "monitored_accounts")

    accounts = raw_records(sandbox, "monitored_accounts")
    told = {a["id"]: expected_row("monitored_accounts", a) for a in accounts}

    def held() -> dict[str, bool]:
        """Give the accounts of the table, and whether they are marked deleted."""
        rows = rows_of(postgres, load.schema, "monitored_accounts")
        assert all(without_metadata(row) == told[row["id"]] for row in rows)
        found = {row["record_key"]: row["_sdc_deleted_at"] is not None for row in rows}
        assert len(found) == len(rows)
        return found

    load.run(hard_delete=hard).succeeded()
    everything = held()
    assert everything == {account["id"]: False for account in accounts}

    gone = {account["id"]: account for account in accounts[:3]}
    sandbox.remove("monitored_accounts", *gone)
    sandbox.faults({"kind": "status", "status": 400, "skip": 2})
    broken = load.run(hard_delete=hard)
    assert "HTTP 400" in broken.failed()
    assert broken.records("monitored_accounts")
    assert held() == everything

    sandbox.faults()
    load.run(hard_delete=hard).succeeded()
    assert held() == {
        key: key in gone for key in everything if not (hard and key in gone)
    }
    if not hard:
        sandbox.insert("monitored_accounts", *gone.values())
        load.run().succeeded()
        assert held() == everything


def test_batches_and_versions_together_retire_nothing_that_is_there(
    sandbox: Sandbox, postgres: Postgres, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, monitored_accounts=250)
    config |= {"emit_activate_version_messages": True}
    config |= {"batch_config": batch_config(tmp_path / "batches")}
    load = Load(postgres, tmp_path, config, "monitored_accounts")
    load.run().succeeded()
    columns = ("record_key", "_sdc_deleted_at")
    with postgres.connect() as connection:
        rows = column(connection, load.schema, "monitored_accounts", *columns)
    assert len(rows) == 250
    assert all(deleted is None for _, deleted in rows)
