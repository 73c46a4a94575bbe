"""Signals while the tap waits for the API, as real processes: it ends soon."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import API_KEY, TIMEOUT
from tests.support.runs import (
    SIGNALS,
    SINCE,
    TapProcess,
    assert_ended_cleanly,
    assert_states_are_true,
    catalog,
    fill,
    poll,
)
from tests.support.servers import listening

if TYPE_CHECKING:
    import signal
    import socket
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox

LEADS = 10_000
PAGE = 10

# Longer than these tests wait for anything.
PATIENT = {"request_timeout_seconds": 1000}
SILENCE = {"kind": "hang", "seconds": 900}

NO_RECORDS = {"data": ["text"], "cursor": {"next": "", "has_more": False}}
"""A page whose envelope is sound, so that only a look at its records tells."""


@pytest.fixture
def load(config: dict[str, Any]) -> dict[str, Any]:
    """Configure a load of all leads since a date."""
    return {**config, "start_date": SINCE, "page_size": PAGE}


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_does_not_wait_for_an_answer(
    sandbox: Sandbox,
    load: dict[str, Any],
    tmp_path: Path,
    number: signal.Signals,
    concurrency: int,
) -> None:
    fill(sandbox, leads=LEADS)
    # The page before fits into the pipe, and leaves its window to be read on.
    sandbox.faults({**SILENCE, "skip": 1})
    load |= {**PATIENT, "window_days": 5, "concurrency": concurrency}
    process = TapProcess(tmp_path, load, catalog=catalog("leads"))

    def all_wait() -> bool:
        statuses = [request["status"] for request in sandbox.requests()]
        return len(statuses) == 1 + concurrency and statuses.count(200) == 1

    poll(all_wait)
    run = process.end(number)

    assert_ended_cleanly(run, number)
    assert_states_are_true(run, sandbox)
    assert len(sandbox.requests()) == 1 + concurrency
    assert "; try " not in run.stderr


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_does_not_wait_for_a_page_that_is_asked_for_again(
    sandbox: Sandbox, load: dict[str, Any], tmp_path: Path, number: signal.Signals
) -> None:
    fill(sandbox, leads=LEADS)
    sandbox.faults({"kind": "body", "body": NO_RECORDS, "times": 1}, SILENCE)
    load |= {**PATIENT, "concurrency": 1}
    process = TapProcess(tmp_path, load, catalog=catalog("leads"))
    poll(lambda: [request["fault"] for request in sandbox.requests()][1:] == ["hang"])
    run = process.end(number)

    assert_ended_cleanly(run, number)
    assert_states_are_true(run, sandbox)
    assert len(sandbox.requests()) == 2
    assert run.stderr.count("; try ") == 1


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_discovery_before_any_answer(
    tmp_path: Path, number: signal.Signals, scheme: str
) -> None:
    asked = Event()

    def say_nothing(connection: socket.socket) -> None:
        while connection.recv(65536):
            asked.set()

    with listening(say_nothing) as (host, port):
        url = f"{scheme}://{host}:{port}"
        config = {"base_url": url, "api_key": API_KEY, "infer_columns": True, **PATIENT}
        process = TapProcess(tmp_path, config, "--discover")
        assert asked.wait(TIMEOUT)
        run = process.end(number)

    assert run.code == SIGNALS[number], run.stderr
    assert run.stdout == ""
    assert "Traceback" not in run.stderr
    assert "; try " not in run.stderr


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_wait_before_another_try(
    sandbox: Sandbox, load: dict[str, Any], tmp_path: Path, number: signal.Signals
) -> None:
    fill(sandbox, leads=LEADS)
    busy = {"kind": "status", "status": 503, "headers": {"Retry-After": "600"}}
    # The two pages before fit into the pipe, whichever windows they are of; three of
    # one window would not, and a target that reads no more gets a torn line.
    sandbox.faults({**busy, "skip": 2})
    process = TapProcess(tmp_path, load, catalog=catalog("leads"))
    poll(lambda: 503 in [request["status"] for request in sandbox.requests()])
    run = process.end(number)

    assert_ended_cleanly(run, number)
    assert_states_are_true(run, sandbox)
