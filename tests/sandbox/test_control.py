"""The control routes, the log, and records put in by hand."""

from typing import Any

import pytest
import requests

from tap_leadintent.sandbox import Sandbox
from tests.support.asking import NOW, page, post, read

LATE = "2026-06-01T01:00:00Z"


def test_log(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads")["cursor"]["next"]
    page(sandbox, "leads", after)
    post(sandbox, "observations", {"bad": 1})
    log = sandbox.requests()
    assert [entry["status"] for entry in log] == [200, 200, 400]
    assert [entry["page"] for entry in log] == [1, 2, None]
    assert [entry["stream"] for entry in log] == ["leads", "leads", "observations"]
    assert log[1]["body"] == {"cursor": {"limit": 100, "after": after}}
    sandbox.clear_requests()
    assert sandbox.requests() == []


@pytest.mark.parametrize(
    ("route", "body", "told"),
    [
        ("configure", {"unknown": 1}, "unknown field `unknown`"),
        ("configure", {"sizes": {"leads": 1_000_001}}, "<= 1000000"),
        ("configure", {"since": NOW}, "since must be before clock"),
        ("clock", {}, "advance_seconds"),
        ("clock", {"advance_seconds": -1}, ">= 0"),
        ("faults", {"faults": [{"kind": "status", "stream": "unknown"}]}, "not one of"),
        ("faults", {"faults": [{"kind": "status", "unknown": 1}]}, "unknown field"),
        ("records", {"stream": "unknown"}, "unknown stream"),
        ("records", {"stream": "leads", "activity_at": LATE}, "have no activity_at"),
    ],
    ids=repr,
)
def test_wrong_control(sandbox: Sandbox, route: str, body: Any, told: str) -> None:
    response = requests.post(f"{sandbox.url}/_sandbox/{route}", json=body, timeout=30)
    assert response.status_code == 400
    assert told in response.json()["error"]["message"]
    assert sandbox.now() == NOW


def test_a_web_page_is_refused(sandbox: Sandbox) -> None:
    url, move = f"{sandbox.url}/_sandbox/clock", '{"advance_seconds": 1}'
    told = {"Origin": "https://example.com"}
    assert requests.post(url, data=move, headers=told, timeout=30).status_code == 403
    assert sandbox.now() == NOW


def test_insert_and_remove(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"leads": 0})
    lead = {"id": "x", "signal": {"observed_at": "2026-03-01T00:00:00Z"}}
    times = {"found_at": "2026-04-01T00:00:00Z", "observed_at": "2026-03-01T00:00:00Z"}
    assert sandbox.insert("leads", lead, **times) == ["x"]
    assert read(sandbox, "leads") == [lead]
    assert sandbox.times("leads") == {"x": times}
    sandbox.insert("leads", {"id": "x"}, observed_at=NOW)
    assert read(sandbox, "leads") == [{"id": "x"}]
    times = {"found_at": "2026-04-01T00:00:00Z", "observed_at": NOW}
    assert sandbox.times("leads") == {"x": times}
    sandbox.insert("leads", {"id": "y"}, found_at=LATE)
    assert sandbox.remove("leads", "x", "y") == ["x"]
    unnamed = sandbox.insert("leads", {"n": 1}, {"n": 2})
    assert sandbox.remove("leads", *unnamed) == unnamed
    sandbox.insert("leads", {"id": 5}, {"id": 5, "n": 1})
    assert read(sandbox, "leads") == [{"id": 5, "n": 1}]
    assert sandbox.remove("leads", "5") == ["5"]
    assert read(sandbox, "leads") == []
    sandbox.advance(3600)
    assert {"id": "y"} in read(sandbox, "leads")
    assert sandbox.times("leads")["y"] == {"found_at": LATE, "observed_at": LATE}
