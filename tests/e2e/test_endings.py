"""A process ends soon after a signal, whatever it is doing; and says why it ends."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from threading import Event
from typing import TYPE_CHECKING, Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.support.helpers import API_KEY, ENTRIES, READING, TIMEOUT, each_entry, only
from tests.support.runs import (
    CLOCK,
    SIGNALS,
    SINCE,
    SOON,
    TapProcess,
    assert_ended_cleanly,
    assert_states_are_true,
    catalog,
    fill,
    last_state,
    poll,
    wait_for_a_full_pipe,
)
from tests.support.servers import listening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox

PATIENT = {"api_key": API_KEY, "request_timeout_seconds": 1000, "start_date": SINCE}

NOTHING: Any = {"bookmarks": {"leads": {"coverage": []}}}
"""The state of a run that has read nothing."""

SYNC, *_ = READING.values()

each_ending = pytest.mark.parametrize(
    ("arguments", "number"),
    [(SYNC, signal.SIGINT), *((entry, signal.SIGTERM) for entry in ENTRIES.values())],
    ids=["sync and SIGINT", *(f"{entry} and SIGTERM" for entry in ENTRIES)],
)
"""For each way to enter the tap, and for each signal."""

each_signal = pytest.mark.parametrize("number", SIGNALS)


@pytest.fixture
def unanswered() -> Iterator[str]:
    """The URL of a server that accepts no more connections, and refuses none."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket())
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)  # noqa: FBT003
            client.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def start(folder: Path, url: str, *arguments: str, **options: Any) -> TapProcess:
    """Start a sync, or what else the arguments say."""
    config = {**PATIENT, "base_url": url, "infer_columns": "--discover" in arguments}
    if not arguments:
        options["catalog"] = only("leads")
    return TapProcess(folder, config, *arguments, **options)


@each_ending
def test_a_signal_does_not_wait_for_a_connection(
    tmp_path: Path, unanswered: str, arguments: list[str], number: signal.Signals
) -> None:
    process = start(tmp_path, unanswered, *arguments)
    connections = psutil.Process(process.process.pid).net_connections
    poll(lambda: psutil.CONN_SYN_SENT in [each.status for each in connections()])
    run = process.end(number)

    assert run.code == SIGNALS[number], run.stderr
    assert "Traceback" not in run.stderr
    if not arguments:
        assert last_state(run) == NOTHING


@each_ending
def test_a_signal_does_not_wait_for_a_handshake(
    tmp_path: Path, arguments: list[str], number: signal.Signals
) -> None:
    greeted = Event()

    def say_nothing(connection: socket.socket) -> None:
        while connection.recv(65536):
            greeted.set()

    with listening(say_nothing) as (host, port):
        process = start(tmp_path, f"https://{host}:{port}", *arguments)
        assert greeted.wait(TIMEOUT)
        run = process.end(number)

    assert run.code == SIGNALS[number], run.stderr
    assert "Traceback" not in run.stderr
    if not arguments:
        assert last_state(run) == NOTHING


def look_up(folder: Path, *arguments: str) -> TapProcess:
    """Start the tap, and wait until it looks up an address in vain."""
    url = "http://localhost:9"
    process = start(folder, url, *arguments, module="tests.support.stuck")
    poll(lambda: "looks up an address" in process.stderr)
    return process


@each_ending
def test_a_signal_does_not_wait_for_an_address(
    tmp_path: Path, arguments: list[str], number: signal.Signals
) -> None:
    run = look_up(tmp_path, *arguments).end(number)
    assert run.code == SIGNALS[number], run.stderr
    assert "Traceback" not in run.stderr
    if not arguments:
        assert last_state(run) == NOTHING


def test_a_second_signal_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRACE", str(TIMEOUT))
    process = look_up(tmp_path, "--discover")
    process.process.send_signal(signal.SIGINT)
    run = process.end(signal.SIGTERM)
    # Which of them came first is up to the system.
    assert run.code in SIGNALS.values(), run.stderr
    assert run.stdout == ""


@pytest.mark.parametrize(
    ("buffering", "number"),
    [("", signal.SIGTERM), ("1", signal.SIGINT)],
    ids=["buffered", "unbuffered"],
)
def test_a_signal_does_not_wait_for_a_target_that_reads_no_more(  # noqa: PLR0913, PLR0917
    sandbox: Sandbox,
    config: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    buffering: str,
    number: signal.Signals,
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", buffering)
    fill(sandbox, leads=2000)
    load = {**config, "start_date": SINCE, "end_date": CLOCK, "page_size": 10}
    process = TapProcess(tmp_path, load, catalog=catalog("leads"))
    wait_for_a_full_pipe(process)
    torn = process.end(number)

    *_, last = torn.stdout.split("\n")
    assert not last or last.startswith('{"type":"RECORD"')
    run = torn.without_torn_line()
    assert_ended_cleanly(run, number)
    assert_states_are_true(run, sandbox)
    assert run.records("leads")


# Before the run


@each_signal
def test_a_signal_during_the_imports_is_told_in_a_line(
    number: signal.Signals,
) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.importing"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "imports\n"
            process.send_signal(number)
            stdout, stderr = process.communicate(timeout=SOON)
        finally:
            process.kill()
    assert process.returncode == SIGNALS[number]
    assert stdout == ""
    assert stderr == f"Error: {number.name} before the run\n"


@each_entry
def test_a_closed_stdout_is_told_in_a_line(
    tmp_path: Path, config: dict[str, Any], arguments: list[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    tap = [sys.executable, "-m", "tap_leadintent", f"--config={path}", *arguments]
    done = subprocess.run(  # noqa: S603 - our own module
        ["/bin/sh", "-c", 'exec "$@" >&-', "sh", *tap],
        stderr=subprocess.PIPE,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert done.returncode == 1
    line = "Error: standard output is closed; the tap writes its messages there\n"
    assert done.stderr == line


@pytest.mark.parametrize(
    "arguments",
    [["--discover"], ["--test"], ["--catalog=absent.json"]],
    ids=["discovery", "test", "no catalog"],
)
def test_files_are_closed_before_an_error_ends_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "default::ResourceWarning")
    state = tmp_path / "state.json"
    state.write_text('{"bookmarks": {}}', encoding="utf-8")
    config = {**PATIENT, "base_url": "x"}
    process = TapProcess(tmp_path, config, "--state", str(state), *arguments)
    run = process.finish()
    assert run.failed()
    assert "ResourceWarning" not in run.stderr
