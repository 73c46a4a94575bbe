"""Requests to the API: which records they return, and which are refused."""

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest
import requests

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import parse_time
from tests.support.asking import EVER, HEADERS, chain, page, post, read
from tests.support.contract import request_schema, validator
from tests.support.helpers import Json

JSON = {"Content-Type": "application/json"}
WITH_CHARSET = {"Content-Type": "application/json; charset=a"}
RANGE = {
    "start_time": "2026-01-01T00:00:00Z",
    "end_time": "2026-02-01T00:00:00Z",
}

STREAMS_AND_RANGES: list[tuple[str, str | None]] = []
STREAMS_AND_FILTERS: list[tuple[str, str]] = []
for _stream, _endpoint in ENDPOINTS.items():
    STREAMS_AND_RANGES += product([_stream], [None, *_endpoint.ranges])
    STREAMS_AND_FILTERS += product([_stream], _endpoint.filters)


def ids(records: Iterable[Any]) -> list[str]:
    return [record["id"] for record in records]


@pytest.mark.parametrize(("stream", "name"), STREAMS_AND_RANGES)
def test_ranges_and_order(
    sandbox: Sandbox,
    stream: str,
    name: str | None,
) -> None:
    endpoint = ENDPOINTS[stream]
    axis = endpoint.ranges[name] if name else "found"
    kind = endpoint.times[axis]
    texts: dict[str, str] = {}
    times: dict[str, int] = {}
    for key, of_record in sandbox.times(stream).items():
        texts[key] = of_record[kind]
        times[key] = parse_time(of_record[kind])
    expected = sorted(times, key=lambda key: (times[key], key))
    bounds = {name: EVER} if name else {}
    for limit in (10, 100):
        pages = chain(
            sandbox,
            stream,
            limit=limit,
            sort="oldest",
            **bounds,
        )
        assert len(pages) == -(-len(expected) // limit)
        oldest_first = []
        for records in pages:
            oldest_first += records
        assert ids(oldest_first) == expected
        newest_first = read(sandbox, stream, limit=limit, **bounds)
        assert ids(newest_first) == expected[::-1]
    if name:
        count = len(expected)
        first = expected[count // 4]
        last = expected[count // 2 - 1]
        edges = {
            "start_time": texts[first],
            "end_time": texts[last],
        }
        inside = set()
        for key, time in times.items():
            if times[first] <= time <= times[last]:
                inside.add(key)
        bounds = {name: edges}
        found = read(sandbox, stream, limit=30, **bounds)
        assert {*ids(found)} == inside


def values(record: Any, path: list[str]) -> set[str]:
    *above, name = path
    for step in above:
        record = record[step]
    if isinstance(record, list):
        return {item[name] for item in record}
    return {record[name]}


@pytest.mark.parametrize(("stream", "name"), STREAMS_AND_FILTERS)
def test_filters_restrict(
    sandbox: Sandbox,
    stream: str,
    name: str,
) -> None:
    path = ENDPOINTS[stream].filters[name].split(".")
    everything = sandbox.records(stream)
    seen: set[str] = set()
    for record in everything:
        seen |= values(record, path)
    wanted = {min(seen), max(seen)}
    expected = [record for record in everything if wanted & values(record, path)]
    found = read(
        sandbox,
        stream,
        limit=3,
        **{name: [*wanted, "no such value"]},
    )
    assert sorted(ids(found)) == sorted(ids(expected))
    unknown = {name: ["no such value"]}
    assert read(sandbox, stream, **unknown) == []
    unfiltered: dict[str, list[str]] = {name: []}
    found = read(sandbox, stream, **unfiltered)
    assert len(found) == len(everything)


def ask(sandbox: Sandbox, **changes: Any) -> requests.Response:
    path = changes.pop("path", "/v1/signals/leads")
    request = {
        "method": "POST",
        "data": "{}",
        "headers": HEADERS,
        **changes,
    }
    return requests.request(
        url=sandbox.url + path,
        timeout=30,
        **request,
    )


@pytest.mark.parametrize("stream", ENDPOINTS)
def test_a_request_without_fields_gets_a_page(sandbox: Sandbox, stream: str) -> None:
    response = post(sandbox, stream)
    assert response.headers["Date"] == "Mon, 01 Jun 2026 00:00:00 GMT"
    records = response.json()["data"]
    assert len(records) == min(25, ENDPOINTS[stream].size)


@pytest.mark.parametrize(
    ("status", "changes"),
    [
        (200, {"headers": {**HEADERS, **WITH_CHARSET}}),
        (405, {"method": "GET"}),
        (405, {"method": "PUT"}),
        (405, {"method": "DELETE"}),
        (404, {"path": "/v1/signals/leads/"}),
        (404, {"path": "/v2/signals/leads"}),
        (404, {"path": "/v1/signals/agents/agt_1", "method": "GET"}),
        (401, {"headers": JSON}),
        (401, {"headers": {**JSON, "Authorization": "sandbox-key"}}),
        (401, {"headers": {**JSON, "Authorization": "Bearer other"}}),
        (415, {"headers": {**HEADERS, "Content-Type": "text/plain"}}),
        (400, {"data": b""}),
        (400, {"data": b"{"}),
        (400, {"data": b'{"a": "\xff"}'}),
        (400, {"data": b"{}{}"}),
    ],
    ids=repr,
)
def test_methods_paths_and_headers_are_checked(
    sandbox: Sandbox,
    status: int,
    changes: Json,
) -> None:
    response = ask(sandbox, **changes)
    assert response.status_code == status
    assert status == 200 or response.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [
        [],
        {"date_found": RANGE, "latest_signal": RANGE},
        {"signals": "hiring_for_role"},
        {"signals": [1]},
        {"signals": None},
        {"cursor": {"limit": 0}},
        {"cursor": {"limit": 101}},
        {"cursor": {"limit": "10"}},
        {"cursor": {"limit": 10.5}},
        {"cursor": {"limit": True}},
        {"cursor": {"limit": None}},
        {"cursor": None},
        {"cursor": {"before": "x"}},
        {"cursor": {"after": None}},
        {"cursor": {"after": ""}},
        {"date_found": None},
        {"date_found": {}},
        {"date_found": {**RANGE, "zone": "UTC"}},
        {"date_found": {**RANGE, "start_time": 1767225600}},
        {"date_found": {**RANGE, "start_time": "2026-01-01"}},
        {"date_found": {**RANGE, "start_time": "2026-01-01T00:00:00"}},
        {"date_found": {**RANGE, "start_time": "2026-01-01T00:00:00+0100"}},
    ],
    ids=repr,
)
def test_bodies_that_do_not_match_their_schema_are_refused(
    sandbox: Sandbox,
    body: Any,
) -> None:
    assert not validator(request_schema("leads")).is_valid(body)
    assert post(sandbox, "leads", body).status_code == 400


def test_ranges_that_a_schema_cannot_refuse(sandbox: Sandbox) -> None:
    ends_first = {
        "start_time": RANGE["end_time"],
        "end_time": RANGE["start_time"],
    }
    no_day = {**RANGE, "start_time": "2026-02-30T00:00:00Z"}
    for bounds in (ends_first, no_day):
        body = {"date_found": bounds}
        assert post(sandbox, "leads", body).status_code == 400


@pytest.mark.parametrize(
    "other",
    [
        {
            "sort": "oldest",
            "date_found": EVER,
            "sheet_ids": ["a", "b"],
        },
        {
            "date_found": EVER,
            "sheet_ids": ["a"],
        },
        {
            "latest_signal": EVER,
            "sheet_ids": ["a", "b"],
        },
        {
            "date_found": RANGE,
            "sheet_ids": ["a", "b"],
        },
    ],
    ids=repr,
)
def test_a_changed_cursor_or_one_of_another_query_is_refused(
    sandbox: Sandbox,
    other: Json,
) -> None:
    sheet = {"sheet": {"id": "a"}}
    sandbox.insert(
        "leads",
        {"id": "1", **sheet},
        {"id": "2", **sheet},
    )
    same: Json = {
        "date_found": EVER,
        "sheet_ids": ["a", "b"],
    }
    first = page(
        sandbox,
        "leads",
        limit=1,
        **same,
    )
    after = first["cursor"]["next"]
    cursor = {"cursor": {"after": after}}
    body = {**cursor, **other}
    assert post(sandbox, "leads", body).status_code == 400
    assert post(sandbox, "signal_accounts", cursor).status_code == 400
    for changed in (f"{after} ", after.replace("%2B", "+")):
        body = {**same, "cursor": {"after": changed}}
        assert post(sandbox, "leads", body).status_code == 400
    last = page(
        sandbox,
        "leads",
        after,
        limit=20,
        **same,
    )
    assert len(last["data"]) == 1


def test_the_rate_limit_is_obeyed(sandbox: Sandbox) -> None:
    sandbox.configure(rate_limit=0.001)
    assert post(sandbox, "leads").status_code == 200
    response = post(sandbox, "leads")
    assert response.status_code == 429
    assert response.headers["Retry-After"] == "1"
