"""Complete pipelines: the tap, Meltano and a target."""

import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tap_leadintent.demo.postgres import Postgres
from tap_leadintent.demo.processes import child
from tap_leadintent.demo.project import Meltano
from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, TIMEOUT, exact_json
from tests.support.pages import ROOT as PROJECT
from tests.support.pages import SCRIPTS
from tests.support.runs import SINCE

_SHORTER_INTERVAL = """
from singer_sdk.target_base import Target
Target._MAX_RECORD_AGE_IN_MINUTES = {} / 60
"""


def shorten_state_interval(environment: Path, seconds: float) -> None:
    """Let a loader of the SDK return a STATE so often, and not every 5 minutes."""
    (packages,) = environment.glob("lib/*/*-packages")
    code = _SHORTER_INTERVAL.format(seconds)
    (packages / "sitecustomize.py").write_text(code, encoding="utf-8")


@dataclass(frozen=True)
class Warehouse:
    """A database, and a Meltano project with the plugins that load it.

    Attributes:
        system: The system folder of Meltano.
        target: The name of the loader.
    """

    system: Path
    target: str

    def settings(self, schema: str) -> dict[str, str]:
        """Return the environment variables for loading a schema."""
        raise NotImplementedError


@dataclass(frozen=True)
class PostgresWarehouse(Warehouse):
    """A PostgreSQL database."""

    postgres: Postgres

    def settings(self, schema: str) -> dict[str, str]:
        return {
            "TARGET_POSTGRES_SQLALCHEMY_URL": self.postgres.url,
            "TARGET_POSTGRES_DEFAULT_TARGET_SCHEMA": schema,
        }

    def shorten_state_interval(self) -> None:
        """Let target-postgres return a STATE every half second, not every 5 minutes."""
        shorten_state_interval(self.system / "loaders/target-postgres/venv", 0.5)


def install(folder: Path, target: str) -> Path:
    """Install the tap and a loader into a new system folder, and return the folder."""
    settings = {"MELTANO_SYS_DIR_ROOT": str(folder)}
    meltano = Meltano(PROJECT, folder.with_suffix(".log"), settings)
    meltano("install", "tap-leadintent", target)
    return folder


@contextmanager
def serving(
    programs: Path,
    server: Path,
    *arguments: str,
) -> Iterator[str]:
    """Run a server of these programs, and give the line that it prints."""
    command: list[Path | str] = [programs / "python", server, *arguments]
    with child(command, stdout=subprocess.PIPE) as process:
        assert process.stdout
        with process.stdout as stdout:
            line = stdout.readline().decode().strip()
            assert line, "it did not start"
            yield line


def printed_by(programs: Path, *command: Path | str) -> list[Any]:
    """Run a script with the Python of these programs; decode each line of JSON."""
    done = subprocess.run(  # noqa: S603 - our own program
        [programs / "python", *command],
        check=True,
        capture_output=True,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    return [exact_json(line) for line in done.stdout.split("\n") if line]


class Pipeline(Meltano):
    """`meltano run tap-leadintent target-…` with a state and a schema of its own."""

    def __init__(
        self,
        warehouse: Warehouse,
        sandbox: Sandbox,
        name: str,
        suffix: str | None = None,
        /,
        **settings: str,
    ) -> None:
        """Prepare the environment. The settings are variables of the plugins.

        With an empty suffix, the state has the same name as in a user's project.
        """
        self._suffix = name if suffix is None else suffix
        self._system = warehouse.system
        self._target = warehouse.target
        super().__init__(
            PROJECT,
            warehouse.system.with_suffix(".log"),
            {
                "MELTANO_SYS_DIR_ROOT": str(warehouse.system),
                "TAP_LEADINTENT_BASE_URL": sandbox.url,
                "TAP_LEADINTENT_API_KEY": API_KEY,
                "TAP_LEADINTENT_START_DATE": SINCE,
                **warehouse.settings(name),
                **settings,
            },
        )

    def run(self, *options: str) -> None:
        """Run the pipeline to its end."""
        self(*self._run(*options))

    @contextmanager
    def running(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run the pipeline in its own process group until the context ends."""
        command: list[str | Path] = [
            Path(SCRIPTS, "meltano"),
            *self._run(*options),
        ]
        with (
            self.log.open("ab") as log,
            child(
                command,
                cwd=PROJECT,
                env=self._env,
                stdout=log,
                stderr=log,
            ) as process,
        ):
            yield process

    @property
    def environment(self) -> dict[str, str]:
        """The environment of its runs."""
        return {**self._env}

    def kept_state(
        self,
        column: Literal["partial_state", "completed_state"] = "completed_state",
    ) -> str:
        """Return the state in the system database, which may change during a run.

        A full refresh that has not completed is in `partial_state`.
        """
        database = sqlite3.connect(self._system / "meltano.db", timeout=TIMEOUT)
        query = f"SELECT {column} FROM state WHERE state_id = ?"  # noqa: S608 - literal
        try:
            row = database.execute(query, [self._state_id]).fetchone()
        finally:
            database.close()
        return str(row[0]) if row and row[0] else ""

    @property
    def _state_id(self) -> str:
        parts = f"dev:tap-leadintent-to-{self._target}", self._suffix
        return ":".join(filter(None, parts))

    def _run(self, *options: str) -> list[str]:
        suffix = ["--state-id-suffix", self._suffix] if self._suffix else []
        plugins = ["tap-leadintent", self._target]
        return [
            "run",
            "--no-install",
            *suffix,
            *options,
            *plugins,
        ]
