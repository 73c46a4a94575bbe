"""What the API refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import requests

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tests.support.asking import EVER, HEADERS, page, post

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

LEADS = "/v1/signals/leads"


def refused(response: requests.Response, status: int) -> None:
    assert response.status_code == status, response.text
    assert response.headers["Content-Type"] == "application/json"
    error = response.json()["error"]
    assert error.keys() == {"code", "message"}
    assert error["message"]


@pytest.mark.parametrize("stream", ENDPOINTS)
def test_plain_request(sandbox: Sandbox, stream: str) -> None:
    response = post(sandbox, stream)
    assert response.status_code == 200
    assert response.headers["Date"] == "Mon, 01 Jun 2026 00:00:00 GMT"
    content = response.json()
    assert content.keys() == {"data", "cursor"}
    assert content["cursor"].keys() == {"next", "has_more"}
    assert len(content["data"]) == min(25, ENDPOINTS[stream].size)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_method(sandbox: Sandbox, method: str) -> None:
    url = sandbox.url + LEADS
    response = requests.request(method, url, headers=HEADERS, timeout=30)
    refused(response, 405)
    assert response.headers["Allow"] == "POST"


@pytest.mark.parametrize(
    "path", ["/v1/signals/leads/", "/v2/signals/leads", "/v1/signals/agents/agt_1"]
)
def test_path(sandbox: Sandbox, path: str) -> None:
    url = sandbox.url + path
    refused(requests.post(url, json={}, headers=HEADERS, timeout=30), 404)


@pytest.mark.parametrize(
    "key", [None, "", "sandbox-key", "Bearer", "Bearer other", "bearer sandbox-key"]
)
def test_key(sandbox: Sandbox, key: str | None) -> None:
    headers = {} if key is None else {"Authorization": key}
    refused(post(sandbox, "leads", headers=headers), 401)


def test_configured_key(sandbox: Sandbox) -> None:
    sandbox.configure(api_key="another")
    refused(post(sandbox, "leads"), 401)
    headers = {"Authorization": "Bearer another"}
    assert post(sandbox, "leads", headers=headers).status_code == 200


def test_content_type(sandbox: Sandbox) -> None:
    refused(
        post(sandbox, "leads", headers={**HEADERS, "Content-Type": "text/plain"}), 415
    )
    headers = {**HEADERS, "Content-Type": "application/json; charset=utf-8"}
    assert post(sandbox, "leads", headers=headers).status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b'{"a": "\xff"}', b"{}{}"])
def test_no_json(sandbox: Sandbox, body: bytes) -> None:
    url = sandbox.url + LEADS
    refused(requests.post(url, data=body, headers=HEADERS, timeout=30), 400)


RANGE = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00Z"}


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"unknown": 1},
        {"account_ids": []},
        {"signals": "hiring_for_role"},
        {"signals": [1]},
        {"signals": None},
        {"sort": "sideways"},
        {"cursor": None},
        {"cursor": {"limit": 0}},
        {"cursor": {"limit": 101}},
        {"cursor": {"limit": "10"}},
        {"cursor": {"limit": 10.0}},
        {"cursor": {"limit": True}},
        {"cursor": {"limit": None}},
        {"cursor": {"limit": 10, "before": "x"}},
        {"cursor": {"after": None}},
        {"cursor": {"after": "nonsense"}},
        {"date_found": RANGE, "latest_signal": RANGE},
        {"date_found": None},
        {"date_found": {"start_time": RANGE["start_time"]}},
        {"date_found": {**RANGE, "zone": "UTC"}},
        {"date_found": {**RANGE, "start_time": 1767225600}},
        {"date_found": {**RANGE, "start_time": "2026-01-01"}},
        {"date_found": {**RANGE, "start_time": "2026-01-01T00:00:00"}},
        {"date_found": {**RANGE, "start_time": "2026-02-30T00:00:00Z"}},
        {"date_found": {**RANGE, "start_time": "2026-01-01T00:00:00+0100"}},
        {"date_found": {**RANGE, "start_time": "2026-02-01T00:00:00.001Z"}},
        {"latest_activity": RANGE},
    ],
    ids=repr,
)
def test_body(sandbox: Sandbox, body: Any) -> None:
    refused(post(sandbox, "leads", body), 400)


@pytest.mark.parametrize(
    "start", ["2026-01-01t00:00:00z", "2026-01-01T01:00:00.123456789+01:00"]
)
def test_other_forms_of_time(sandbox: Sandbox, start: str) -> None:
    body = {"date_found": {**RANGE, "start_time": start}}
    assert post(sandbox, "leads", body).status_code == 200


def test_cursor_with_other_limit(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads", limit=10)["cursor"]["next"]
    assert len(page(sandbox, "leads", after, limit=20)["data"]) == 20


@pytest.mark.parametrize(
    "other",
    [
        {"sort": "oldest", "date_found": EVER, "sheet_ids": ["a", "b"]},
        {"date_found": EVER, "sheet_ids": ["a"]},
        {"latest_signal": EVER, "sheet_ids": ["a", "b"]},
        {"date_found": RANGE, "sheet_ids": ["a", "b"]},
        {"sheet_ids": ["a", "b"]},
    ],
    ids=repr,
)
def test_cursor_of_another_query(sandbox: Sandbox, other: dict[str, Any]) -> None:
    sandbox.configure(sizes={"leads": 0})
    same: dict[str, Any] = {"date_found": EVER, "sheet_ids": ["a", "b"]}
    sheet = {"sheet": {"id": "a"}}
    sandbox.insert("leads", {"id": "1", **sheet}, {"id": "2", **sheet})
    after = page(sandbox, "leads", limit=1, **same)["cursor"]["next"]
    refused(post(sandbox, "leads", {"cursor": {"after": after}, **other}), 400)
    assert len(page(sandbox, "leads", after, **same)["data"]) == 1


def test_cursor_of_another_endpoint(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads")["cursor"]["next"]
    refused(post(sandbox, "signal_accounts", {"cursor": {"after": after}}), 400)


def test_cursor_needs_care(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads")["cursor"]["next"]
    assert not after.isascii()
    assert set("+/=%") <= set(after)
    changes = (
        after[:-1],
        after + " ",
        after.strip("="),
        after.replace("%2B", "+"),
        after.replace("é", "e\u0301"),
        after.replace("W", "X", 1),
    )
    for changed in changes:
        assert changed != after
        refused(post(sandbox, "leads", {"cursor": {"after": changed}}), 400)


def test_rate_limit(sandbox: Sandbox) -> None:
    sandbox.configure(rate_limit=0.001, retry_after=7)
    assert post(sandbox, "leads").status_code == 200
    response = post(sandbox, "leads")
    refused(response, 429)
    assert response.headers["Retry-After"] == "7"
