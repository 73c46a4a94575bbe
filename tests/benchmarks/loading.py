"""The ways to load leads into PostgreSQL that are compared."""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from psycopg import sql

from tap_leadintent.sandbox.options import Options
from tap_leadintent.sandbox.times import format_time
from tests.support.pipelines import Pipeline, PostgresWarehouse, install
from tests.support.targets import settings_of

from .clients import CLOCK, leads_only, slices
from .environments import PEERS, build_peer, build_tap
from .processes import watching

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tap_leadintent.demo.postgres import Postgres
    from tap_leadintent.sandbox import Sandbox

    from .processes import Program

WORKERS = 4
"""What the tap reads at once by default; and dlt's workers."""

_OPTIONS = Options(clock=CLOCK[1])
_LOADER = "target-postgres"
_DLT = "dlt_leads"
_NAMES = {
    "tap-leadintent": "tap",
    _LOADER: "target",
    "meltano": "Meltano",
    f"{_DLT}.py": "dlt",
    "postgres": "PostgreSQL",
}


class Loaded(NamedTuple):
    """What it took to load all leads.

    Attributes:
        seconds: Wall time.
        programs: What each program took, by its name.
    """

    seconds: float
    programs: Mapping[str, Program]


class Loading:
    """All ways, with the environments that they run in."""

    def __init__(
        self, folder: Path, postgres: Postgres, sandbox: Sandbox, leads: int
    ) -> None:
        """Build the environments.

        Args:
            folder: Where to put them, for as long as they are used.
            postgres: The database, which nobody else uses.
            sandbox: What has the leads.
            leads: How many there are; each must be in the table once.
        """
        self._folder = folder
        self._postgres = postgres
        self._sandbox = sandbox
        self._leads = leads
        self._tap = build_tap(folder / "tap")
        self._target = build_peer("target_postgres", folder / "target")
        self._dlt = build_peer(_DLT, folder / "dlt")
        system = install(folder / "meltano", _LOADER)
        self._warehouse = PostgresWarehouse(system, _LOADER, postgres)
        self._catalog = folder / "catalog.json"
        catalog = leads_only(self._tap.programs / "tap-leadintent")
        self._catalog.write_text(json.dumps(catalog), encoding="utf-8")
        self._schemas = map("load_{}".format, count())

    def versions(self) -> dict[str, str]:
        """Give the versions of what matters, by name."""
        with self._postgres.connect() as connection:
            server = connection.info.server_version // 10_000
        return {
            "PostgreSQL": str(server),
            "tap-leadintent": self._tap.version("tap-leadintent"),
            _LOADER: self._target.version("meltanolabs-target-postgres"),
            "dlt": self._dlt.version("dlt"),
        }

    def pipe(self) -> Loaded:
        """Load through a pipe, into the loader as `meltano.yml` sets it up."""
        schema = next(self._schemas)
        target = {
            **settings_of(_LOADER),
            "sqlalchemy_url": self._postgres.url,
            "default_target_schema": schema,
        }
        tap = {**self._api, "start_date": self._begin, "concurrency": WORKERS}
        return self._load(
            schema,
            [
                *(self._tap.programs / "tap-leadintent", "--catalog", self._catalog),
                *("--config", self._file("tap", tap)),
            ],
            [
                *(self._target.programs / _LOADER, "--config"),
                self._file("target", target),
            ],
        )

    def meltano(self) -> Loaded:
        """Load with `meltano run`."""
        schema = next(self._schemas)
        pipeline = Pipeline(
            self._warehouse,
            self._sandbox,
            schema,
            TAP_LEADINTENT_API_KEY=_OPTIONS.api_key,
            TAP_LEADINTENT_START_DATE=self._begin,
            TAP_LEADINTENT__SELECT='["leads.*"]',
        )
        began = time.perf_counter()
        with watching(_NAMES) as programs:
            pipeline.run()
            seconds = time.perf_counter() - began
        return self._checked(schema, Loaded(seconds, programs))

    def dlt(self) -> Loaded:
        """Load with dlt, nested data as JSON, merged by key."""
        schema = next(self._schemas)
        config = {
            **self._api,
            "slices": slices(WORKERS),
            "schema": schema,
            "database": self._database(),
        }
        path = self._file(schema, config)
        return self._load(schema, [self._dlt.python, PEERS / f"{_DLT}.py", path])

    def _database(self) -> dict[str, Any]:
        with self._postgres.connect() as connection:
            address = connection.info
            return {
                # dlt wants a host; the folder of the socket comes before it.
                "host": "localhost",
                "query": {"host": address.host},
                "port": address.port,
                "username": address.user,
                "password": "none",
                "database": address.dbname,
            }

    @property
    def _api(self) -> dict[str, str]:
        return {"base_url": self._sandbox.url, "api_key": _OPTIONS.api_key}

    @property
    def _begin(self) -> str:
        return format_time(_OPTIONS.begin)

    def _file(self, name: str, content: Any) -> Path:
        path = self._folder / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def _load(self, schema: str, *commands: Sequence[Path | str]) -> Loaded:
        """Run commands, the output of each the input of the next."""
        log = self._folder / "log.txt"
        line = " | ".join(shlex.join(map(str, command)) for command in commands)
        shell = ("bash", "-o", "pipefail", "-c", line)
        began = time.perf_counter()
        with watching(_NAMES) as programs, log.open("wb") as told:
            code = subprocess.call(
                shell, stdin=subprocess.DEVNULL, stdout=told, stderr=told
            )
            seconds = time.perf_counter() - began
        if code:
            end = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            msg = f"exit code {code}\n{end}"
            raise RuntimeError(msg)
        return self._checked(schema, Loaded(seconds, programs))

    def _checked(self, schema: str, loaded: Loaded) -> Loaded:
        """Check that each lead is there once, and leave the database as it was."""
        table = sql.Identifier(schema, "leads")
        query = sql.SQL("SELECT count(*), count(DISTINCT id) FROM {}").format(table)
        drop = sql.SQL("DROP SCHEMA {} CASCADE").format(sql.Identifier(schema))
        with self._postgres.connect() as connection:
            held = connection.execute(query).fetchone()
            connection.execute(drop)
            # What is still to be written of this run is not to slow down the next.
            connection.execute("CHECKPOINT")
        if held != (self._leads, self._leads):
            msg = f"{held} leads and different ones of {self._leads}"
            raise RuntimeError(msg)
        return loaded
