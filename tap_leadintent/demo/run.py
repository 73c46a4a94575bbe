"""The steps of the demo."""

import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dotenv import set_key

from tap_leadintent.demo import report
from tap_leadintent.demo.postgres import Postgres, running_postgres
from tap_leadintent.demo.processes import DemoError
from tap_leadintent.demo.project import Meltano, program, write_project
from tap_leadintent.sandbox import running_sandbox
from tap_leadintent.sandbox.options import Options, three_weeks_ago

_LEADS = 1234
_DAYS = 5
_PIPELINE = ("tap-leadintent", "target-postgres")


def demonstrate(folder: Path) -> None:
    """Load the sandbox into PostgreSQL, twice, and show what has changed.

    Args:
        folder: An empty or new folder, which becomes a Meltano project.

    Raises:
        DemoError: A step failed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise DemoError(
            f"{folder} is not empty; name another folder.\n\n{_next_steps(folder)}"
        )
    write_project(folder)
    with (
        # The tap reads nothing beyond its own clock, so the clock of the sandbox must
        # stand in the past for days to pass.
        running_sandbox(
            f"--leads={_LEADS}",
            f"--clock={three_weeks_ago()}",
            # The names that are shown first have only Latin letters.
            "--seed=63",
        ) as sandbox,
        running_postgres(folder / "postgres") as postgres,
        postgres.connect() as connection,
    ):
        settings = {
            "TAP_LEADINTENT_BASE_URL": sandbox.url,
            "TAP_LEADINTENT_API_KEY": Options().api_key,
            "TAP_LEADINTENT_START_DATE": "2024-01-01",
            "TARGET_POSTGRES_SQLALCHEMY_URL": postgres.url,
            "TARGET_POSTGRES_DEFAULT_TARGET_SCHEMA": report.SCHEMA,
        }
        meltano = Meltano(folder, folder / "meltano.log", settings)
        load = ("run", "--no-install", "--state-id-suffix", report.SCHEMA, *_PIPELINE)
        with _step("Install the tap and target-postgres"):
            meltano("install", *_PIPELINE)
        with _step(f"Load a sandbox with {_LEADS:,} leads into PostgreSQL"):
            meltano(*load)
        before = report.row_counts(connection)
        report.remember_leads(connection)
        sandbox.advance(_DAYS * 86_400)
        with _step(f"Load what is new {_DAYS} days later"):
            meltano(*load)
        report.show_changes(connection, before)
    print(f"\n{_next_steps(folder)}\n\n{_remains(folder, postgres)}")


@contextmanager
def _step(text: str) -> Iterator[None]:
    """Print what happens, and then how long it took."""
    began = time.monotonic()
    print(f"{text:60}", end="", flush=True)
    yield
    print(f"{time.monotonic() - began:5.1f} s")


def _next_steps(folder: Path) -> str:
    demo = program("tap-leadintent-demo")
    project = shlex.quote(str(folder))
    # A new terminal does not have the path of `uv run` and `uvx`.
    return f"""\
To continue with the project of the demo, start its PostgreSQL:

  {shlex.quote(str(demo))} --postgres {project}

In another terminal, give the tap the address of your API, and load:

  cd {project}
  export PATH={shlex.quote(str(demo.parent))}:"$PATH"
  meltano config set tap-leadintent base_url https://api.example.com
  meltano config set tap-leadintent api_key 'the key of your organization'
  meltano config set tap-leadintent start_date 2026-01-01
  meltano run tap-leadintent target-postgres"""


def _remains(folder: Path, postgres: Postgres) -> str:
    size = sum(path.lstat().st_size for path in folder.rglob("*"))
    what = f"{size / 1e6:,.0f} MB in {folder}"
    remove = f"rm -r {shlex.quote(str(folder))}"
    user = postgres.system_user
    if user:
        what += f", and the user {user} of this system, as which PostgreSQL runs"
        remove += f" && userdel {user}"
    return f"""\
The demo leaves {what}. Downloaded packages are in the cache of uv or pip. To remove it:

  {remove}"""


def serve(folder: Path) -> None:
    """Run the PostgreSQL of a project until a signal ends the demo.

    Args:
        folder: The project of an earlier demo.

    Raises:
        DemoError: The folder has no data, or PostgreSQL did not start.
    """
    data = folder / "postgres"
    env = folder / ".env"
    if not data.exists():
        raise DemoError(f"{folder} is not the project of a demo; run the demo first")
    with running_postgres(data) as postgres:
        set_key(
            env,
            "TARGET_POSTGRES_SQLALCHEMY_URL",
            postgres.url,
        )
        psql = shlex.join([str(postgres.programs / "psql"), postgres.address])
        print(f"PostgreSQL runs until Ctrl-C. Its address is in {env}. To query it:\n")
        print(f"  {psql}", flush=True)
        signal.pause()
