"""Sizes, pagination, order, filters and ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import parse_time
from tests.support.asking import EVER, chain, page, read

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

RANGES = [
    (stream, name)
    for stream, endpoint in ENDPOINTS.items()
    for name in (None, *endpoint.ranges)
]
HISTORIES = ["uniform", "bursty", "gaps", "instant"]


def ids(records: list[Any]) -> list[str]:
    return [record["id"] for record in records]


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101])
@pytest.mark.parametrize("mode", ["key", "offset"])
def test_exact_sizes(sandbox: Sandbox, size: int, mode: str) -> None:
    sizes = dict.fromkeys(ENDPOINTS, size)
    sandbox.configure(sizes=sizes, cursor_mode=mode)
    for stream in ENDPOINTS:
        pages = chain(sandbox, stream)
        assert len(pages) == max(1, -(-size // 100))
        records = [record for records in pages for record in records]
        assert len(set(ids(records))) == len(records) == size


@pytest.mark.parametrize("mode", ["key", "offset"])
@pytest.mark.parametrize("sort", ["newest", "oldest"])
@pytest.mark.parametrize("history", HISTORIES)
def test_each_record_once(sandbox: Sandbox, mode: str, sort: str, history: str) -> None:
    sandbox.configure(cursor_mode=mode, history=history)
    for limit in (7, 23, 100):
        records = read(sandbox, "leads", limit=limit, sort=sort)
        assert len(set(ids(records))) == len(records) == 230


@pytest.mark.parametrize(("stream", "name"), RANGES)
def test_order(sandbox: Sandbox, stream: str, name: str | None) -> None:
    endpoint = ENDPOINTS[stream]
    axis = endpoint.ranges[name] if name else endpoint.order
    times = sandbox.times(stream)
    asked = {name: EVER} if name else {}
    oldest = read(sandbox, stream, sort="oldest", **asked)
    keys = [
        (parse_time(times[record["id"]][endpoint.times[axis]]), record["id"])
        for record in oldest
    ]
    assert keys == sorted(keys)
    assert ids(read(sandbox, stream, **asked)) == ids(oldest)[::-1]
    assert sorted(ids(sandbox.records(stream))) == sorted(ids(oldest))


def test_configured_order(sandbox: Sandbox) -> None:
    newest = ids(read(sandbox, "leads"))
    sandbox.configure(order="oldest")
    assert ids(read(sandbox, "leads")) == newest[::-1]


@pytest.mark.parametrize("end", ["inclusive", "exclusive"])
@pytest.mark.parametrize(("stream", "name"), [r for r in RANGES if r[1]])
def test_ranges(sandbox: Sandbox, stream: str, name: str, end: str) -> None:
    sandbox.configure(range_end=end)
    endpoint = ENDPOINTS[stream]
    label = endpoint.times[endpoint.ranges[name]]
    known = {key: value[label] for key, value in sandbox.times(stream).items()}
    ordered = sorted(known.values(), key=parse_time)
    first, last = ordered[len(ordered) // 4], ordered[len(ordered) // 2]
    asked = {name: {"start_time": first, "end_time": last}}
    expected = [
        key
        for key, time in known.items()
        if parse_time(first) <= parse_time(time) <= parse_time(last)
        and (end == "inclusive" or time != last)
    ]
    assert sorted(ids(read(sandbox, stream, limit=30, **asked))) == sorted(expected)


def test_signal_inside_window(sandbox: Sandbox) -> None:
    start, end = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z"
    window = {"start_time": start, "end_time": end}
    records = read(sandbox, "leads", latest_signal=window)
    assert records
    for record in records:
        observed = parse_time(record["signal"]["observed_at"])
        assert parse_time(start) <= observed <= parse_time(end)


def values(record: Any, path: tuple[str, ...]) -> set[str]:
    for step in path[:-1]:
        record = record[step]
    if isinstance(record, list):
        return {item[path[-1]] for item in record}
    return {record[path[-1]]}


@pytest.mark.parametrize(
    ("stream", "name"),
    [(s, name) for s, endpoint in ENDPOINTS.items() for name in endpoint.filters],
)
@pytest.mark.parametrize("mode", ["key", "offset"])
def test_filters(sandbox: Sandbox, stream: str, name: str, mode: str) -> None:
    sandbox.configure(cursor_mode=mode)
    path = ENDPOINTS[stream].filters[name]
    everything = sandbox.records(stream)
    seen = sorted(set().union(*(values(record, path) for record in everything)))
    wanted = {seen[0], seen[-1]}
    expected = [record for record in everything if wanted & values(record, path)]
    found = read(sandbox, stream, limit=3, **{name: [*wanted, "no such value"]})
    assert sorted(ids(found)) == sorted(ids(expected))
    assert read(sandbox, stream, **{name: ["no such value"]}) == []
    assert len(read(sandbox, stream, **{name: []})) == len(everything)


def test_filters_combine(sandbox: Sandbox) -> None:
    lead = page(sandbox, "leads")["data"][40]
    asked = {
        "sheet_ids": [lead["sheet"]["id"]],
        "signals": [lead["signal"]["type"]],
        "lead_country_codes": [lead["country_code"]],
    }
    found = read(sandbox, "leads", date_found=EVER, **asked)
    assert lead in found
    assert all(
        record["sheet"] == lead["sheet"]
        and record["signal"]["type"] == lead["signal"]["type"]
        and record["country_code"] == lead["country_code"]
        for record in found
    )
