"""Whole pipelines: the tap, Meltano and a target."""

from __future__ import annotations

import os
import shlex
import signal
import sqlite3
import subprocess
import sysconfig
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from psycopg import sql

from tap_leadintent.demo.processes import child
from tap_leadintent.demo.project import Meltano
from tests.support.helpers import API_KEY, TIMEOUT
from tests.support.pages import ROOT as PROJECT
from tests.support.runs import SINCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from tap_leadintent.demo.postgres import Postgres
    from tap_leadintent.sandbox import Sandbox

_HASTENED = """
from singer_sdk.target_base import Target
Target._MAX_RECORD_AGE_IN_MINUTES = 0.5 / 60
"""


@dataclass(frozen=True)
class Warehouse:
    """What Meltano loads, and Meltano with the plugins for it.

    Attributes:
        system: Meltano's system folder.
        target: The loader.
    """

    system: Path
    target: str

    def settings(self, schema: str) -> dict[str, str]:
        """Give the variables that let the loader reach a schema."""
        raise NotImplementedError


@dataclass(frozen=True)
class PostgresWarehouse(Warehouse):
    """A database of PostgreSQL."""

    postgres: Postgres

    def settings(self, schema: str) -> dict[str, str]:
        return {
            "TARGET_POSTGRES_SQLALCHEMY_URL": self.postgres.url,
            "TARGET_POSTGRES_DEFAULT_TARGET_SCHEMA": schema,
        }

    def hasten_states(self) -> None:
        """Let target-postgres pass on a STATE each half second, not all 5 minutes."""
        (packages,) = self.system.glob("loaders/target-postgres/venv/lib/*/*-packages")
        (packages / "sitecustomize.py").write_text(_HASTENED, encoding="utf-8")


def install(folder: Path, target: str) -> Path:
    """Install the tap and a loader into a new system folder, and give it."""
    settings = {"MELTANO_SYS_DIR_ROOT": str(folder)}
    meltano = Meltano(PROJECT, folder.with_suffix(".log"), settings)
    meltano("install", "tap-leadintent", target)
    return folder


class Pipeline(Meltano):
    """`meltano run tap-leadintent target-…` with its own state and schema."""

    def __init__(
        self,
        warehouse: Warehouse,
        sandbox: Sandbox,
        name: str,
        suffix: str | None = None,
        /,
        **settings: str,
    ) -> None:
        """Prepare; settings are environment variables of the plugins.

        With an empty suffix, its state has the name that it has in a user's project.
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
        """Run it to its end."""
        self(*self._run(*options))

    @contextmanager
    def running(self, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Run it for as long as the context; it leads a process group of its own."""
        command: list[str | Path] = [_meltano(), *self._run(*options)]
        with (
            self.log.open("ab") as log,
            child(
                command, cwd=PROJECT, env=self._env, stdout=log, stderr=log
            ) as process,
        ):
            yield process

    @property
    def environment(self) -> dict[str, str]:
        """What its runs find in their environment."""
        return {**self._env}

    def change_state(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Pipe the state through the command as `docs/state.md` does."""
        return self.pipe_state(
            *("meltano", "invoke", "--no-install", "tap-leadintent:state"), *arguments
        )

    def pipe_state(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Pipe the state through a command."""
        scripts = sysconfig.get_path("scripts")
        line = (
            f"meltano state get {self._state_id} | "
            f"{shlex.join(command)} | "
            f"meltano state set --force {self._state_id} --input-file /dev/stdin"
        )
        return subprocess.run(  # noqa: S603 - of our own environment
            ["/bin/sh", "-c", line],
            cwd=PROJECT,
            env={**self._env, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"},
            check=False,
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT,
        )

    def partial_state(self) -> str:
        """Give what the system database holds of a refresh that has not completed."""
        return self._kept("partial_state")

    def kept_state(self) -> str:
        """Give what the system database holds of all other runs, also midway."""
        return self._kept("completed_state")

    def _kept(self, column: Literal["partial_state", "completed_state"]) -> str:
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
        return ["run", "--no-install", *suffix, *options, *plugins]


def _meltano() -> Path:
    return Path(sysconfig.get_path("scripts"), "meltano")


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all of its group, and wait for its end."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(TIMEOUT)


def column(
    connection: psycopg.Connection, schema: str, table: str, *names: str
) -> list[Any]:
    """Give the values of a column of a table, or tuples of those of several."""
    query = sql.SQL("SELECT {} FROM {}").format(
        sql.SQL(", ").join(map(sql.Identifier, names)), sql.Identifier(schema, table)
    )
    rows = connection.execute(query).fetchall()
    return [row[0] if len(names) == 1 else row for row in rows]
