"""Each fault does what it says; those of the connection see tests/e2e/sandbox."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import requests

from tests.support.asking import chain, page, post, read

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox


def pages(sandbox: Sandbox, count: int) -> list[Any]:
    """Read the first pages of 100 leads, whatever they say."""
    contents: list[Any] = []
    after = ""
    for _ in range(count):
        contents.append(page(sandbox, "leads", after))
        after = contents[-1]["cursor"].get("next") or ""
    return contents


def ids(content: Any) -> list[str]:
    return [record["id"] for record in content["data"]]


def statuses(sandbox: Sandbox, count: int) -> list[int]:
    return [post(sandbox, "leads").status_code for _ in range(count)]


def test_status(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "status"})
    assert post(sandbox, "leads").status_code == 500
    assert post(sandbox, "leads").json()["error"]
    headers = {"Retry-After": "7", "Date": "Thu, 01 Jan 1970 00:00:00 GMT"}
    told = {"status": 503, "headers": headers, "body": "busy"}
    sandbox.faults({"kind": "status", "content_type": "text/plain", **told})
    response = post(sandbox, "leads")
    assert (response.status_code, response.text) == (503, "busy")
    assert response.headers["Content-Type"] == "text/plain"
    assert {name: response.headers[name] for name in headers} == headers
    assert [entry["fault"] for entry in sandbox.requests()] == ["status"] * 3


def test_clear(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "status"})
    sandbox.faults()
    assert statuses(sandbox, 1) == [200]
    assert sandbox.requests()[0]["fault"] is None


def test_skip_and_times(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "status", "skip": 2, "times": 1})
    assert statuses(sandbox, 5) == [200, 200, 500, 200, 200]


def test_rate(sandbox: Sandbox) -> None:
    rule = {"kind": "status", "rate": 0.3}
    outcomes = []
    for seed in (1, 1, 2):
        sandbox.faults({**rule, "seed": seed})
        outcomes.append(statuses(sandbox, 60))
    assert outcomes[0] == outcomes[1] != outcomes[2]
    assert 5 <= outcomes[0].count(500) <= 35


def test_first_match_strikes(sandbox: Sandbox) -> None:
    sandbox.faults(
        {"kind": "status", "status": 502, "times": 1},
        {"kind": "status", "status": 503, "stream": "leads"},
        {"kind": "status", "status": 504, "path": "/v1/monitor/signals"},
    )
    assert statuses(sandbox, 2) == [502, 503]
    assert post(sandbox, "observations").status_code == 504
    assert post(sandbox, "signal_agents").status_code == 200


@pytest.mark.parametrize(
    ("where", "struck"),
    [
        ("first", [1]),
        ("middle", [2, 3, 4]),
        ("last", [5]),
        ([2, 5], [2, 5]),
        (None, [1, 2, 3, 4, 5]),
    ],
)
@pytest.mark.parametrize("mode", ["key", "offset"])
def test_pages(sandbox: Sandbox, where: Any, struck: list[int], mode: str) -> None:
    sandbox.configure(cursor_mode=mode)
    cursors = [""]
    for _ in range(4):
        cursors.append(page(sandbox, "leads", cursors[-1], 50)["cursor"]["next"])
    sandbox.faults({"kind": "status", "pages": where})
    hit = []
    for number, after in enumerate(cursors, 1):
        cursor = {"limit": 50, "after": after} if after else {"limit": 50}
        if post(sandbox, "leads", {"cursor": cursor}).status_code == 500:
            hit.append(number)
    assert hit == struck


def test_truncate(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "truncate"})
    response = post(sandbox, "leads")
    assert response.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        json.loads(response.text)


def test_undecodable(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "undecodable"})
    with pytest.raises(requests.exceptions.ContentDecodingError):
        post(sandbox, "leads")


def test_html(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "html"})
    response = post(sandbox, "leads")
    assert response.status_code == 200
    assert response.headers["Content-Type"].startswith("text/html")
    assert "<html>" in response.text


def test_empty_body(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "empty_body"})
    response = post(sandbox, "leads")
    assert (response.status_code, response.content) == (200, b"")


def test_error_in_200(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "error_in_200"})
    response = post(sandbox, "leads")
    assert response.status_code == 200
    assert response.json().keys() == {"error"}
    sandbox.faults({"kind": "error_in_200", "error": "broken"})
    assert post(sandbox, "leads").json() == {"error": "broken"}


@pytest.mark.parametrize(
    ("body", "text"),
    [("raw text", "raw text"), ([1, None], "[1, null]"), (None, "null")],
)
def test_body(sandbox: Sandbox, body: Any, text: str) -> None:
    sandbox.faults({"kind": "body", "body": body})
    response = post(sandbox, "leads")
    assert (response.status_code, response.text) == (200, text)


@pytest.mark.parametrize("told", ["", None, "absent"])
def test_no_next(sandbox: Sandbox, told: str | None) -> None:
    sandbox.faults({"kind": "no_next", "next": told})
    content = page(sandbox, "leads")
    assert len(content["data"]) == 100
    expected = {} if told == "absent" else {"next": told}
    assert content["cursor"] == {"has_more": True, **expected}


def test_cycle(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "cycle", "pages": [2]})
    first, second, again, then = pages(sandbox, 4)
    assert first == again
    assert ids(first) != ids(second)
    assert second == then


def test_same_cursor(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "same_cursor", "pages": [2]})
    first, second, again = pages(sandbox, 3)
    assert second == again
    assert first["cursor"] == second["cursor"]


@pytest.mark.parametrize("mode", ["key", "offset"])
@pytest.mark.parametrize("where", ["first", [2], "middle", [1, 3]])
def test_empty_page(sandbox: Sandbox, where: Any, mode: str) -> None:
    sandbox.configure(cursor_mode=mode)
    expected = read(sandbox, "leads")
    sandbox.faults({"kind": "empty_page", "pages": where, "times": 3})
    got = chain(sandbox, "leads")
    assert [] in got
    assert [record for records in got for record in records] == expected


@pytest.mark.parametrize("status", [307, 301])
def test_redirect(sandbox: Sandbox, status: int) -> None:
    location = "http://127.0.0.1:9/elsewhere"
    sandbox.faults({"kind": "redirect", "status": status, "location": location})
    response = post(sandbox, "leads", allow_redirects=False)
    assert response.status_code == status
    assert response.headers["Location"] == location


def test_ignore_range(sandbox: Sandbox) -> None:
    day = {"start_time": "2026-03-01T00:00:00Z", "end_time": "2026-03-02T00:00:00Z"}
    inside = read(sandbox, "leads", date_found=day)
    assert len(inside) < 10
    sandbox.faults({"kind": "ignore_range"})
    assert len(read(sandbox, "leads", date_found=day)) == 230


def test_duplicate(sandbox: Sandbox) -> None:
    expected = page(sandbox, "leads")["data"]
    sandbox.faults({"kind": "duplicate"})
    assert page(sandbox, "leads")["data"] == [*expected, expected[0]]


def test_missing_id(sandbox: Sandbox) -> None:
    expected = page(sandbox, "leads")["data"]
    sandbox.faults({"kind": "missing_id"})
    first, *others = page(sandbox, "leads")["data"]
    assert "id" not in first
    assert {**first, "id": expected[0]["id"]} == expected[0]
    assert others == expected[1:]


def test_echo_key(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "echo_key", "status": 422})
    response = post(sandbox, "leads")
    assert response.status_code == 422
    assert "Bearer sandbox-key" in json.dumps(response.json())
    assert response.headers["X-Echo"] == "Bearer sandbox-key"


def test_expire_cursor(sandbox: Sandbox) -> None:
    after = page(sandbox, "leads")["cursor"]["next"]
    body = {"cursor": {"after": after}}
    sandbox.faults({"kind": "expire_cursor", "times": 1})
    assert statuses(sandbox, 2) == [200, 200]
    assert post(sandbox, "leads", body).status_code == 410
    assert post(sandbox, "leads", body).status_code == 200
    sandbox.faults({"kind": "expire_cursor", "status": 404})
    assert post(sandbox, "leads", body).status_code == 404
