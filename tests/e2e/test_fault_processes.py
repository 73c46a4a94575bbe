"""Faults as users meet them: real processes, all streams, exit codes, last lines."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest
from singer_sdk.testing import TapTestRunner

from tap_leadintent.errors import StreamError
from tap_leadintent.tap import TapLeadIntent
from tests.support.faults import BEGIN, PASSING, PLANS, status
from tests.support.helpers import API_KEY, STREAMS, final_error, only
from tests.support.runs import TapProcess, last_state, poll

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

HURRIED = "tests.support.hurried"
SIZES = {**dict.fromkeys(STREAMS, 12), "leads": 100}


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    server.configure(api_key=API_KEY, since=BEGIN, sizes=SIZES)
    return server


@pytest.fixture
def config(sandbox: Sandbox) -> dict[str, Any]:
    return {"base_url": sandbox.url, "api_key": API_KEY, "page_size": 10}


# Faults, all streams


@pytest.mark.parametrize("plan", PLANS)
def test_all_faults_that_pass(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], plan: str
) -> None:
    rate = 0.3 / len(PASSING)
    rules = [
        {**rule, "rate": rate, "seed": seed}
        for seed, rule in enumerate(PASSING.values())
    ]
    sandbox.faults(*rules)
    run = tap({**config, **PLANS[plan]}, module=HURRIED).succeeded()
    for stream in STREAMS:
        there = {record["id"] for record in sandbox.records(stream)}
        assert {record["id"] for record in run.records(stream)} == there


# One stream's failure


def test_a_failure_does_not_cost_the_others(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    config |= {"start_date": BEGIN, "max_retries": 1}
    before = tap(config).succeeded()
    sandbox.advance(8)
    sandbox.faults(
        {**status(403, body="not for you"), "stream": "leads"},
        {**status(500, body="out of order"), "stream": "observations"},
    )
    run = tap(config, state=before.state, module=HURRIED)
    line = run.failed()
    assert line.startswith(f"2 of {len(STREAMS)} streams failed: leads: HTTP 403")
    assert "ask for access: not for you; observations: page 1: gave up after 2" in line
    assert "HTTP 500 Internal Server Error: the API failed; if it goes on" in line
    assert line.endswith(": out of order")
    for name in ("leads", "observations"):
        kept = before.state["bookmarks"][name]
        assert run.state["bookmarks"][name] == kept
        assert not run.records(name)
    for name in ("signal_accounts", "monitored_leads"):
        kept = before.state["bookmarks"][name]
        assert run.state["bookmarks"][name] != kept
    for name in ("signal_agents", "monitored_accounts", "custom_signals"):
        assert len(run.records(name)) == len(sandbox.records(name))
    sandbox.faults()
    after = tap(config, state=run.state).succeeded()
    found = {record["id"] for r in (before, after) for record in r.records("leads")}
    assert found == {lead["id"] for lead in sandbox.records("leads")}


def test_a_broken_stream_fails_the_sdks_suite(
    sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({**status(403), "stream": "observations"})
    runner = TapTestRunner(TapLeadIntent, config={**config, "max_retries": 0})
    with pytest.raises(StreamError, match=r"^observations: "):
        runner.sync_all()


# The key


@pytest.mark.parametrize("arguments", [[], ["--test"]], ids=["sync", "test"])
def test_a_traceback_without_the_key(
    tap: Callable[..., Run], config: dict[str, Any], arguments: list[str]
) -> None:
    run = tap(config, *arguments, module="tests.support.exploding")
    assert run.code == 1
    assert "unhandled error occurred while syncing 'leads'" in run.stderr
    assert "'Authorization': 'Bearer ***'" in run.stderr
    if not arguments:
        told = f"1 of {len(STREAMS)} streams failed: leads: ZeroDivisionError: "
        assert final_error(run.stderr).startswith(told)
        assert len(run.records("signal_accounts")) == SIZES["signal_accounts"]


# The end of a run


def test_a_target_that_stops_reading(config: dict[str, Any], tmp_path: Path) -> None:
    process = TapProcess(tmp_path, config)
    process.read_until("STATE", 1)
    run = process.finish(reads_on=False)
    assert run.failed() == "the target stopped reading; its own log says why"
    assert "BrokenPipe" not in run.stderr


@pytest.mark.parametrize("reads_on", [True, False], ids=["reads on", "is gone"])
def test_a_signal_during_a_long_wait(
    config: dict[str, Any], sandbox: Sandbox, tmp_path: Path, *, reads_on: bool
) -> None:
    busy = status(429, headers={"Retry-After": "600"})
    # Its first window is covered, yet not worth a STATE of its own; and what is
    # written until then fits into the pipe.
    sandbox.faults({**busy, "stream": "leads", "skip": 2})
    config |= PLANS["several windows"] | {"concurrency": 1}
    process = TapProcess(tmp_path, config, catalog=only("leads"))
    poll(lambda: "; try 2 of 9 in 600.0 s" in process.stderr)
    process.read_until("RECORD", 10)
    run = process.finish(signal.SIGTERM, reads_on=reads_on)
    assert run.code == 143
    assert "Traceback" not in run.stderr
    assert "BrokenPipe" not in run.stderr
    if reads_on:
        coverage = last_state(run)["bookmarks"]["leads"]["coverage"]
        assert [entry["range"] for entry in coverage] == ["date_found"]
