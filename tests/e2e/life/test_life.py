"""A project over months, with real Meltano, PostgreSQL and the sandbox."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest

from docs.examples.airflow.backfill import Backfill
from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import STREAMS, TIMEOUT
from tests.support.pages import ROOT, SCRIPTS
from tests.support.pipelines import Pipeline, PostgresWarehouse
from tests.support.postgres import rows_by_id
from tests.support.rows import expected_rows
from tests.support.runs import DAY, SINCE, after_since, asked, fill, poll

START = after_since(273)
SIZES = {**dict.fromkeys(STREAMS, 20), "leads": 3000}


class Project:
    """A project with its warehouse, and the sandbox that it loads."""

    def __init__(self, warehouse: PostgresWarehouse, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        self._warehouse = warehouse
        self.usual = self.with_settings()
        self.careful = self.with_settings(TAP_LEADINTENT_RECHECK_DAYS="2")

    def with_settings(self, **settings: str) -> Pipeline:
        """Return a pipeline with additional settings. Its state stays the same."""
        # One database of states for all runs, also those with a folder of their own.
        database = f"sqlite:///{self._warehouse.system / 'meltano.db'}"
        common = {
            "TAP_LEADINTENT_START_DATE": START,
            "MELTANO_DATABASE_URI": database,
        }
        return Pipeline(
            self._warehouse, self.sandbox, "life", "", **{**common, **settings}
        )

    def held(self, stream: str = "leads") -> dict[str, dict[str, Any]]:
        """Return the rows of the warehouse."""
        return rows_by_id(self._warehouse.postgres, "life", stream)

    def assert_loaded(self, start: str = START) -> None:
        """Assert that the warehouse has each lead since a time, as the API returns it.

        Older ones may be there, whose signals have moved since.
        """
        held, found = self.held(), self.found_since(start)
        visible = expected_rows(self.sandbox, "leads")
        assert held == {lead: row for lead, row in visible.items() if lead in held}
        assert found <= held.keys()

    def found_since(self, start: str = START) -> set[str]:
        """Return the leads that the API returns and that were found since a time."""
        return {
            lead
            for lead, times in self.sandbox.times("leads").items()
            if datetime.fromisoformat(times["found_at"])
            >= datetime.fromisoformat(start)
        }

    def oldest_asked(self) -> datetime:
        """Return the earliest time that requests in the log ask for."""
        return min(since for since, _ in asked(self.sandbox, "leads", "date_found"))

    def show_late(self, name: str, found_at: str) -> None:
        """Let a lead appear in the API long after it was found."""
        self.sandbox.insert("leads", {"id": name}, found_at=found_at)


def test_the_life_of_a_project(
    sandbox: Sandbox, warehouse: PostgresWarehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    warehouse.shorten_state_interval()
    project = Project(warehouse, sandbox)
    a_first_load_that_is_killed_goes_on(project)
    what_is_new_is_loaded(project)
    what_surfaces_late_is_found_by_the_recheck(project)
    what_is_forgotten_is_read_again(project)
    for name, value in project.usual.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PATH", SCRIPTS, prepend=os.pathsep)
    the_time_before_is_loaded_in_shards(project)
    other_filters_are_read_whole_and_the_former_go_on(project)
    for stream in STREAMS:
        visible = {record["id"] for record in sandbox.records(stream)}
        if stream != "leads":
            assert project.held(stream).keys() == visible


def a_first_load_that_is_killed_goes_on(project: Project) -> None:
    fill(project.sandbox, **SIZES, latency=0.1)
    slow = {"TAP_LEADINTENT_PAGE_SIZE": "10", "TAP_LEADINTENT_CONCURRENCY": "1"}
    first = project.with_settings(**slow)
    with first.running() as process:
        poll(lambda: "date_found" in first.kept_state())
        # As a system does that runs out of memory; Meltano ends by itself.
        (tap,) = (
            each
            for each in psutil.Process(process.pid).children(recursive=True)
            if any("tap-leadintent" in word for word in each.cmdline()[:2])
        )
        tap.kill()
        assert process.wait(TIMEOUT)
    fill(project.sandbox, **SIZES)
    assert 0 < len(project.held()) < len(project.found_since())
    project.usual.run()
    project.assert_loaded()


def what_is_new_is_loaded(project: Project) -> None:
    known = project.found_since()
    project.sandbox.advance(3 * DAY)
    assert project.found_since() > known
    project.careful.run()
    project.assert_loaded()


def what_surfaces_late_is_found_by_the_recheck(project: Project) -> None:
    project.show_late("early", after_since(274))
    project.show_late("later", after_since(353))
    project.sandbox.advance(DAY)
    project.careful.run()
    assert not {"early", "later"} & project.held().keys()
    # The sweep goes by our clock: as if the last run had been two days ago.
    overdue = 's/"rechecked": *"[^"]*"/"rechecked": "2026-01-01T00:00:00Z"/g'
    project.careful.pipe_state(f"sed '{overdue}'")
    project.careful.run()
    project.assert_loaded()


def what_is_forgotten_is_read_again(project: Project) -> None:
    project.show_late("forgotten", after_since(313))
    stretch = f"--from {after_since(313)} --to {after_since(314)}"
    project.usual.pipe_state(
        "meltano invoke --no-install tap-leadintent:state forget --stream leads "
        + stretch
    )
    assert "forgotten" not in project.held()
    project.usual.run()
    project.assert_loaded()


def the_time_before_is_loaded_in_shards(project: Project) -> None:
    backfill = Backfill(ROOT, SINCE, START, shards=3)
    backfill.make_tables()
    shards = backfill.split()
    with ThreadPoolExecutor(2) as workers:
        assert [*workers.map(backfill.load, shards[::2])] == [None, None]
    with pytest.raises(RuntimeError, match=r"state is empty|no shard has read"):
        backfill.join(shards)
    backfill.load(shards[1])
    backfill.join(shards)
    project.sandbox.clear_requests()
    backfill.catch_up()
    project.assert_loaded(SINCE)
    # Of the shards, only the lookback at each seam is read again.
    seam = datetime.fromisoformat(shards[0]["end_date"])
    assert project.oldest_asked() > seam - timedelta(days=1, seconds=2)


def other_filters_are_read_whole_and_the_former_go_on(project: Project) -> None:
    longer = {"TAP_LEADINTENT_START_DATE": SINCE}
    filters = json.dumps({"leads": {"lead_country_codes": ["DE"]}})
    some = project.with_settings(TAP_LEADINTENT_FILTERS=filters, **longer)
    for pipeline, is_whole in ((some, True), (project.with_settings(**longer), False)):
        project.sandbox.clear_requests()
        project.sandbox.advance(DAY)
        pipeline.run()
        is_old = project.oldest_asked() < datetime.fromisoformat(START)
        assert is_old == is_whole
    project.assert_loaded(SINCE)
