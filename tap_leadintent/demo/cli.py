"""The demo itself: what happens, in order."""

from __future__ import annotations

import argparse
import fcntl
import shlex
import shutil
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tap_leadintent.demo import report
from tap_leadintent.demo.postgres import running_postgres, stop_former
from tap_leadintent.demo.processes import (
    DemoError,
    StoppedError,
    stop_on_signals,
    undisturbed_exit,
)
from tap_leadintent.demo.project import PROJECT, Meltano
from tap_leadintent.sandbox import running_sandbox
from tap_leadintent.sandbox.options import Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psycopg import Connection

    from tap_leadintent.sandbox import Sandbox

_COMMAND = "uv run --extra sandbox --group demo python -m tap_leadintent.demo"
_LEADS = 1234
_CLOCK = "2026-06-01T08:00:00Z"
_DAYS = 5
_SECONDS_A_DAY = 86_400
_DATA = "postgres"
_OUTPUT = PROJECT / "output" / "demo"
_STEP_WIDTH = 66
_PIPELINE = ("tap-leadintent", "target-postgres")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: Those of the command line; `sys.argv` when absent.

    Returns:
        The exit code.
    """
    options = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    stop_on_signals()
    try:
        with _alone_in(options.output.resolve()) as output:
            return _look(output) if options.psql else _demonstrate(output)
    except StoppedError as stopped:
        print("\nStopped. Nothing that the demo started is left running.")
        return 128 + stopped.number
    except (DemoError, OSError, RuntimeError, psycopg.Error) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tap_leadintent.demo",
        description="Load an offline stand-in for the API into a real PostgreSQL with "
        "Meltano, twice, and show what it got. Needs no key.",
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=_OUTPUT,
        metavar="FOLDER",
        help="for data and logs; those of a former demo in it are replaced "
        "(default: output/demo)",
    )
    parser.add_argument(
        "--psql",
        action="store_true",
        help="look at the data of the last demo in psql instead",
    )
    return parser


def _demonstrate(output: Path) -> int:
    if not (PROJECT / "meltano.yml").exists():
        msg = "there is no meltano.yml; run the demo from a clone of the repository"
        raise DemoError(msg)
    print("Leads from an offline stand-in for the API, by Meltano, into PostgreSQL.\n")
    began = time.monotonic()
    data, system = _fresh(output)
    with ExitStack() as stack:
        with _step(f"Start the sandbox with {_LEADS:,} leads"):
            arguments = ("--leads", str(_LEADS), "--clock", _CLOCK)
            sandbox = stack.enter_context(running_sandbox(*arguments))
        with _step("Start PostgreSQL"):
            postgres = stack.enter_context(running_postgres(data))
            connection = stack.enter_context(postgres.connect())
        stack.enter_context(undisturbed_exit())
        settings = {
            "TAP_LEADINTENT_BASE_URL": sandbox.url,
            "TAP_LEADINTENT_API_KEY": Options().api_key,
            "TARGET_POSTGRES_SQLALCHEMY_URL": postgres.url,
        }
        _load_twice(Meltano(system, settings), sandbox, connection)
    print(f"\nDone in {time.monotonic() - began:.0f} s. Data and logs are in {output};")
    print(f"to look around in psql:\n\n  {_again(output)}")
    return 0


def _load_twice(meltano: Meltano, sandbox: Sandbox, connection: Connection) -> None:
    with _step("Install the tap and target-postgres (meltano install)"):
        meltano("install", *_PIPELINE)
    run = ("run", "--no-install", *_PIPELINE)
    with _step("Load everything (meltano run tap-leadintent target-postgres)"):
        meltano(*run)
    before = report.row_counts(connection)
    report.remember_leads(connection)
    with _step(f"Move the sandbox's clock {_DAYS} days on"):
        sandbox.advance(_DAYS * _SECONDS_A_DAY)
    with _step("Load what is new (the same meltano run again)"):
        meltano(*run)
    _report(connection, before)


def _report(connection: Connection, before: dict[str, int]) -> None:
    print(f"\nRows in PostgreSQL, schema {report.SCHEMA}:\n")
    print(report.counts_table(before, report.row_counts(connection)))
    new, moved = report.changes(connection)
    print(f"\nIn {_DAYS} days, {new:,} new leads; the best of them:\n")
    print(report.best_leads(connection, 3, only_new=True))
    print(f"\nand {moved:,} leads with a new signal; the latest of them:\n")
    print(report.moved_leads(connection, 3))
    print("\nThe best of all leads:\n")
    print(report.best_leads(connection, 10))


def _look(output: Path) -> int:
    data = output / _DATA
    if not (data / "PG_VERSION").exists():
        msg = f"there is no data in {output}; run the demo first, without --psql"
        raise DemoError(msg)
    with running_postgres(data) as postgres:
        return postgres.psql(report.SCHEMA)


def _again(output: Path) -> str:
    option = "" if output == _OUTPUT else f" --output {shlex.quote(str(output))}"
    return f"{_COMMAND}{option} --psql"


@contextmanager
def _alone_in(output: Path) -> Iterator[Path]:
    """Keep other demos out of a folder, and end what is left of a killed one."""
    output.mkdir(parents=True, exist_ok=True)
    with (output / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            msg = f"another demo is using {output}"
            raise DemoError(msg) from error
        stop_former(output / _DATA)
        yield output


def _fresh(output: Path) -> tuple[Path, Path]:
    data, system = output / _DATA, output / "meltano"
    for folder in (data, system):
        if folder.exists():
            shutil.rmtree(folder)
    system.with_suffix(".log").unlink(missing_ok=True)
    return data, system


@contextmanager
def _step(text: str) -> Iterator[None]:
    """Say what happens now, then how long it took."""
    print(f"{text + ' ':.<{_STEP_WIDTH}}", end=" ", flush=True)
    began = time.monotonic()
    yield
    print(f"{time.monotonic() - began:5.1f} s", flush=True)
