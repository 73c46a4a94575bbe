"""The control routes: log, clock, inserted records, and faults.

`tests/e2e/test_faults.py` breaks the connection.
"""

import itertools
from operator import itemgetter
from typing import Any

import pytest
import requests

from tap_leadintent.sandbox import Sandbox
from tests.support.asking import NOW, chain, page, post, read

LATE = "2026-06-01T01:00:00Z"


def test_the_log_has_each_request(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads")["cursor"]["next"]
    page(sandbox, "leads", after)
    post(sandbox, "observations", {"signals": 1})
    log = sandbox.requests()
    request_of = itemgetter("stream", "page", "status")
    assert list(map(request_of, log)) == [
        ("leads", 1, 200),
        ("leads", 2, 200),
        ("observations", None, 400),
    ]
    assert log[1]["body"] == {"cursor": {"limit": 100, "after": after}}
    sandbox.clear_requests()
    assert sandbox.requests() == []


@pytest.mark.parametrize(
    ("route", "body", "message"),
    [
        ("configure", {"unknown": 1}, "unknown field `unknown`"),
        ("configure", {"sizes": {"leads": 1_000_001}}, "<= 1000000"),
        ("configure", {"since": NOW, "clock": NOW}, "since must be before clock"),
        ("clock", {}, "advance_seconds"),
        ("clock", {"advance_seconds": -1}, ">= 0"),
        ("faults", {"faults": [{"kind": "status", "stream": "unknown"}]}, "not one of"),
        ("faults", {"faults": [{"kind": "status", "unknown": 1}]}, "unknown field"),
        ("records", {"stream": "unknown"}, "unknown stream"),
        ("records", {"stream": "leads", "activity_at": LATE}, "have no activity_at"),
    ],
    ids=repr,
)
def test_wrong_control_requests_are_refused(
    sandbox: Sandbox,
    route: str,
    body: Any,
    message: str,
) -> None:
    response = requests.post(
        f"{sandbox.url}/_sandbox/{route}",
        json=body,
        timeout=30,
    )
    assert response.status_code == 400
    assert message in response.json()["error"]["message"]
    assert sandbox.now() == NOW


def test_a_web_page_is_refused(sandbox: Sandbox) -> None:
    url = f"{sandbox.url}/_sandbox/clock"
    move = '{"advance_seconds": 1}'
    origin = {"Origin": "https://example.com"}
    response = requests.post(
        url,
        data=move,
        headers=origin,
        timeout=30,
    )
    assert response.status_code == 403
    assert sandbox.now() == NOW


def test_records_are_inserted_replaced_and_removed(sandbox: Sandbox) -> None:
    sandbox.configure(
        sizes={"leads": 0},
        clock=NOW,
    )
    lead = {
        "id": "x",
        "signal": {"observed_at": "2026-03-01T00:00:00Z"},
    }
    times = {
        "found_at": "2026-04-01T00:00:00Z",
        "observed_at": "2026-03-01T00:00:00Z",
    }
    assert sandbox.insert("leads", lead, **times) == ["x"]
    assert read(sandbox, "leads") == [lead]
    assert sandbox.times("leads") == {"x": times}
    sandbox.insert(
        "leads",
        {"id": "x"},
        observed_at=NOW,
    )
    assert read(sandbox, "leads") == [{"id": "x"}]
    times = {
        "found_at": "2026-04-01T00:00:00Z",
        "observed_at": NOW,
    }
    assert sandbox.times("leads") == {"x": times}
    sandbox.insert(
        "leads",
        {"id": "y"},
        found_at=LATE,
    )
    assert sandbox.remove("leads", "x", "y") == ["x"]
    unnamed = sandbox.insert(
        "leads",
        {"n": 1},
        {"n": 2},
    )
    assert sandbox.remove("leads", *unnamed) == unnamed
    sandbox.insert(
        "leads",
        {"id": 5},
        {"id": 5, "n": 1},
    )
    assert read(sandbox, "leads") == [{"id": 5, "n": 1}]
    assert sandbox.remove("leads", "5") == ["5"]
    assert read(sandbox, "leads") == []
    sandbox.advance(3600)
    assert {"id": "y"} in read(sandbox, "leads")
    assert sandbox.times("leads")["y"] == {
        "found_at": LATE,
        "observed_at": LATE,
    }


def statuses(sandbox: Sandbox, count: int) -> list[int]:
    return [post(sandbox, "leads").status_code for _ in range(count)]


def test_the_first_fault_that_matches_is_applied(sandbox: Sandbox) -> None:
    headers = {
        "Retry-After": "7",
        "Date": "Thu, 01 Jan 1970 00:00:00 GMT",
    }
    sandbox.faults(
        {
            "kind": "status",
            "status": 503,
            "headers": headers,
            "times": 1,
        },
        {
            "kind": "status",
            "stream": "leads",
            "body": "busy",
        },
    )
    response = post(sandbox, "leads")
    assert response.status_code == 503
    assert response.json()["error"]
    assert response.headers["Content-Type"] == "application/json"
    for name, value in headers.items():
        assert response.headers[name] == value
    assert post(sandbox, "leads").text == "busy"
    assert statuses(sandbox, 1) == [500]
    assert post(sandbox, "signal_agents").status_code == 200
    faults = [entry["fault"] for entry in sandbox.requests()]
    assert faults == ["status", "status", "status", None]
    sandbox.faults()
    assert statuses(sandbox, 1) == [200]


def test_faults_affect_a_share_after_some_requests(sandbox: Sandbox) -> None:
    outcomes = []
    for seed in (1, 1, 2):
        sandbox.faults(
            {
                "kind": "status",
                "rate": 0.3,
                "seed": seed,
                "skip": 2,
            }
        )
        outcomes.append(statuses(sandbox, 60))
    assert outcomes[0] == outcomes[1] != outcomes[2]
    assert outcomes[0][:2] == [200, 200]
    assert 5 <= outcomes[0].count(500) <= 35


@pytest.mark.parametrize(
    ("where", "affected"),
    [
        ("first", [1]),
        ("middle", [2]),
        ("last", [3]),
        ([2, 3], [2, 3]),
    ],
)
def test_faults_affect_some_pages_and_an_empty_page_loses_nothing(
    sandbox: Sandbox,
    where: Any,
    affected: list[int],
) -> None:
    expected = read(sandbox, "leads")
    times = len(affected)
    sandbox.faults(
        {
            "kind": "empty_page",
            "pages": where,
            "times": times,
        }
    )
    pages = chain(sandbox, "leads")
    assert [n for n, records in enumerate(pages, 1) if not records] == affected
    assert list(itertools.chain.from_iterable(pages)) == expected
