"""Asking the sandbox's API, in this process or over real HTTP."""

from typing import Any

import requests

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS

HEADERS = {
    "Authorization": "Bearer sandbox-key",
    "Content-Type": "application/json",
}
EVER = {"start_time": "2000-01-01T00:00:00Z", "end_time": "2100-01-01T00:00:00Z"}


NOW = "2026-06-01T00:00:00Z"
"""Where a sandbox's clock stands that is asked without the tap."""

SIZES = {
    "leads": 230,
    "signal_accounts": 110,
    "monitored_accounts": 60,
    "observations": 120,
    "monitored_leads": 60,
}
"""Small, so that tests which configure a sandbox anew are fast."""


def everything(sandbox: Sandbox) -> dict[str, Any]:
    """Give all records that the sandbox shows now, by stream."""
    return {stream: sandbox.records(stream) for stream in ENDPOINTS}


def post(sandbox: Sandbox, stream: str, body: Any = None) -> requests.Response:
    """Send one request to a stream's endpoint."""
    return requests.post(
        sandbox.url + ENDPOINTS[stream].path,
        json={} if body is None else body,
        headers=HEADERS,
        timeout=30,
    )


def page(
    sandbox: Sandbox, stream: str, after: str = "", limit: int = 100, **body: Any
) -> dict[str, Any]:
    """Read one page, which must be one."""
    cursor = {"limit": limit, "after": after} if after else {"limit": limit}
    response = post(sandbox, stream, {"cursor": cursor, **body})
    assert response.status_code == 200, response.text
    content: dict[str, Any] = response.json()
    return content


def chain(sandbox: Sandbox, stream: str, **body: Any) -> list[list[Any]]:
    """Read all pages and give their records."""
    pages = []
    after, more = "", True
    while more:
        content = page(sandbox, stream, after, **body)
        pages.append(content["data"])
        after, more = content["cursor"]["next"], content["cursor"]["has_more"]
        assert bool(after) == more
    return pages


def read(sandbox: Sandbox, stream: str, **body: Any) -> list[Any]:
    """Read all records."""
    return [record for records in chain(sandbox, stream, **body) for record in records]
