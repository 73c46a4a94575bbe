"""What loading into PostgreSQL takes, beside another way to do it."""

import json
import shlex
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from psycopg import sql

from tap_leadintent.demo.postgres import Postgres, running_postgres
from tap_leadintent.sandbox import Sandbox, running_sandbox
from tap_leadintent.sandbox.options import Options
from tap_leadintent.sandbox.times import format_time
from tests.support.pipelines import Pipeline, PostgresWarehouse, install
from tests.support.targets import settings_of

from .clients import CLOCK, PEERS, build_peer, build_tap, leads_only, slices
from .measure import Row, Scale, interleaved, run_command

_WORKERS = 4
"""What the tap reads at once by default; and dlt's workers."""

_OPTIONS = Options(clock=CLOCK[1])
_BEGIN = format_time(_OPTIONS.begin)
_LOADER = "target-postgres"


def rows(folder: Path, scale: Scale) -> Iterator[Row]:
    """Measure what it takes until the leads are in PostgreSQL.

    Args:
        folder: For the database and the environments.
        scale: How much is measured.

    Yields:
        A row for each way.
    """
    # PostgreSQL has a user of its own when this one is root.
    folder.chmod(0o755)
    with (
        running_sandbox(*CLOCK, "--leads", str(scale.leads)) as sandbox,
        running_postgres(folder / "data") as postgres,
    ):
        loading = _Loading(folder, postgres, sandbox, scale.leads)
        ways = {
            "this tap \\| target-postgres": loading.pipe,
            "meltano run": loading.meltano,
            f"dlt, {_WORKERS} workers, JSON columns, merge": loading.dlt,
        }
        seconds = interleaved(scale.rounds, ways)
    for way in ways:
        yield Row(
            f"Seconds for {scale.leads:,} leads into PostgreSQL",
            way,
            seconds[way],
        )


class _Loading:
    """All ways, with the environments that they run in; each gives its seconds."""

    def __init__(
        self, folder: Path, postgres: Postgres, sandbox: Sandbox, leads: int
    ) -> None:
        self._folder = folder
        self._postgres = postgres
        self._sandbox = sandbox
        self._leads = leads
        self._tap = build_tap(folder / "tap") / "tap-leadintent"
        self._target = build_peer("target_postgres", folder / "target")
        self._dlt = build_peer("dlt_leads", folder / "dlt")
        system = install(folder / "meltano", _LOADER)
        self._warehouse = PostgresWarehouse(system, _LOADER, postgres)
        self._catalog = self._file("catalog", leads_only(self._tap))
        self._api = {"base_url": sandbox.url, "api_key": _OPTIONS.api_key}
        self._schemas = map("load_{}".format, count())

    def pipe(self) -> float:
        """Load through a pipe, into the loader as `meltano.yml` sets it up."""
        schema = next(self._schemas)
        target = {
            **settings_of(_LOADER),
            "sqlalchemy_url": self._postgres.url,
            "default_target_schema": schema,
        }
        tap = {**self._api, "start_date": _BEGIN, "concurrency": _WORKERS}
        given = ("--catalog", self._catalog, "--config", self._file("tap", tap))
        loader = self._target / _LOADER
        return self._load(
            schema,
            [self._tap, *given],
            [loader, "--config", self._file("target", target)],
        )

    def meltano(self) -> float:
        """Load with `meltano run`."""
        schema = next(self._schemas)
        pipeline = Pipeline(
            self._warehouse,
            self._sandbox,
            schema,
            TAP_LEADINTENT_API_KEY=_OPTIONS.api_key,
            TAP_LEADINTENT_START_DATE=_BEGIN,
            TAP_LEADINTENT__SELECT='["leads.*"]',
        )
        began = time.perf_counter()
        pipeline.run()
        return self._checked(schema, time.perf_counter() - began)

    def dlt(self) -> float:
        """Load with dlt, nested data as JSON, merged by key."""
        schema = next(self._schemas)
        with self._postgres.connect() as connection:
            address = connection.info
            database = {
                # dlt wants a host; the folder of the socket comes before it.
                "host": "localhost",
                "query": {"host": address.host},
                "port": address.port,
                "username": address.user,
                "password": "none",
                "database": address.dbname,
            }
        parts = {"slices": slices(_WORKERS), "schema": schema, "database": database}
        path = self._file(schema, self._api | parts)
        return self._load(schema, [self._dlt / "python", PEERS / "dlt_leads.py", path])

    def _file(self, name: str, content: Any) -> Path:
        path = self._folder / f"{name}.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def _load(self, schema: str, *commands: Sequence[Path | str]) -> float:
        """Run commands, the output of each the input of the next."""
        line = " | ".join(shlex.join(map(str, command)) for command in commands)
        shell = ("bash", "-o", "pipefail", "-c", line)
        return self._checked(schema, run_command(shell, self._folder).seconds)

    def _checked(self, schema: str, seconds: float) -> float:
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
            raise RuntimeError(f"{held} leads and different ones of {self._leads}")
        return seconds
