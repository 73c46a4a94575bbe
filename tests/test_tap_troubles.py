"""What the tap makes of a server that sends it elsewhere, or talks too much."""

from collections.abc import Callable
from typing import Any

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, Run, only


def test_a_redirect_is_not_followed(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    location = {"Location": f"{sandbox.url}/v1/monitor/custom-signals"}
    sandbox.faults({"kind": "status", "status": 307, "headers": location})
    line = tap(config, catalog=only("signal_agents")).failed()
    assert "signal_agents: HTTP 307 " in line
    assert {request["stream"] for request in sandbox.requests()} == {"signal_agents"}


def test_what_a_server_says_is_masked_and_bounded(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    said = (
        f'{{"error":"no sheet","token":"{API_KEY.encode().hex()}"}}' + "x\n" * 100_000
    )
    sandbox.faults({"kind": "status", "status": 422, "body": said})
    run = tap(config, catalog=only("leads"))
    assert '{"error":"no sheet","token":"…"}' in run.failed()
    assert API_KEY.encode().hex() not in run.stderr
    assert len(run.failed()) < 1000
