"""A run that cannot reach the API, or whose key is refused, ends with one stream."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.faults import status
from tests.support.helpers import API_KEY, RANGES, STREAMS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

HURRIED = "tests.support.hurried"
FIRST, *OTHERS = sorted(STREAMS)
NOT_TRIED = f"; not tried after that: {', '.join(OTHERS)}"


@pytest.fixture
def unserved() -> Iterator[str]:
    """An address that refuses connections, and that nobody else takes meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


def test_an_api_that_is_down_is_given_up_once(
    tap: Callable[..., Run], unserved: str
) -> None:
    down = {"base_url": unserved, "api_key": API_KEY, "max_retries": 4}
    run = tap(down, module=HURRIED)
    line = run.failed()
    assert line.startswith(
        f"1 of {len(STREAMS)} streams failed: {FIRST}: gave up after 5 "
    )
    assert line.endswith(NOT_TRIED)
    assert run.stderr.count("; try ") == 4


def test_a_wrong_key_is_sent_once(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    line = tap({**config, "api_key": "wrong-7c2e"}).failed()
    assert line.startswith(f"1 of {len(STREAMS)} streams failed: {FIRST}: HTTP 401")
    assert line.endswith(NOT_TRIED)
    assert len(sandbox.requests()) == 1


def test_discovery_is_given_up_once(tap: Callable[..., Run], unserved: str) -> None:
    down = {"base_url": unserved, "api_key": API_KEY, "max_retries": 2}
    run = tap({**down, "infer_columns": True}, "--discover", module=HURRIED)
    run.failed()
    assert run.stderr.count("; try ") == 2
    assert run.stdout == ""


def test_a_key_that_is_refused_midway_costs_one_stream(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({**status(401), "stream": "leads"})
    run = tap(config)
    assert run.failed().startswith(
        f"1 of {len(STREAMS)} streams failed: leads: HTTP 401"
    )
    assert "not tried" not in run.stderr
    for stream in STREAMS:
        assert len(run.records(stream)) == (0 if stream == "leads" else 3)


def test_what_was_covered_before_stays_covered(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    config["start_date"] = "2025-05-01"
    before = tap(config).succeeded()
    sandbox.faults(status(401))
    run = tap(config, state=before.state)
    run.failed()
    for stream in RANGES:
        kept = before.state["bookmarks"][stream]
        assert run.state["bookmarks"][stream] == kept
