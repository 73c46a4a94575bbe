"""Requests to the API of the sandbox, in this process or over HTTP."""

from typing import Any

import requests

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tests.support.helpers import Json

HEADERS = {
    "Authorization": "Bearer sandbox-key",
    "Content-Type": "application/json",
}
EVER = {
    "start_time": "2000-01-01T00:00:00Z",
    "end_time": "2100-01-01T00:00:00Z",
}

NOW = "2026-06-01T00:00:00Z"
"""The time of the sandbox's clock in tests that do not run the tap."""

SIZES = {
    "leads": 230,
    "signal_accounts": 110,
    "monitored_accounts": 60,
    "observations": 120,
    "monitored_leads": 60,
}
"""Small sizes, so that tests that configure the sandbox are fast."""


def everything(sandbox: Sandbox) -> Json:
    """Return all records that the sandbox returns now, by stream."""
    return {stream: sandbox.records(stream) for stream in ENDPOINTS}


def post(
    sandbox: Sandbox,
    stream: str,
    body: Any = None,
) -> requests.Response:
    """Send a request to the endpoint of a stream."""
    return requests.post(
        sandbox.url + ENDPOINTS[stream].path,
        json={} if body is None else body,
        headers=HEADERS,
        timeout=30,
    )


def page(
    sandbox: Sandbox,
    stream: str,
    after: str = "",
    limit: int = 100,
    **body: Any,
) -> Json:
    """Assert that a request succeeds, and return the page."""
    cursor: Json = {"limit": limit}
    if after:
        cursor["after"] = after
    response = post(
        sandbox,
        stream,
        {"cursor": cursor, **body},
    )
    assert response.status_code == 200, response.text
    content: Json = response.json()
    return content


def chain(
    sandbox: Sandbox,
    stream: str,
    **body: Any,
) -> list[list[Any]]:
    """Read a cursor chain, and return the records of each page."""
    pages = []
    after = ""
    more = True
    while more:
        content = page(sandbox, stream, after, **body)
        pages.append(content["data"])
        after = content["cursor"]["next"]
        more = content["cursor"]["has_more"]
        assert bool(after) == more
    return pages


def read(
    sandbox: Sandbox,
    stream: str,
    **body: Any,
) -> list[Any]:
    """Read a cursor chain, and return its records."""
    records: list[Any] = []
    for page_records in chain(sandbox, stream, **body):
        records += page_records
    return records
