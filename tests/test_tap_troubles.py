"""What the tap makes of trouble, against the sandbox."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import (
    API_KEY,
    STREAMS,
    assert_keeps_secret,
    each_reading_entry,
    only,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run


@each_reading_entry
def test_wrong_key(
    tap: Callable[..., Run], config: dict[str, Any], arguments: list[str]
) -> None:
    run = tap({**config, "api_key": "wrong-7c2e"}, *arguments)
    line = run.failed()
    assert "HTTP 401" in line
    assert "set api_key to a valid key" in line
    assert not [message for message in run.stdout.splitlines() if "RECORD" in message]


@each_reading_entry
def test_wrong_base_url(
    tap: Callable[..., Run], config: dict[str, Any], arguments: list[str]
) -> None:
    config["base_url"] += "/elsewhere"
    line = tap(config, *arguments).failed()
    assert "HTTP 404" in line
    assert "check base_url" in line


def test_no_server(tap: Callable[..., Run], config: dict[str, Any]) -> None:
    # Port 9 (discard) is none that a test machine serves.
    down = {"base_url": "http://127.0.0.1:9", "max_retries": 0}
    line = tap({**config, **down}).failed()
    assert any(stream in line for stream in STREAMS)
    assert "127.0.0.1" in line


@pytest.mark.parametrize("status", [302, 307])
def test_a_redirect_is_not_followed(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], status: int
) -> None:
    location = f"{sandbox.url}/v1/monitor/custom-signals"
    sandbox.faults(
        {
            "kind": "redirect",
            "stream": "signal_agents",
            "location": location,
            "status": status,
        }
    )
    catalog = only("signal_agents")
    line = tap(config, catalog=catalog).failed()
    assert "signal_agents" in line
    assert f"HTTP {status}" in line
    assert "check base_url" in line
    assert {request["stream"] for request in sandbox.requests()} == {"signal_agents"}


@pytest.mark.parametrize("status", [400, 401])
def test_a_server_that_repeats_the_key(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], status: int
) -> None:
    sandbox.faults({"kind": "echo_key", "status": status})
    line = tap(config, catalog=only("leads")).failed()
    assert f"leads: HTTP {status}" in line
    assert "cannot serve Bearer ***" in line


def test_a_server_error_is_bounded(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({"kind": "status", "status": 422, "body": "x\n" * 100_000})
    line = tap(config, catalog=only("leads")).failed()
    assert "HTTP 422" in line
    assert len(line) < 1000


@pytest.mark.parametrize("kind", ["html", "empty_body", "truncate", "error_in_200"])
def test_a_page_that_is_none_never_ends_quietly(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], kind: str
) -> None:
    sandbox.faults({"kind": kind, "stream": "leads"})
    catalog = only("leads")
    line = tap({**config, "max_retries": 0}, catalog=catalog).failed()
    assert "leads" in line


def test_a_record_without_its_key(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults({"kind": "missing_id", "stream": "leads"})
    line = tap(config, catalog=only("leads")).failed()
    assert "leads" in line
    assert "a record has no id" in line


@pytest.mark.parametrize("output", [API_KEY, f"Bearer {API_KEY}\n"])
def test_a_leaked_key_would_be_noticed(output: str) -> None:
    with pytest.raises(AssertionError):
        assert_keeps_secret(API_KEY, "clean", output)
