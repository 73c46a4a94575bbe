"""What the API refuses."""

from typing import Any

import pytest
import requests

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tests.support.asking import EVER, HEADERS, page, post

JSON = {"Content-Type": "application/json"}
RANGE = {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00Z"}


def ask(sandbox: Sandbox, **changes: Any) -> requests.Response:
    asked: dict[str, Any] = {"method": "POST", "path": "/v1/signals/leads"}
    asked |= {"data": "{}", "headers": HEADERS, **changes}
    url = sandbox.url + asked.pop("path")
    return requests.request(url=url, timeout=30, **asked)


@pytest.mark.parametrize("stream", ENDPOINTS)
def test_plain_request(sandbox: Sandbox, stream: str) -> None:
    response = post(sandbox, stream)
    assert response.headers["Date"] == "Mon, 01 Jun 2026 00:00:00 GMT"
    assert len(response.json()["data"]) == min(25, ENDPOINTS[stream].size)


@pytest.mark.parametrize(
    ("status", "changes"),
    [
        (200, {"headers": {**HEADERS, "Content-Type": "application/json; charset=a"}}),
        *((405, {"method": method}) for method in ("GET", "PUT", "DELETE")),
        (404, {"path": "/v1/signals/leads/"}),
        (404, {"path": "/v2/signals/leads"}),
        (404, {"path": "/v1/signals/agents/agt_1", "method": "GET"}),
        (401, {"headers": JSON}),
        (401, {"headers": {**JSON, "Authorization": "sandbox-key"}}),
        (401, {"headers": {**JSON, "Authorization": "Bearer other"}}),
        (415, {"headers": {**HEADERS, "Content-Type": "text/plain"}}),
        *((400, {"data": data}) for data in (b"", b"{", b'{"a": "\xff"}', b"{}{}")),
    ],
    ids=repr,
)
def test_request(sandbox: Sandbox, status: int, changes: dict[str, Any]) -> None:
    response = ask(sandbox, **changes)
    assert response.status_code == status
    assert status == 200 or response.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"unknown": 1},
        {"account_ids": []},
        {"latest_activity": RANGE},
        {"date_found": RANGE, "latest_signal": RANGE},
        {"sort": "sideways"},
        *({"signals": value} for value in ("hiring_for_role", [1], None)),
        *({"cursor": {"limit": limit}} for limit in (0, 101, "10", 10.0, True, None)),
        *({"cursor": value} for value in (None, {"before": "x"}, {"after": None})),
        *({"date_found": value} for value in (None, {}, {**RANGE, "zone": "UTC"})),
        *(
            {"date_found": {**RANGE, "start_time": start}}
            for start in (
                1767225600,
                "2026-01-01",
                "2026-01-01T00:00:00",
                "2026-02-30T00:00:00Z",
                "2026-01-01T00:00:00+0100",
                "2026-02-01T00:00:00.001Z",
            )
        ),
    ],
    ids=repr,
)
def test_body(sandbox: Sandbox, body: Any) -> None:
    assert post(sandbox, "leads", body).status_code == 400


@pytest.mark.parametrize(
    "other",
    [
        {"sort": "oldest", "date_found": EVER, "sheet_ids": ["a", "b"]},
        {"date_found": EVER, "sheet_ids": ["a"]},
        {"latest_signal": EVER, "sheet_ids": ["a", "b"]},
        {"date_found": RANGE, "sheet_ids": ["a", "b"]},
    ],
    ids=repr,
)
def test_cursor_of_another_query(sandbox: Sandbox, other: dict[str, Any]) -> None:
    sheet = {"sheet": {"id": "a"}}
    sandbox.insert("leads", {"id": "1", **sheet}, {"id": "2", **sheet})
    same: dict[str, Any] = {"date_found": EVER, "sheet_ids": ["a", "b"]}
    after = page(sandbox, "leads", limit=1, **same)["cursor"]["next"]
    cursor = {"cursor": {"after": after}}
    assert post(sandbox, "leads", {**cursor, **other}).status_code == 400
    assert post(sandbox, "signal_accounts", cursor).status_code == 400
    assert len(page(sandbox, "leads", after, limit=20, **same)["data"]) == 1


def test_cursor_needs_care(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads")["cursor"]["next"]
    assert not after.isascii()
    for changed in (
        after + " ",
        after.replace("%2B", "+"),
        after.replace("é", "e\u0301"),
    ):
        assert changed != after
        body = {"cursor": {"after": changed}}
        assert post(sandbox, "leads", body).status_code == 400


def test_rate_limit(sandbox: Sandbox) -> None:
    sandbox.configure(rate_limit=0.001)
    assert post(sandbox, "leads").status_code == 200
    response = post(sandbox, "leads")
    assert (response.status_code, response.headers["Retry-After"]) == (429, "1")
