"""`--test`: a line a stream, in plain words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.helpers import API_KEY, STREAMS, final_error, only

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

TAKEN = "custom_signals"
"""The stream that is tested first."""


def said(run: Run) -> list[str]:
    """Give what the log says, without the warning about the sandbox's clock."""
    lines = [line.split(" | ")[1::2] for line in run.stderr.splitlines()]
    return [
        f"{level.strip()} {text}"
        for level, text in lines
        if not text.startswith("By the server's clock it is ")
    ]


def test_all_is_well(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.configure(api_key=API_KEY, sizes={**dict.fromkeys(STREAMS, 3), "leads": 0})
    run = tap(config, "--test").succeeded()
    empty = ", but there is no record to read"
    assert said(run) == [
        f"INFO {stream}: ok{empty if stream == 'leads' else ''}"
        for stream in sorted(STREAMS)
    ]


def test_each_failure_says_what_to_do_and_costs_no_other(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    """The order is the catalog's."""
    sandbox.faults(
        {"kind": "status", "stream": "leads", "status": 403},
        {"kind": "status", "stream": "observations", "status": 403},
        {"kind": "status", "stream": "signal_agents", "status": 404},
    )
    tested = ("signal_agents", "monitored_leads", "leads", "observations")
    catalog = only(*tested)
    catalog["streams"].sort(
        key=lambda entry: (*tested, *STREAMS).index(entry["tap_stream_id"])
    )
    run = tap(config, "--test", catalog=catalog)
    run.failed()
    agents, monitored, leads, observations, last = said(run)
    assert agents.startswith("ERROR signal_agents: HTTP 404 ")
    assert "check base_url" in agents
    assert monitored == "INFO monitored_leads: ok"
    assert leads.startswith("ERROR leads: HTTP 403 ")
    assert "ask for access" in leads
    assert observations.startswith("ERROR observations: HTTP 403 ")
    assert last.startswith("ERROR 3 of 4 streams failed: signal_agents: HTTP 404 ")
    assert "; leads, observations: HTTP 403 " in last
    assert "Traceback" not in run.stderr


def test_a_wrong_key_is_said_once(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    run = tap({**config, "api_key": "wrong-7c2e-9d41"}, "--test")
    (line,) = said(run)
    assert line == f"ERROR {run.failed()}"
    first, *others = sorted(STREAMS)
    failed = f"ERROR 1 of {len(STREAMS)} streams failed: {first}: HTTP 401 "
    assert line.startswith(failed)
    assert "set api_key to a valid key" in line
    assert f"not tried after that: {', '.join(others)}" in line
    assert len(sandbox.requests()) == 1


def test_what_is_deselected_is_not_tested(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    run = tap(config, "--test", catalog=only("leads")).succeeded()
    assert {request["stream"] for request in sandbox.requests()} == {"leads"}
    assert said(run)[-1] == "INFO leads: ok"


def test_debug_says_more(
    tap: Callable[..., Run], config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TAP_LEADINTENT_LOGLEVEL", "DEBUG")
    run = tap(config, "--test", catalog=only("leads")).succeeded()
    assert "DEBUG leads: Beginning sync of 'leads' in incremental mode" in said(run)


def test_schemas_alone_ask_for_nothing(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    run = tap(config, "--test=schema").succeeded()
    assert {message["stream"] for message in run.messages} == set(STREAMS)
    assert {message["type"] for message in run.messages} == {"SCHEMA"}
    assert sandbox.requests() == []


def test_a_broken_catalog_is_one_line(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    catalog: dict[str, Any] = json.loads('{"streams": 7}')
    run = tap(config, "--test", catalog=catalog)
    assert run.code == 1
    assert final_error(run.stderr).startswith("--catalog: ")
