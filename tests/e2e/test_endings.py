"""A process ends soon after a signal, whatever it is doing."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Event, Timer

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, TIMEOUT, Json, only
from tests.support.runs import (
    CLOCK,
    SINCE,
    TapProcess,
    assert_ended_cleanly,
    assert_states_are_true,
    fill,
    poll,
    wait_for_a_full_pipe,
)
from tests.support.servers import listening, read_request, response, saying_nothing

# Far longer than these tests wait for anything, which is `TIMEOUT`.
PATIENT = {
    "api_key": API_KEY,
    "request_timeout_seconds": 1000,
    "start_date": SINCE,
}
LEADS = only("leads")


def test_a_signal_does_not_wait_for_a_response(tmp_path: Path) -> None:
    asked = Event()
    with listening(saying_nothing(asked)) as (host, port):
        config = {**PATIENT, "base_url": f"http://{host}:{port}"}
        process = TapProcess(tmp_path, config, catalog=LEADS)
        poll(asked.is_set)
        run = process.end(signal.SIGTERM)
    assert_ended_cleanly(run, signal.SIGTERM)
    text = "continues from the last state that the loader has confirmed"
    assert f"Stopped by SIGTERM; the next run {text}" in run.stderr
    (about,) = run.state["bookmarks"]["leads"]["coverage"]
    assert about.keys() == {"source", "filters"}, "nothing is covered"


def test_a_page_is_written_while_the_next_one_is_awaited(tmp_path: Path) -> None:
    page = {
        "data": [{"id": "1"}],
        "cursor": {"next": "2", "has_more": True},
    }

    def respond_once(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(response(json.dumps(page).encode()))
        saying_nothing(Event())(connection)

    with listening(respond_once) as (host, port):
        config = {**PATIENT, "base_url": f"http://{host}:{port}"}
        process = TapProcess(tmp_path, config, catalog=only("signal_agents"))
        hangs = Timer(TIMEOUT, process.process.kill)
        hangs.start()
        process.read_until("RECORD", 1)
        hangs.cancel()
        process.end(signal.SIGTERM)


_HANGING_LOOK_UP = """\
import ctypes, pathlib, socket

def hang(*_, **__):
    pathlib.Path(__file__).with_name("asked").touch()
    # Like a look-up, it is not interrupted by a signal.
    lock, mutex = ctypes.CDLL(None).pthread_mutex_lock, ctypes.create_string_buffer(64)
    lock(mutex)
    lock(mutex)

socket.getaddrinfo = hang
"""


def test_a_signal_does_not_wait_for_a_name_lookup(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "sitecustomize.py").write_text(_HANGING_LOOK_UP, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    config = {**PATIENT, "base_url": "http://localhost:9"}
    process = TapProcess(tmp_path, config, "--test")
    poll((tmp_path / "asked").exists)
    assert process.end(signal.SIGINT).code == 128 + signal.SIGINT


def test_a_failed_run_does_not_wait_for_other_responses(tmp_path: Path) -> None:
    has_answered = Event()
    others_wait = Event()
    more = {
        "data": [{"id": "a"}],
        "cursor": {"next": "b", "has_more": True},
    }

    def refuse_the_oldest(connection: socket.socket) -> None:
        body = json.loads(read_request(connection).partition(b"\r\n\r\n")[2])
        is_oldest = body["date_found"]["start_time"] <= SINCE
        # Until a page has come, one request is sent at a time, of any window.
        if not is_oldest and has_answered.is_set():
            others_wait.set()
            connection.recv(1)
        elif "after" not in body["cursor"]:
            has_answered.set()
            connection.sendall(response(json.dumps(more).encode()))
        else:
            assert others_wait.wait(TIMEOUT)
            connection.sendall(response(b"", status="401 Unauthorized"))

    with listening(refuse_the_oldest) as (host, port):
        config = {**PATIENT, "base_url": f"http://{host}:{port}"}
        run = TapProcess(tmp_path, config, catalog=LEADS).finish()
    assert "(page 2: HTTP 401" in run.failed()


def test_a_signal_does_not_wait_for_a_target_that_stopped_reading(
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
) -> None:
    fill(sandbox, leads=2000)
    load = {
        **config,
        "end_date": CLOCK,
        "page_size": 10,
    }
    process = TapProcess(tmp_path, load, catalog=LEADS)
    wait_for_a_full_pipe(process)
    torn = process.end(signal.SIGTERM)

    *_, last = torn.stdout.split("\n")
    assert not last or last.startswith('{"type":"RECORD"')
    run = torn.without_torn_line()
    assert_ended_cleanly(run, signal.SIGTERM)
    assert_states_are_true(run, sandbox)
    assert run.records("leads")


def test_a_target_that_stops_reading(config: Json, tmp_path: Path) -> None:
    process = TapProcess(tmp_path, config)
    process.read_until("STATE", 1)
    run = process.finish(reads_on=False)
    assert run.failed() == "the target stopped reading; its own log says why"
    assert "BrokenPipe" not in run.stderr


@pytest.mark.parametrize("option", ["--version", "--discover"])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_an_unprintable_error_ends_in_one_line(option: str) -> None:
    # Whether a buffer is in between is not the same everywhere.
    unbuffered = {"PYTHONUNBUFFERED": "1" if option == "--version" else ""}
    done = subprocess.run(  # noqa: S602 - fixed commands
        f"exec {sys.executable} -m tap_leadintent {option} >/dev/full",
        shell=True,
        env={**os.environ, **unbuffered},
        check=False,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert done.returncode == 1
    # Some versions of the SDK warn of the version of Python before.
    *_, line = done.stderr.splitlines()
    assert "Traceback" not in done.stderr
    assert line.endswith("output cannot be written: No space left on device")
