"""The examples of the page about runners: what they load, and how they stop."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tap_leadintent.demo.processes import child
from tap_leadintent.sandbox import Sandbox
from tests.support.environments import build
from tests.support.helpers import API_KEY, STREAMS, TIMEOUT
from tests.support.pages import ROOT, SCRIPTS
from tests.support.pipelines import Pipeline, PostgresWarehouse, printed_by
from tests.support.postgres import rows_by_id
from tests.support.rows import expected_rows
from tests.support.runs import SINCE, fill, poll
from tests.support.walk import lines_of

EXAMPLES = ROOT / "docs/examples"
SIZES = {
    **dict.fromkeys(STREAMS, 30),
    "leads": 1000,
}
DAGSTER = """\
concurrency:
  pools:
    default_limit: 1
telemetry:
  enabled: false
"""
SUPERVISORD = """\
[supervisord]
[supervisorctl]
serverurl = unix://%(here)s/socket
[unix_http_server]
file = %(here)s/socket
[rpcinterface:supervisor]
supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface
"""
PRINT_TABLE = """\
import sys
import duckdb
file, table = sys.argv[1:]
query = f"SELECT to_json(t)::VARCHAR FROM leadintent_dataset.{table} t"
for (row,) in duckdb.connect(file, read_only=True).execute(query).fetchall():
    print(row)
"""
TWO_VERSIONS = """\
#!/usr/bin/env python3
import json
def leads(kind, **values):
    print(json.dumps({"type": kind, "stream": "leads", **values}))
columns = {"id": {"type": "string"}, "version": {"type": ["integer", "null"]}}
leads("SCHEMA", key_properties=["id"], schema={"properties": columns})
for id, version in ("a", 1), ("b", 1), ("a", 2):
    leads("RECORD", record={"id": id, "version": version})
"""


def made(tmp_path_factory: pytest.TempPathFactory, name: str) -> Path:
    """Return the programs of an environment with a runner."""
    requirements = Path(__file__).with_name(f"{name}.txt")
    return build(requirements, tmp_path_factory.mktemp(name) / "environment")


@pytest.fixture
def project(
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
    tmp_path: Path,
) -> Callable[..., dict[str, str]]:
    """Make a project with run.sh; return the variables of its runner."""

    def make(
        schema: str,
        programs: Path,
        **more: str,
    ) -> dict[str, str]:
        folder = tmp_path / "project"
        folder.mkdir()
        for file in (ROOT / "meltano.yml", EXAMPLES / "run.sh"):
            shutil.copy(file, folder)
        system = tmp_path / "system"
        system.mkdir()
        for plugins in ("extractors", "loaders"):
            (system / plugins).symlink_to(warehouse.system / plugins)
        database = f"sqlite:///{tmp_path / 'meltano.db'}"
        pipeline = Pipeline(warehouse, sandbox, schema, "")
        return {
            **pipeline.environment,
            "LEADINTENT_PROJECT": str(folder),
            "MELTANO_AUTO_INSTALL": "false",
            "MELTANO_DATABASE_URI": database,
            "MELTANO_SYS_DIR_ROOT": str(system),
            "PATH": os.pathsep.join(
                [
                    str(programs),
                    SCRIPTS,
                    os.environ["PATH"],
                ]
            ),
            **more,
        }

    return make


def assert_stops_and_continues(
    command: list[str | Path],
    variables: Mapping[str, str],
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
) -> None:
    """Stop a run in its middle; the next one is not refused, and loads every row."""
    schema = variables["TARGET_POSTGRES_DEFAULT_TARGET_SCHEMA"]
    fill(
        sandbox,
        latency=2,
        **SIZES,
    )
    options: dict[str, Any] = {"env": dict(variables), "cwd": ROOT}
    with child(command, **options) as process:
        poll(lambda: len(sandbox.requests()) > 3, 5 * TIMEOUT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT) != 0
    fill(sandbox, **SIZES)
    subprocess.run(  # noqa: S603
        command,
        check=True,
        timeout=5 * TIMEOUT,
        **options,
    )
    for stream in STREAMS:
        held = rows_by_id(warehouse.postgres, schema, stream)
        assert held == expected_rows(sandbox, stream)


def test_dagster(
    project: Callable[..., dict[str, str]],
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    programs = made(tmp_path_factory, "dagster")
    home = tmp_path / "dagster"
    home.mkdir()
    (home / "dagster.yaml").write_text(DAGSTER, encoding="utf-8")
    variables = project("dagster", programs, DAGSTER_HOME=str(home))
    example = EXAMPLES / "runners/dagster_leadintent.py"
    command: list[str | Path] = [
        programs / "dagster",
        "asset",
        "materialize",
    ]
    command += ["--select", "leadintent", "-f", example]
    assert_stops_and_continues(command, variables, sandbox, warehouse)
    # A failed run is a failed step.
    sandbox.configure(api_key="another-key-of-the-sandbox")
    variables |= {"TAP_LEADINTENT_MAX_RETRIES": "0"}
    text = example.read_text("utf-8").replace("max_retries=2", "max_retries=0")
    at_once = tmp_path / "at_once.py"
    at_once.write_text(text, encoding="utf-8")
    command[-1] = at_once
    done = subprocess.run(  # noqa: S603
        command,
        env=variables,
        check=False,
        capture_output=True,
        timeout=5 * TIMEOUT,
    )
    assert done.returncode == 1
    assert b"HTTP 401" in done.stdout + done.stderr


def test_prefect(
    project: Callable[..., dict[str, str]],
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    programs = made(tmp_path_factory, "prefect")
    variables = project(
        "prefect",
        programs,
        PREFECT_HOME=str(tmp_path / "prefect"),
        PREFECT_SERVER_ANALYTICS_ENABLED="false",
        PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS="300",
        PYTHONPATH=str(EXAMPLES / "runners"),
    )
    once = "import prefect_leadintent; prefect_leadintent.leadintent()"
    command: list[str | Path] = [
        programs / "python",
        "-c",
        once,
    ]
    assert_stops_and_continues(command, variables, sandbox, warehouse)


def test_supervisord(
    project: Callable[..., dict[str, str]],
    sandbox: Sandbox,
    warehouse: PostgresWarehouse,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    programs = made(tmp_path_factory, "supervisord")
    variables = project("supervisord", programs)
    (program,) = lines_of("runners.md", "## supervisord", "ini")
    program = program.replace("/srv/leads", variables["LEADINTENT_PROJECT"])
    place = tmp_path / "supervisord.conf"
    place.write_text(SUPERVISORD + program, encoding="utf-8")
    options: dict[str, Any] = {"env": variables, "cwd": tmp_path}
    configuration: list[str | Path] = ["--configuration", place]
    serve: list[str | Path] = [programs / "supervisord", "--nodaemon"]
    serve += configuration

    def control(word: str) -> str:
        """Return what supervisorctl prints about the program."""
        done = subprocess.run(  # noqa: S603
            [programs / "supervisorctl", *configuration, word, "leadintent"],
            check=False,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            **options,
        )
        return str(done.stdout)

    fill(sandbox, latency=2, **SIZES)
    with child(serve, **options):
        poll(lambda: len(sandbox.requests()) > 3, 5 * TIMEOUT)
        assert "leadintent: stopped" in control("stop")
        fill(sandbox, **SIZES)
        assert "leadintent: started" in control("start")
        poll(lambda: "EXITED" in control("status"), 5 * TIMEOUT)
    for stream in STREAMS:
        held = rows_by_id(warehouse.postgres, "supervisord", stream)
        assert held == expected_rows(sandbox, stream)


def in_utc(row: dict[str, Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of dlt's as `expected_rows` has it, without those of a load."""
    values = {}
    for name, value in row.items():
        # The end of a request's interval is no value of a record.
        if name.startswith(("_dlt_", "_sdc_")) or name == "window_end":
            continue
        is_time = isinstance(columns.get(name), datetime) and value is not None
        values[name] = datetime.fromisoformat(value) if is_time else value
    return values


def test_dlt(
    sandbox: Sandbox,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    programs = made(tmp_path_factory, "dlt")
    fill(sandbox, **SIZES)
    settings = {
        "base_url": sandbox.url,
        "api_key": API_KEY,
        "start_date": SINCE,
    }
    (tmp_path / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    (tmp_path / "print_table.py").write_text(PRINT_TABLE, encoding="utf-8")
    variables = {
        **os.environ,
        "DLT_DATA_DIR": str(tmp_path / "data"),
        "PATH": os.pathsep.join([SCRIPTS, os.environ["PATH"]]),
        "RUNTIME__DLTHUB_TELEMETRY": "false",
    }
    command = [programs / "python", EXAMPLES / "runners/dlt_leadintent.py"]

    def run() -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(  # noqa: S603
            command,
            cwd=tmp_path,
            env=variables,
            check=False,
            capture_output=True,
            timeout=5 * TIMEOUT,
        )

    # Leads fail after a part of them; what came before is loaded, with its state.
    sandbox.faults({"kind": "status", "status": 401, "stream": "leads", "skip": 5})
    failed = run()
    assert failed.returncode == 1
    assert b"the tap ended with exit code [1]" in failed.stderr
    sandbox.faults()
    before = len(sandbox.requests())
    assert run().returncode == 0
    again = len(sandbox.requests())
    assert run().returncode == 0
    assert len(sandbox.requests()) - again < again - before, "it keeps the state"
    for stream in STREAMS:
        print_table = (tmp_path / "print_table.py", tmp_path / "leadintent.duckdb")
        printed = printed_by(programs, *print_table, stream)
        expected = expected_rows(sandbox, stream)
        key = next(iter(expected.values()))
        assert len(printed) == len(expected)
        for row in printed:
            identity = row.get("record_key") or row["id"]
            assert in_utc(row, key) == expected[identity]


def test_dlt_keeps_the_last_version_of_a_key(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    programs = made(tmp_path_factory, "dlt")
    tap = tmp_path / "tap-leadintent"
    tap.write_text(TWO_VERSIONS, encoding="utf-8")
    tap.chmod(0o700)
    (tmp_path / "print_table.py").write_text(PRINT_TABLE, encoding="utf-8")
    subprocess.run(  # noqa: S603
        [programs / "python", EXAMPLES / "runners/dlt_leadintent.py"],
        cwd=tmp_path,
        env={
            **os.environ,
            "DLT_DATA_DIR": str(tmp_path / "data"),
            "PATH": os.pathsep.join([str(tmp_path), os.environ["PATH"]]),
            "RUNTIME__DLTHUB_TELEMETRY": "false",
        },
        check=True,
        timeout=5 * TIMEOUT,
    )
    print_table = (tmp_path / "print_table.py", tmp_path / "leadintent.duckdb")
    versions = {}
    for row in printed_by(programs, *print_table, "leads"):
        versions[row["id"]] = row["version"]
    assert versions == {"a": 2, "b": 1}


@contextmanager
def webhook() -> Iterator[tuple[str, list[Any]]]:
    """Serve a webhook, and give its address, and what was posted."""
    posted: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            posted.append((self.headers["Content-Type"], json.loads(body)))
            self.send_response(200)
            self.end_headers()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(
            target=server.serve_forever,
            daemon=True,
        ).start()
        yield f"http://127.0.0.1:{server.server_port}", posted
        server.shutdown()


@pytest.mark.parametrize("code", [0, 1])
def test_the_alert_in_slack(tmp_path: Path, code: int) -> None:
    (lines,) = lines_of("runners.md", "## An alert in Slack")
    stub = f"printf '%s\\n' 'tap: \"no\" \\ key' 'Grüße'\nexit {code}\n"
    (tmp_path / "run.sh").write_text(stub, encoding="utf-8")
    (tmp_path / "output").mkdir()
    with webhook() as (address, posted):
        lines = f"export SLACK_WEBHOOK={address}\n{lines}"
        done = subprocess.run(  # noqa: S603
            ["/bin/sh", "-c", lines],
            cwd=tmp_path,
            check=False,
        )
    assert done.returncode == code
    text = {"text": 'tap: "no" \\ key\nGrüße\n'}
    assert posted == ([("application/json", text)] if code else [])


def test_the_units_of_systemd(tmp_path: Path) -> None:
    """Without an option, the command exits with 0 in spite of a misspelled name."""
    verify = [
        "systemd-analyze",
        "verify",
        "--recursive-errors=no",
    ]
    for unit in (EXAMPLES / "runners").glob("leadintent.*"):
        shutil.copy(unit, tmp_path)
    units = ["./leadintent.service", "./leadintent.timer"]
    options: dict[str, Any] = {
        "cwd": tmp_path,
        "capture_output": True,
        "text": True,
    }
    done = subprocess.run(  # noqa: S603
        [*verify, *units],
        check=False,
        **options,
    )
    assert done.returncode == 0
    assert done.stderr == ""
    service = tmp_path / "leadintent.service"
    text = service.read_text("utf-8").replace("TimeoutStopSec", "TimeoutStopSecs")
    service.write_text(text, encoding="utf-8")
    refused = subprocess.run(  # noqa: S603
        [*verify, *units],
        check=False,
        **options,
    )
    assert refused.returncode == 1
