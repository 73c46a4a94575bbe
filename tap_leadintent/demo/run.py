"""The demo itself: what happens, in order."""

from __future__ import annotations

import subprocess
import time
from contextlib import ExitStack
from datetime import datetime, timedelta
from itertools import dropwhile, takewhile
from typing import TYPE_CHECKING

from rich.columns import Columns
from rich.text import Text

from tap_leadintent.demo import report
from tap_leadintent.demo.postgres import running_postgres
from tap_leadintent.demo.processes import undisturbed_exit
from tap_leadintent.demo.project import Meltano, program, write_project
from tap_leadintent.demo.screen import titled
from tap_leadintent.sandbox import running_sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.options import Options, three_weeks_ago

if TYPE_CHECKING:
    from pathlib import Path

    from psycopg import Connection

    from tap_leadintent.demo.screen import Screen
    from tap_leadintent.sandbox import Sandbox

DATA = "postgres"
"""Folder of the database in the project."""

_LEADS = 1234
_CLOCK = three_weeks_ago()
_SINCE = str((datetime.fromisoformat(_CLOCK) - timedelta(days=365)).date())
_DAYS = 5
_SECONDS_A_DAY = 86_400
_PIPELINE = ("tap-leadintent", "target-postgres")


def demonstrate(screen: Screen, folder: Path) -> None:
    """Load the sandbox into PostgreSQL, twice, and show what came of it.

    Args:
        screen: Where it is shown.
        folder: An empty folder, which becomes a Meltano project.

    Raises:
        DemoError: A step failed.
    """
    screen.show(
        "[bold]Leads from an offline stand-in for the API, by Meltano, into "
        "PostgreSQL.[/bold]\n"
    )
    began = time.monotonic()
    write_project(folder, report.SCHEMA, _SINCE)
    with ExitStack() as stack:
        with screen.step(f"Start the sandbox with {_LEADS:,} leads"):
            arguments = ("--leads", str(_LEADS), "--clock", _CLOCK)
            sandbox = stack.enter_context(running_sandbox(*arguments))
        with screen.step("Start PostgreSQL"):
            postgres = stack.enter_context(running_postgres(folder / DATA))
            connection = stack.enter_context(postgres.connect())
        stack.enter_context(undisturbed_exit())
        settings = {
            "MELTANO_ENVIRONMENT": report.SCHEMA,
            "TAP_LEADINTENT_BASE_URL": sandbox.url,
            "TAP_LEADINTENT_API_KEY": Options().api_key,
            "TARGET_POSTGRES_SQLALCHEMY_URL": postgres.url,
        }
        meltano = Meltano(folder, folder / "meltano.log", settings)
        before = _load_twice(screen, meltano, sandbox, connection)
        _report(screen, connection, before)
        _show_state(screen, meltano)
    screen.show(f"\nDone in {time.monotonic() - began:.0f} s.")


def _load_twice(
    screen: Screen, meltano: Meltano, sandbox: Sandbox, connection: Connection
) -> dict[str, int]:
    with screen.step("Install the tap and target-postgres (meltano install)"):
        meltano("install", *_PIPELINE)
    total = sum(len(sandbox.records(stream)) for stream in ENDPOINTS)
    _load(screen, "Load everything", meltano, sandbox, total)
    before = report.row_counts(connection)
    report.remember_leads(connection)
    with screen.step(f"Move the sandbox's clock {_DAYS} days on"):
        sandbox.advance(_DAYS * _SECONDS_A_DAY)
    _load(screen, "Load what is new", meltano, sandbox, None)
    return before


def _load(
    screen: Screen, text: str, meltano: Meltano, sandbox: Sandbox, total: int | None
) -> None:
    sandbox.clear_requests()
    told = f"{text} (meltano run {' '.join(_PIPELINE)})"
    with screen.step(told, counts=True, total=total) as done:

        def count() -> None:
            done(sum(request["records"] or 0 for request in sandbox.requests()))

        meltano("run", "--no-install", *_PIPELINE, meanwhile=count)


def _report(screen: Screen, connection: Connection, before: dict[str, int]) -> None:
    new, moved = report.changes(connection)
    counts = report.counts_table(before, report.row_counts(connection))
    charts = (
        titled("Leads by day of their signal", report.leads_by_day(connection, 7)),
        titled("Average score by fit", report.score_by_fit(connection)),
    )
    screen.show(
        titled(f"Rows in PostgreSQL, schema {report.SCHEMA}", counts),
        titled(
            f"In {_DAYS} days, {new:,} new leads; the best of them",
            report.best_new_leads(connection, 3),
        ),
        titled(
            f"and {moved:,} leads with a new signal; the latest of them",
            report.moved_leads(connection, 3),
        ),
        Columns(charts, padding=(0, 6)),
    )


def _show_state(screen: Screen, meltano: Meltano) -> None:
    name = f"{report.SCHEMA}:{'-to-'.join(_PIPELINE)}"
    state = meltano.output("state", "get", name)
    done = subprocess.run(  # noqa: S603 - of our own environment
        [program("tap-leadintent-state"), "show", "-"],
        input=state,
        capture_output=True,
        check=True,
    )
    title, *rest = dropwhile("leads".__ne__, done.stdout.decode().splitlines())
    lines = [title, *takewhile(lambda line: line.startswith(" "), rest)]
    told = Text("\n".join(lines), no_wrap=True, overflow="ellipsis")
    screen.show(titled("What the state says of the leads (tap-leadintent-state)", told))
