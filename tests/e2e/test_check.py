"""`--test`: a line a stream, in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.support.helpers import API_KEY, STREAMS, only

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run


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
    assert run.stdout == ""
    assert len(sandbox.requests()) == len(STREAMS)
    assert said(run) == [f"INFO {stream}: ok" for stream in sorted(STREAMS)]


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
    assert "; leads: HTTP 403 " in last
    assert "; observations: HTTP 403 " in last
    assert {request["stream"] for request in sandbox.requests()} == {*tested}


def test_schemas_alone_ask_for_nothing(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    run = tap(config, "--test=schema").succeeded()
    assert {message["stream"] for message in run.messages} == set(STREAMS)
    assert {message["type"] for message in run.messages} == {"SCHEMA"}
    assert sandbox.requests() == []
