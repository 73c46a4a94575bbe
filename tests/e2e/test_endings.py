"""A process ends soon after a signal, whatever it is doing; and says why it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import contextmanager
from threading import Event
from typing import TYPE_CHECKING, Any

import psutil  # type: ignore[import-untyped]
import pytest

from tests.support.helpers import API_KEY, TIMEOUT, only
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
from tests.support.servers import listening, read_request, response, unanswered

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox

    Begun = Callable[[TapProcess], bool]

# Longer than these tests wait for anything.
PATIENT = {"api_key": API_KEY, "request_timeout_seconds": 1000, "start_date": SINCE}

NOTHING: Any = {"bookmarks": {"leads": {"coverage": []}}}
"""The state of a run that has read nothing."""


def start(folder: Path, url: str, *arguments: str, **options: Any) -> TapProcess:
    """Start a sync, or what else the arguments say."""
    config = {**PATIENT, "base_url": url, "infer_columns": "--discover" in arguments}
    if not arguments:
        options["catalog"] = only("leads")
    return TapProcess(folder, config, *arguments, **options)


# What a run may wait for: a URL, and how to tell that it waits


@contextmanager
def a_connection() -> Iterator[tuple[str, Begun]]:
    """Accept no more connections, and refuse none."""

    def has_begun(process: TapProcess) -> bool:
        connections = psutil.Process(process.process.pid).net_connections()
        return psutil.CONN_SYN_SENT in [each.status for each in connections]

    with unanswered() as host:
        yield f"http://{host}", has_begun


def silent(scheme: str) -> Callable[[], AbstractContextManager[tuple[str, Begun]]]:
    @contextmanager
    def serve() -> Iterator[tuple[str, Begun]]:
        asked = Event()

        def say_nothing(connection: socket.socket) -> None:
            while connection.recv(65536):
                asked.set()

        with listening(say_nothing) as (host, port):
            yield f"{scheme}://{host}:{port}", lambda _: asked.is_set()

    return serve


@contextmanager
def an_address() -> Iterator[tuple[str, Begun]]:
    """See `tests.support.stuck`."""
    yield "http://localhost:9", lambda run: "looks up an address" in run.stderr


WAITS = {
    "an address": an_address,
    "a connection": a_connection,
    "a handshake": silent("https"),
    "an answer": silent("http"),
}


@pytest.mark.parametrize(
    ("wait", "arguments", "number"),
    [
        ("an address", [], signal.SIGINT),
        ("a connection", ["--discover"], signal.SIGTERM),
        ("a handshake", [], signal.SIGTERM),
        ("an answer", ["--discover"], signal.SIGINT),
    ],
)
def test_a_signal_does_not_wait(
    tmp_path: Path, wait: str, arguments: list[str], number: signal.Signals
) -> None:
    module = "tests.support.stuck" if wait == "an address" else "tap_leadintent"
    with WAITS[wait]() as (url, has_begun):
        process = start(tmp_path, url, *arguments, module=module)
        poll(lambda: has_begun(process))
        run = process.end(number)

    assert run.code == SIGNALS[number], run.stderr
    assert "Traceback" not in run.stderr
    assert "; try " not in run.stderr
    assert last_state(run) == (None if arguments else NOTHING)


def test_a_run_that_failed_does_not_wait_for_other_answers(tmp_path: Path) -> None:
    others_wait = Event()

    def refuse_the_oldest(connection: socket.socket) -> None:
        body = json.loads(read_request(connection).partition(b"\r\n\r\n")[2])
        if body["date_found"]["start_time"] <= SINCE:
            assert others_wait.wait(TIMEOUT)
            connection.sendall(response(b"", status="403 Forbidden"))
        else:
            others_wait.set()
            connection.recv(1)

    with listening(refuse_the_oldest) as (host, port):
        run = start(tmp_path, f"http://{host}:{port}").finish()
    assert "leads: HTTP 403" in run.failed()


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_does_not_wait_for_a_target_that_reads_no_more(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path, number: signal.Signals
) -> None:
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


def test_a_second_signal_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOOKS", "1000")
    url, module = "http://localhost:9", "tests.support.stuck"
    process = start(tmp_path, url, "--discover", module=module)
    poll(lambda: "looks up an address" in process.stderr)
    process.process.send_signal(signal.SIGINT)
    # Which of them comes first is up to the system.
    assert process.end(signal.SIGTERM).code in SIGNALS.values()


# Before the run


def test_a_signal_during_the_imports_is_told_in_a_line() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.importing"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == "imports\n"
            process.send_signal(signal.SIGTERM)
            stdout, stderr = process.communicate(timeout=SOON)
        finally:
            process.kill()
    assert process.returncode == 143
    assert stdout == ""
    assert stderr == "Error: SIGTERM before the run\n"


def test_a_closed_stdout_is_told_in_a_line() -> None:
    done = subprocess.run(  # noqa: S602 - our own module
        f"exec {sys.executable} -m tap_leadintent >&-",
        shell=True,
        stderr=subprocess.PIPE,
        check=False,
        encoding="utf-8",
        timeout=TIMEOUT,
    )
    assert done.returncode == 1
    line = "Error: standard output is closed; the tap writes its messages there\n"
    assert done.stderr == line
