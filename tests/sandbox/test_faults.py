"""Each fault does what it says; those of the connection are in `tests/e2e`."""

from typing import Any

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.asking import chain, page, post, read


def statuses(sandbox: Sandbox, count: int) -> list[int]:
    return [post(sandbox, "leads").status_code for _ in range(count)]


def test_status_and_first_match(sandbox: Sandbox) -> None:
    headers = {"Retry-After": "7", "Date": "Thu, 01 Jan 1970 00:00:00 GMT"}
    sandbox.faults(
        {"kind": "status", "status": 503, "headers": headers, "times": 1},
        {"kind": "status", "stream": "leads", "body": "busy"},
    )
    response = post(sandbox, "leads")
    assert response.status_code == 503
    assert response.json()["error"]
    assert response.headers["Content-Type"] == "application/json"
    assert {name: response.headers[name] for name in headers} == headers
    assert (post(sandbox, "leads").text, statuses(sandbox, 1)) == ("busy", [500])
    assert post(sandbox, "signal_agents").status_code == 200
    told = [entry["fault"] for entry in sandbox.requests()]
    assert told == ["status", "status", "status", None]
    sandbox.faults()
    assert statuses(sandbox, 1) == [200]


def test_rate_and_skip(sandbox: Sandbox) -> None:
    outcomes = []
    for seed in (1, 1, 2):
        sandbox.faults({"kind": "status", "rate": 0.3, "seed": seed, "skip": 2})
        outcomes.append(statuses(sandbox, 60))
    assert outcomes[0] == outcomes[1] != outcomes[2]
    assert outcomes[0][:2] == [200, 200]
    assert 5 <= outcomes[0].count(500) <= 35


@pytest.mark.parametrize(
    ("where", "struck"),
    [("first", [1]), ("middle", [2]), ("last", [3]), ([2, 3], [2, 3])],
)
def test_pages(sandbox: Sandbox, where: Any, struck: list[int]) -> None:
    cursors = [""]
    for _ in range(2):
        cursors.append(page(sandbox, "leads", cursors[-1])["cursor"]["next"])
    sandbox.faults({"kind": "status", "pages": where})
    hit = []
    for number, after in enumerate(cursors, 1):
        cursor = {"limit": 100, **({"after": after} if after else {})}
        if post(sandbox, "leads", {"cursor": cursor}).status_code == 500:
            hit.append(number)
    assert hit == struck


@pytest.mark.parametrize("where", ["first", "middle", [1, 3]])
def test_empty_page(sandbox: Sandbox, where: Any) -> None:
    expected = read(sandbox, "leads")
    sandbox.faults({"kind": "empty_page", "pages": where, "times": 3})
    got = chain(sandbox, "leads")
    assert [] in got
    assert [record for records in got for record in records] == expected
