"""The example of a backfill, run by the scheduler of Airflow."""

import json
import os
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tap_leadintent.demo.processes import child
from tap_leadintent.sandbox import Sandbox
from tests.support.environments import build
from tests.support.helpers import STREAMS, TIMEOUT
from tests.support.pages import ROOT, SCRIPTS
from tests.support.pipelines import Pipeline, PostgresWarehouse
from tests.support.postgres import rows_by_id
from tests.support.rows import expected_rows
from tests.support.runs import CLOCK, SINCE, fill, poll

DAG = "leadintent_backfill"
SIZES = {**dict.fromkeys(STREAMS, 120), "leads": 1000}
MINUTES = 10


class Airflow:
    """Airflow with its scheduler, which runs the files in `docs/examples/airflow`."""

    def __init__(self, program: Path, home: Path, variables: dict[str, str]) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._program = program
        self._database = home / "airflow.db"
        self.log = home / "log.txt"
        self.env = {
            **variables,
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "docs/examples/airflow"),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": (
                f"http://127.0.0.1:{port}/execution/"
            ),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "PATH": os.pathsep.join([str(program.parent), SCRIPTS, os.environ["PATH"]]),
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run Airflow until the context ends, and wait until it knows the DAG."""
        command: list[str | Path] = [self._program, "standalone"]
        with (
            self.log.open("wb") as log,
            child(command, env=self.env, stdout=log, stderr=log),
        ):
            known = "SELECT dag_id FROM dag"
            poll(lambda: self._asked(known) == [(DAG,)], MINUTES * 60)
            yield

    def run(self, **params: Any) -> str:
        """Trigger the DAG, wait for its end, and return its final state."""
        subprocess.run(  # noqa: S603 - our own environment
            [self._program, "dags", "trigger", DAG, "--conf", json.dumps(params)],
            env=self.env,
            check=True,
            capture_output=True,
            timeout=TIMEOUT,
        )
        ended = "SELECT state FROM dag_run WHERE state IN ('success', 'failed')"
        poll(lambda: bool(self._asked(ended)), MINUTES * 60)
        ((state,),) = self._asked(ended)
        return str(state)

    def attempts(self, task: str) -> list[int]:
        """Return how often each instance of a task was tried."""
        query = f"SELECT try_number FROM task_instance WHERE task_id = '{task}'"  # noqa: S608
        return [number for (number,) in self._asked(query)]

    def _asked(self, query: str) -> list[Any]:
        if not self._database.exists():
            return []
        database = sqlite3.connect(self._database, timeout=TIMEOUT)
        try:
            return database.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []  # Airflow has not created its tables yet
        finally:
            database.close()


@pytest.fixture
def airflow(
    sandbox: Sandbox, warehouse: PostgresWarehouse, tmp_path: Path
) -> Iterator[Airflow]:
    """Run Airflow in an environment of its own."""
    programs = build(
        Path(__file__).with_name("requirements.txt"), tmp_path / "environment"
    )
    database = f"sqlite:///{warehouse.system / 'meltano.db'}"
    settings = {"MELTANO_DATABASE_URI": database, "MELTANO_ENVIRONMENT": "prod"}
    project = Pipeline(warehouse, sandbox, "shards", "", **settings)
    home = tmp_path / "airflow"
    home.mkdir()
    variables = {**project.environment, "LEADINTENT_PROJECT": str(ROOT)}
    airflow = Airflow(programs / "airflow", home, variables)
    with airflow.running():
        yield airflow


def test_three_shards_of_which_one_fails_at_first_load_every_row(
    airflow: Airflow, sandbox: Sandbox, warehouse: PostgresWarehouse
) -> None:
    fill(sandbox, **SIZES)
    # The first request of a shard is refused, which ends its first attempt.
    sandbox.faults({"kind": "status", "status": 401, "times": 1})
    ended = airflow.run(start_date=SINCE, end_date=CLOCK, shards=3)
    assert ended == "success", airflow.log.read_text(encoding="utf-8")[-3000:]
    assert sorted(airflow.attempts("load")) == [1, 1, 2]
    assert airflow.attempts("join") == airflow.attempts("catch_up") == [1]
    for stream in STREAMS:
        held = rows_by_id(warehouse.postgres, "shards", stream)
        assert held == expected_rows(sandbox, stream)
