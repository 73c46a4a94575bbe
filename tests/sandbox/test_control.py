"""The control routes, the log, and records put in by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tests.support.asking import NOW, page, post, read

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

LATE = "2026-07-01T00:00:00Z"
FORWARD = "the clock only moves forward, by ten years at once at most"


def test_log(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads")["cursor"]["next"]
    page(sandbox, "leads", after)
    page(sandbox, "leads", page(sandbox, "leads", after)["cursor"]["next"])
    post(sandbox, "observations", {"bad": 1})
    log = sandbox.requests()
    assert [entry["number"] for entry in log] == [1, 2, 3, 4, 5]
    assert [entry["status"] for entry in log] == [200, 200, 200, 200, 400]
    assert [entry["after"] for entry in log] == [False, True, True, True, False]
    assert [entry["page"] for entry in log] == [1, 2, 2, 3, None]
    assert [entry["records"] for entry in log] == [100, 100, 100, 30, None]
    assert log[0]["stream"] == "leads"
    assert log[0]["path"] == ENDPOINTS["leads"].path
    assert log[1]["body"] == {"cursor": {"limit": 100, "after": after}}
    assert log[4]["body"] == {"bad": 1}
    times = [entry["time"] for entry in log]
    assert times == sorted(times)
    sandbox.clear_requests()
    assert sandbox.requests() == []
    page(sandbox, "leads")
    assert [entry["number"] for entry in sandbox.requests()] == [1]


def test_configure_starts_anew(sandbox: Sandbox) -> None:
    page(sandbox, "leads")
    sandbox.faults({"kind": "html"})
    sandbox.advance(1)
    sandbox.configure(sizes={"leads": 3}, clock="2020-02-29T12:00:00Z")
    assert sandbox.requests() == []
    assert sandbox.now() == "2020-02-29T12:00:00Z"
    assert len(page(sandbox, "leads")["data"]) == 3
    sandbox.configure()
    assert len(sandbox.records("leads")) == 230


@pytest.mark.parametrize(
    "options",
    [
        {"unknown": 1},
        {"sizes": {"unknown": 1}},
        {"sizes": {"leads": -1}},
        {"sizes": {"leads": 1_000_001}},
        {"sizes": 5},
        {"seed": "x"},
        {"clock": "yesterday"},
        {"since": NOW},
        {"history": "odd"},
        {"latency_seconds": -1},
        {"range_end": "open"},
        {"cursor_mode": "odd"},
        {"order": "odd"},
        {"rate_limit": {"requests_per_second": 0}},
    ],
    ids=repr,
)
def test_wrong_options(sandbox: Sandbox, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="POST configure"):
        sandbox.configure(**options)


@pytest.mark.parametrize(
    ("route", "body"),
    [
        ("clock", {}),
        ("clock", {"now": "2027-01-01T00:00:00Z", "advance_seconds": 1}),
        ("clock", {"now": "soon"}),
        ("faults", {"faults": [{"kind": "unknown"}]}),
        ("faults", {"faults": [{"kind": "html", "unknown": 1}]}),
        ("faults", {"faults": [{"kind": "html", "stream": "unknown"}]}),
        ("faults", {"faults": [{"kind": "html", "path": "/unknown"}]}),
        ("faults", {"faults": [{"kind": "redirect"}]}),
        ("faults", {"rules": []}),
        ("records", {"stream": "unknown", "records": []}),
        ("records", {"stream": "leads", "records": [], "activity_at": LATE}),
        ("records", {"stream": "leads", "records": [1], "found_at": "soon"}),
        ("configure", []),
    ],
    ids=repr,
)
def test_wrong_control(sandbox: Sandbox, route: str, body: Any) -> None:
    response = requests.post(f"{sandbox.url}/_sandbox/{route}", json=body, timeout=30)
    assert response.status_code == 400
    assert response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("move", "told"),
    [
        ('"now": "9999-12-31T23:59:59-23:59"', FORWARD),
        ('"now": "0001-01-01T00:00:00+23:59"', FORWARD),
        ('"advance_seconds": 1e300', FORWARD),
        ('"advance_seconds": 1.7e308', FORWARD),
        ('"advance_seconds": -1.7e308', FORWARD),
        ('"advance_seconds": 1e999', "Number out of range"),
        ('"advance_seconds": NaN', "JSON is malformed"),
        ('"advance_seconds": "1"', "Expected `float | null`"),
    ],
)
def test_the_clock_is_not_moved_far(sandbox: Sandbox, move: str, told: str) -> None:
    url = f"{sandbox.url}/_sandbox/clock"
    response = requests.post(url, data=f"{{{move}}}", timeout=30)
    assert response.status_code == 400
    assert response.json()["error"]["message"].startswith(told)
    assert sandbox.now() == NOW


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("origin", ["https://example.com", "null", ""])
def test_a_web_page_is_refused(sandbox: Sandbox, method: str, origin: str) -> None:
    response = requests.request(
        method,
        f"{sandbox.url}/_sandbox/clock",
        data='{"advance_seconds": 1}',
        headers={"Origin": origin},
        timeout=30,
    )
    assert response.status_code == 403
    told = "web pages may not steer the sandbox; send no Origin header"
    assert response.json()["error"]["message"] == told
    assert sandbox.now() == NOW


def test_unknown_control(sandbox: Sandbox) -> None:
    assert requests.get(f"{sandbox.url}/_sandbox/odd", timeout=30).status_code == 404


def test_insert_and_remove(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"leads": 0})
    lead = {"id": "x", "signal": {"observed_at": "2026-03-01T00:00:00Z"}}
    assert sandbox.insert("leads", lead, found_at="2026-04-01T00:00:00Z") == ["x"]
    assert read(sandbox, "leads") == [lead]
    assert sandbox.times("leads") == {
        "x": {"found_at": "2026-04-01T00:00:00Z", "observed_at": "2026-03-01T00:00:00Z"}
    }
    day = {"start_time": "2026-03-01T00:00:00Z", "end_time": "2026-03-02T00:00:00Z"}
    assert read(sandbox, "leads", latest_signal=day) == [lead]
    assert read(sandbox, "leads", date_found=day) == []
    assert sandbox.remove("leads", "x", "y") == ["x"]
    assert read(sandbox, "leads") == []


def test_replace(sandbox: Sandbox) -> None:
    known = sandbox.records("leads")[0]
    found = sandbox.times("leads")[known["id"]]["found_at"]
    changed = {**known, "title": "Changed"}
    sandbox.insert("leads", changed, observed_at="2026-05-31T00:00:00Z")
    assert sandbox.records("leads")[0] == changed
    assert sandbox.times("leads")[known["id"]] == {
        "found_at": found,
        "observed_at": "2026-05-31T00:00:00Z",
    }
    sandbox.advance(86400 * 400)
    assert changed in sandbox.records("leads"), "it no longer moves by itself"


def test_insert_for_later(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"observations": 0})
    sandbox.insert("observations", {"id": "x"}, observed_at=LATE)
    assert sandbox.records("observations") == []
    sandbox.set_clock(LATE)
    assert sandbox.records("observations") == [{"id": "x"}]


def test_insert_activity(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"monitored_leads": 0})
    sandbox.insert("monitored_leads", {"id": "x"}, activity_at=LATE)
    sandbox.insert("monitored_leads", {"id": "y", "latest_activity_at": LATE})
    sandbox.insert("monitored_leads", {"id": "z", "latest_activity_at": "odd"})
    day = {"start_time": LATE, "end_time": LATE}
    found = read(sandbox, "monitored_leads", latest_activity=day)
    assert [record["id"] for record in found] == ["y", "x"]


def test_odd_records(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"observations": 0})
    odd = [{"id": 7, "text": "\0 \ud800"}, {"name": "no id"}, [1], "text", None]
    names = sandbox.insert("observations", *odd)
    assert names[0] == "7"
    assert len(set(names)) == len(odd)
    served = json.loads(post(sandbox, "observations").text)["data"]
    assert all(record in served for record in odd)
    assert post(sandbox, "observations", {"statuses": ["a"]}).json()["data"] == []


def test_texts_are_served_byte_for_byte(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"observations": 0})
    texts = ['{"id": "x",  "id": 1e400}', r'{"id": "y", "text": "\u00e9 é \ud800"}']
    assert sandbox.insert("observations", texts=texts) == ["Infinity", "y"]
    assert all(text in post(sandbox, "observations").text for text in texts)
    url = f"{sandbox.url}/_sandbox/records?stream=observations"
    assert all(text in requests.get(url, timeout=30).text for text in texts)
