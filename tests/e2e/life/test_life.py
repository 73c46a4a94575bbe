"""A project over months, with real Meltano, PostgreSQL and the sandbox."""

from datetime import datetime
from typing import Any

import psutil  # type: ignore[import-untyped]

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import STREAMS, TIMEOUT
from tests.support.pipelines import Pipeline, PostgresWarehouse
from tests.support.postgres import rows_by_id
from tests.support.rows import expected_rows
from tests.support.runs import DAY, after_since, fill, poll

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
        start = {"TAP_LEADINTENT_START_DATE": START}
        return Pipeline(self._warehouse, self.sandbox, "life", "", **start, **settings)

    def held(self, stream: str = "leads") -> dict[str, dict[str, Any]]:
        """Return the rows of the warehouse."""
        return rows_by_id(self._warehouse.postgres, "life", stream)

    def assert_loaded(self) -> None:
        """Assert that the warehouse has each lead, as the API returns it.

        Those found before the start may be there, if their signals have moved since.
        """
        held, found = self.held(), self.found_since_start()
        visible = expected_rows(self.sandbox, "leads")
        assert held == {lead: row for lead, row in visible.items() if lead in held}
        assert found <= held.keys()

    def found_since_start(self) -> set[str]:
        """Return the leads that the API returns and that were found since the start."""
        return {
            lead
            for lead, times in self.sandbox.times("leads").items()
            if datetime.fromisoformat(times["found_at"])
            >= datetime.fromisoformat(START)
        }


def test_the_life_of_a_project(sandbox: Sandbox, warehouse: PostgresWarehouse) -> None:
    """The test of all pages goes on with forgotten intervals, shards and filters."""
    warehouse.shorten_state_interval()
    project = Project(warehouse, sandbox)
    a_first_load_that_is_killed_goes_on(project)
    what_is_new_is_loaded(project)
    what_surfaces_late_is_found_by_the_recheck(project)
    for stream in ("signal_agents", "monitored_accounts", "custom_signals"):
        visible = {record["id"] for record in sandbox.records(stream)}
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
    assert 0 < len(project.held()) < len(project.found_since_start())
    project.usual.run()
    project.assert_loaded()


def what_is_new_is_loaded(project: Project) -> None:
    known = project.found_since_start()
    project.sandbox.advance(3 * DAY)
    assert project.found_since_start() > known
    project.careful.run()
    project.assert_loaded()


def what_surfaces_late_is_found_by_the_recheck(project: Project) -> None:
    for name, days in (("early", 274), ("later", 353)):
        project.sandbox.insert("leads", {"id": name}, found_at=after_since(days))
    project.sandbox.advance(DAY)
    project.careful.run()
    assert not {"early", "later"} & project.held().keys()
    # The recheck goes by our clock: as if the last run had been two days ago.
    overdue = 's/"rechecked": *"[^"]*"/"rechecked": "2026-01-01T00:00:00Z"/g'
    project.careful.pipe_state(f"sed '{overdue}'")
    project.careful.run()
    project.assert_loaded()
