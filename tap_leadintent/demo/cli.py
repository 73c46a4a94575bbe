"""The demo's command line."""

from __future__ import annotations

import argparse
import fcntl
import shlex
import shutil
import signal
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from dotenv import set_key
from rich.text import Text

from tap_leadintent.demo import report
from tap_leadintent.demo.postgres import running_postgres, stop_former
from tap_leadintent.demo.processes import DemoError, StoppedError, stop_on_signals
from tap_leadintent.demo.project import program
from tap_leadintent.demo.run import DATA, demonstrate
from tap_leadintent.demo.screen import Screen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNFINISHED = ".unfinished"
"""File in the folder of a demo that has not come to its end."""

_LOCK = ".demo.lock"
_NAME = "tap-leadintent-demo"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: Those of the command line; `sys.argv` when absent.

    Returns:
        The exit code.
    """
    told = _parser().parse_args(arguments)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    stop_on_signals()
    screen = Screen()
    try:
        with _alone_in(told.folder.resolve()) as folder:
            if told.psql or told.postgres:
                return _open(screen, folder, psql=told.psql)
            _make(screen, folder, told.svg)
    except StoppedError as stopped:
        print("\nStopped. Nothing that the demo started is left running.")
        return 128 + stopped.number
    except (DemoError, OSError, RuntimeError, psycopg.Error) as error:
        print(f"\nThe demo failed: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=_NAME,
        description="Load an offline stand-in for the API into a real PostgreSQL with "
        "Meltano, twice, and show what it got. Leaves a Meltano project to go on with. "
        "Needs no key.",
    )
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=Path("leadintent-demo"),
        help="of the project, which is made (default: %(default)s)",
    )
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="save a picture of what was shown"
    )
    later = parser.add_mutually_exclusive_group()
    later.add_argument(
        "--postgres",
        action="store_true",
        help="start the PostgreSQL of a project that the demo has made, until Ctrl-C",
    )
    later.add_argument(
        "--psql", action="store_true", help="look at its data in psql instead"
    )
    return parser


@contextmanager
def _alone_in(folder: Path) -> Iterator[Path]:
    """Keep other demos out of a folder, and end what is left of a killed one."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / _LOCK).exists() and any(folder.iterdir()):
        msg = f"{folder} is not empty; name another folder"
        raise DemoError(msg)
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            msg = f"another {_NAME} is using {folder}"
            raise DemoError(msg) from error
        stop_former(folder / DATA)
        yield folder


def _make(screen: Screen, folder: Path, svg: Path | None) -> None:
    unfinished = folder / _UNFINISHED
    if (folder / "meltano.yml").exists() and not unfinished.exists():
        msg = (
            f"there is a project in {folder} already; name another folder, or go on "
            f"with it:\n\n{_what_next(folder)}"
        )
        raise DemoError(msg)
    unfinished.touch()
    for part in (DATA, ".meltano"):
        shutil.rmtree(folder / part, ignore_errors=True)
    (folder / "meltano.log").unlink(missing_ok=True)
    demonstrate(screen, folder)
    unfinished.unlink()
    if svg:
        screen.save(svg)
    told = f"A project to go on with is in {folder}:\n\n{_what_next(folder)}\n"
    screen.console.print(Text(told), soft_wrap=True)


def _what_next(folder: Path) -> str:
    there = shlex.quote(str(folder))
    demo = shlex.quote(str(program(_NAME)))
    programs = shlex.quote(str(program(_NAME).parent))
    # `uv run` and `uvx` have the programs on the path, a new terminal has not.
    return f"""\
  # Start its PostgreSQL; it runs until Ctrl-C.
  {demo} --postgres {there}

  # In another terminal, point the tap at your API, and load.
  cd {there}
  export PATH={programs}:"$PATH"
  meltano config set tap-leadintent base_url https://api.example.com
  meltano config set tap-leadintent api_key 'the key of your organization'
  meltano config set tap-leadintent start_date 2026-01-01
  meltano run tap-leadintent target-postgres

  # Look at the data (what the demo loaded is in the schema {report.SCHEMA}).
  {demo} --psql {there}"""


def _open(screen: Screen, folder: Path, *, psql: bool) -> int:
    data = folder / DATA
    if not (data / "PG_VERSION").exists():
        msg = f"there is no data in {folder}; run the demo first"
        raise DemoError(msg)
    with running_postgres(data) as postgres:
        set_key(folder / ".env", "TARGET_POSTGRES_SQLALCHEMY_URL", postgres.url)
        if psql:
            return postgres.psql(f"{report.SCHEMA}, tap_leadintent")
        screen.console.print(
            Text(f"PostgreSQL runs until Ctrl-C; {folder}/.env has its address."),
            soft_wrap=True,
        )
        signal.pause()
    return 0
