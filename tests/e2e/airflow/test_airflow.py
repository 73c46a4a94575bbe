"""The examples of DAGs, run by the scheduler of Airflow with its LocalExecutor."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import psutil  # type: ignore[import-untyped]
import pytest
import requests

from tap_leadintent.demo.processes import child
from tap_leadintent.sandbox import Sandbox
from tests.support.environments import build
from tests.support.helpers import STREAMS, TIMEOUT
from tests.support.pages import ROOT, SCRIPTS
from tests.support.pipelines import Pipeline, PostgresWarehouse
from tests.support.postgres import rows_by_id
from tests.support.rows import expected_rows
from tests.support.runs import CLOCK, SINCE, fill, poll

EXAMPLES = ROOT / "docs/examples"
BACKFILL = "leadintent_backfill"
HOURLY = "leadintent_hourly"
SIZES = {
    **dict.fromkeys(STREAMS, 120),
    "leads": 1000,
}
MINUTES = 10
SOON = "timedelta(seconds=5)"
AT_ONCE = f'{{"retries": 3, "retry_delay": {SOON}}}'


class Airflow:
    """Airflow with its scheduler, which runs a DAG of `docs/examples/airflow`."""

    def __init__(
        self,
        program: Path,
        home: Path,
        dag: str,
        variables: dict[str, str],
    ) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._program = program
        self._dag = dag
        self._url = f"http://127.0.0.1:{port}"
        self._database = home / "airflow.db"
        self.log = home / "log.txt"
        self.env = {
            **variables,
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__API__PORT": str(port),
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
            "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
            "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{self._url}/execution/",
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
            "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
            "PATH": os.pathsep.join(
                [
                    str(program.parent),
                    SCRIPTS,
                    os.environ["PATH"],
                ]
            ),
        }

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run Airflow until the context ends, and wait until it knows the DAG."""
        command: list[str | Path] = [self._program, "standalone"]
        with (
            self.log.open("wb") as log,
            child(
                command,
                env=self.env,
                stdout=log,
                stderr=log,
            ),
        ):
            known = "SELECT dag_id FROM dag"
            poll(lambda: self._asked(known) == [(self._dag,)], MINUTES * 60)
            yield

    def trigger(self, **params: Any) -> None:
        """Start a run of the DAG."""
        subprocess.run(  # noqa: S603 - our own environment
            [
                self._program,
                "dags",
                "trigger",
                self._dag,
                "--conf",
                json.dumps(params),
            ],
            env=self.env,
            check=True,
            capture_output=True,
            timeout=TIMEOUT,
        )

    def wait(self) -> str:
        """Wait until a run has ended, and return its final state."""
        ended = "SELECT state FROM dag_run WHERE state IN ('success', 'failed')"
        poll(lambda: bool(self._asked(ended)), MINUTES * 60)
        ((state,),) = self._asked(ended)
        return str(state)

    def wait_for(
        self,
        task: str,
        state: str,
        attempt: int = 1,
    ) -> None:
        """Wait until an attempt of a task is in a state."""
        query = f"SELECT state, try_number FROM task_instance WHERE task_id = '{task}'"  # noqa: S608
        poll(lambda: self._asked(query) == [(state, attempt)], MINUTES * 60)

    def request(
        self,
        method: str,
        path: str,
        **body: Any,
    ) -> Any:
        """Call Airflow's API about the DAG."""
        answer = requests.get(f"{self._url}/auth/token", timeout=TIMEOUT)
        token = answer.json()["access_token"]
        answer = requests.request(
            method,
            f"{self._url}/api/v2/dags/{self._dag}/{path}",
            headers={"Authorization": f"Bearer {token}"},
            json=body or None,
            timeout=TIMEOUT,
        )
        answer.raise_for_status()
        return answer.json()

    def mark_as_failed(self, task: str) -> None:
        """Do what a user does who presses that button."""
        ((run,),) = self._asked("SELECT run_id FROM dag_run")
        path = f"dagRuns/{run}/taskInstances/{task}"
        self.request("PATCH", path, new_state="failed")

    def clear(self, task: str) -> None:
        """Let a task that has ended run again."""
        ((run,),) = self._asked("SELECT run_id FROM dag_run")
        self.request(
            "POST",
            "clearTaskInstances",
            dry_run=False,
            dag_run_id=run,
            task_ids=[task],
            only_failed=False,
        )

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


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Airflow, in an environment of its own."""
    requirements = Path(__file__).with_name("requirements.txt")
    return build(requirements, tmp_path_factory.mktemp("airflow") / "environment")


@pytest.fixture
def start(
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
    programs: Path,
    tmp_path: Path,
) -> Callable[..., Any]:
    """Start Airflow with a DAG, in which texts are replaced."""

    @contextmanager
    def running(
        dag: str,
        schema: str,
        **replaced: str,
    ) -> Iterator[Airflow]:
        # With the state of another test, a run would load what is new alone.
        database = f"sqlite:///{tmp_path / 'meltano.db'}"
        settings = {
            "MELTANO_DATABASE_URI": database,
            "MELTANO_ENVIRONMENT": "prod",
        }
        project = Pipeline(
            warehouse,
            sandbox,
            schema,
            "",
            **settings,
        )
        home = tmp_path / "airflow"
        folder = tmp_path / "project"
        folder.mkdir()
        for file in (ROOT / "meltano.yml", EXAMPLES / "run.sh"):
            shutil.copy(file, folder)
        (home / "dags").mkdir(parents=True)
        for file in (EXAMPLES / "airflow").glob("*.py"):
            if file.stem in {dag, "backfill"}:
                text = file.read_text("utf-8")
                for old, new in replaced.items():
                    text = re.sub(rf"{old}=[^\n]+,\n", f"{old}={new},\n", text)
                (home / "dags" / file.name).write_text(text, encoding="utf-8")
        variables = {
            **project.environment,
            "LEADINTENT_PROJECT": str(folder),
            "MELTANO_AUTO_INSTALL": "false",
        }
        airflow = Airflow(
            programs / "airflow",
            home,
            dag,
            variables,
        )
        with airflow.running():
            yield airflow

    return running


def assert_loaded(
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
    schema: str,
) -> None:
    for stream in STREAMS:
        held = rows_by_id(warehouse.postgres, schema, stream)
        assert held == expected_rows(sandbox, stream)


def test_three_shards_of_which_one_fails_at_first_load_every_row(
    start: Callable[..., Any],
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
) -> None:
    fill(sandbox, **SIZES)
    # The first request of a shard is refused, which ends its first attempt.
    sandbox.faults(
        {
            "kind": "status",
            "status": 401,
            "times": 1,
        }
    )
    with start(BACKFILL, "shards", default_args=AT_ONCE) as airflow:
        airflow.trigger(
            start_date=SINCE,
            end_date=CLOCK,
            shards=3,
        )
        ended = airflow.wait()
        assert ended == "success", airflow.log.read_text(encoding="utf-8")[-3000:]
        assert sorted(airflow.attempts("load")) == [1, 1, 2]
        assert airflow.attempts("join") == airflow.attempts("catch_up") == [1]
    assert_loaded(sandbox, warehouse, "shards")


@contextmanager
def webhook() -> Iterator[tuple[str, list[str]]]:
    """Serve a webhook, and give its address, and the texts that were posted."""
    texts: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            texts.append(json.loads(body)["text"])
            self.send_response(200)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(
            target=server.serve_forever,
            daemon=True,
        ).start()
        yield f"http://127.0.0.1:{server.server_port}", texts
        server.shutdown()


def slow(sandbox: Sandbox) -> None:
    """Let a run take at least 100 seconds, which is more than the time-out."""
    fill(
        sandbox,
        latency=8,
        **SIZES,
    )


def test_a_run_that_fails_posts_an_alert(
    start: Callable[..., Any],
    sandbox: Sandbox,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(sandbox, **SIZES)
    sandbox.faults({"kind": "status", "status": 401})
    with webhook() as (address, texts):
        monkeypatch.setenv("LEADINTENT_WEBHOOK", address)
        with start(
            HOURLY,
            "failed",
            schedule="None",
            retries="0",
        ) as airflow:
            airflow.trigger()
            assert airflow.wait() == "failed"
    (text,) = texts
    assert text.startswith("leadintent_hourly: Bash command failed")


def test_after_a_time_out_and_a_mark_as_failed_the_next_attempt_loads(
    start: Callable[..., Any],
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
) -> None:
    """Meltano has ended its runs, so it refuses none."""
    slow(sandbox)
    hourly = partial(
        start,
        HOURLY,
        "hourly",
        schedule="None",
        retry_delay=SOON,
    )
    with hourly(execution_timeout="timedelta(seconds=60)") as airflow:
        airflow.trigger()
        airflow.wait_for("load", "up_for_retry")
        assert sandbox.requests(), "it was stopped in its middle"
        airflow.wait_for("load", "running", 2)
        before = len(sandbox.requests())
        poll(lambda: len(sandbox.requests()) > before + 3, MINUTES * 60)
        airflow.mark_as_failed("load")
        assert airflow.wait() == "failed"
        poll(lambda: not runs_of_meltano())
        fill(sandbox, **SIZES)
        airflow.clear("load")
        airflow.wait_for("load", "success", 3)
    assert_loaded(sandbox, warehouse, "hourly")


def test_after_a_killed_meltano_the_next_attempt_loads(
    start: Callable[..., Any],
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
) -> None:
    """It takes six minutes, as Meltano believes in the run for five."""
    slow(sandbox)
    with start(HOURLY, "killed", schedule="None") as airflow:
        airflow.trigger()
        poll(lambda: len(sandbox.requests()) > 3, MINUTES * 60)
        for process in runs_of_meltano():
            process.send_signal(signal.SIGKILL)
        airflow.wait_for("load", "up_for_retry")
        fill(sandbox, **SIZES)
        assert airflow.wait() == "success"
        assert airflow.attempts("load") == [2]
    assert_loaded(sandbox, warehouse, "killed")


def runs_of_meltano() -> list[psutil.Process]:
    """Return the processes below this one that are `meltano run`."""
    found = []
    for process in psutil.Process().children(recursive=True):
        # It may have ended meanwhile.
        with suppress(psutil.Error):
            words = process.cmdline()
            if "run" in words and any(word.endswith("/meltano") for word in words):
                found.append(process)
    return found
