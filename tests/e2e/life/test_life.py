"""A project over weeks, with real Meltano, PostgreSQL and the sandbox."""

import json
import os
import signal
from datetime import datetime

import psutil  # type: ignore[import-untyped]

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import STREAMS, TIMEOUT, ids_of
from tests.support.pipelines import Pipeline, PostgresWarehouse
from tests.support.postgres import rows_by_id, tables_of
from tests.support.rows import expected_rows
from tests.support.runs import CLOCK, DAY, after_since, covered, fill, found_at, poll

START = after_since(273)
SIZES = {
    **dict.fromkeys(STREAMS, 20),
    "leads": 3000,
}


def tap_below(meltano: int) -> psutil.Process:
    """Return the process of the tap that a process of Meltano has started."""
    for process in psutil.Process(meltano).children(recursive=True):
        program = " ".join(process.cmdline()[:2])
        if "tap-leadintent" in program:
            return process
    raise AssertionError("the tap does not run")


def test_the_life_of_a_project(sandbox: Sandbox, warehouse: PostgresWarehouse) -> None:
    def pipeline(**settings: str) -> Pipeline:
        start = {"TAP_LEADINTENT_START_DATE": START}
        return Pipeline(
            warehouse,
            sandbox,
            "life",
            "",
            **start,
            **settings,
        )

    def held(stream: str = "leads") -> set[str]:
        return {*rows_by_id(warehouse.postgres, "life", stream)}

    def found() -> set[str]:
        """Return the leads that the API returns and that were found since the start."""
        begin = datetime.fromisoformat(START)
        return {lead for lead, time in found_at(sandbox).items() if time >= begin}

    # A first load whose tap is killed, as by a system that runs out of memory.
    warehouse.shorten_state_interval()
    fill(
        sandbox,
        **SIZES,
        latency=0.4,
    )
    pages = {
        "TAP_LEADINTENT_PAGE_SIZE": "10",
        "TAP_LEADINTENT_CONCURRENCY": "1",
    }
    slow = pipeline(**pages)
    with slow.running() as process:
        poll(lambda: "date_found" in slow.kept_state())
        tap_below(process.pid).kill()
        assert process.wait(TIMEOUT)
    fill(sandbox, **SIZES)
    assert 0 < len(held()) < len(found())

    # It goes on, and loads what is new, and what appears five days late.
    usual = pipeline()
    for days in (0, 3, 5, 10):
        known = found()
        sandbox.advance(days * DAY)
        if days == 5:
            sandbox.insert(
                "leads",
                {"id": "late"},
                found_at=after_since(365 + 3),
            )
        usual.run()
        assert found() >= known
        assert found() - held() <= {"late"}
    visible = expected_rows(sandbox, "leads")
    rows = rows_by_id(warehouse.postgres, "life", "leads")
    for lead, row in rows.items():
        assert row == visible[lead]
    assert "late" in rows
    for stream in ("signal_agents", "monitored_accounts", "custom_signals"):
        assert held(stream) == ids_of(sandbox.records(stream))

    # A full refresh that is killed with Meltano.
    refreshed = pipeline(
        **pages,
        TARGET_POSTGRES_DEFAULT_TARGET_SCHEMA="refreshed",
    )

    def again() -> set[str]:
        return {*tables_of(warehouse.postgres, "refreshed").get("leads", {})}

    fill(
        sandbox,
        **SIZES,
        latency=0.4,
    )
    with refreshed.running("--full-refresh") as process:
        poll(lambda: "date_found" in refreshed.kept_state("partial_state"))
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait(TIMEOUT) == -signal.SIGKILL
    assert 0 < len(again()) < len(found())
    fill(sandbox, **SIZES)
    # A killed run counts as running for a few minutes.
    refreshed.run("--force")
    assert found() <= again()
    state = json.loads(refreshed.kept_state())["singer_state"]
    span = (
        datetime.fromisoformat(START),
        datetime.fromisoformat(CLOCK),
    )
    assert covered(state, "leads", "date_found") == [span]
