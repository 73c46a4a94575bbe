"""Sizes, pagination, order, filters and ranges."""

from typing import Any

import pytest

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import parse_time
from tests.support.asking import EVER, chain, read

RANGES = [
    (stream, name)
    for stream, endpoint in ENDPOINTS.items()
    for name in (None, *endpoint.ranges)
]


def ids(records: list[Any]) -> list[str]:
    return [record["id"] for record in records]


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101])
def test_exact_sizes(sandbox: Sandbox, size: int) -> None:
    sandbox.configure(sizes=dict.fromkeys(ENDPOINTS, size))
    for stream in ENDPOINTS:
        pages = chain(sandbox, stream)
        assert len(pages) == max(1, -(-size // 100))
        records = [record for records in pages for record in records]
        assert len(set(ids(records))) == len(records) == size


@pytest.mark.parametrize(("stream", "name"), RANGES)
def test_order_and_range(sandbox: Sandbox, stream: str, name: str | None) -> None:
    endpoint = ENDPOINTS[stream]
    axis = endpoint.ranges[name] if name else "found"
    times = {
        key: parse_time(told[endpoint.times[axis]])
        for key, told in sandbox.times(stream).items()
    }
    expected = sorted(times, key=lambda key: (times[key], key))
    asked = {name: EVER} if name else {}
    for limit in (7, 100):
        oldest = read(sandbox, stream, limit=limit, sort="oldest", **asked)
        assert ids(oldest) == expected
        assert ids(read(sandbox, stream, limit=limit, **asked)) == expected[::-1]
    if name:
        some = expected[len(expected) // 4 : len(expected) // 2]
        shown = [sandbox.times(stream)[some[n]][endpoint.times[axis]] for n in (0, -1)]
        edges = {name: dict(zip(("start_time", "end_time"), shown, strict=True))}
        first, last = times[some[0]], times[some[-1]]
        inside = {key for key, time in times.items() if first <= time <= last}
        assert {*ids(read(sandbox, stream, limit=30, **edges))} == inside


def values(record: Any, path: list[str]) -> set[str]:
    for step in path[:-1]:
        record = record[step]
    if isinstance(record, list):
        return {item[path[-1]] for item in record}
    return {record[path[-1]]}


@pytest.mark.parametrize(
    ("stream", "name"),
    [(s, name) for s, endpoint in ENDPOINTS.items() for name in endpoint.filters],
)
def test_filters(sandbox: Sandbox, stream: str, name: str) -> None:
    path = ENDPOINTS[stream].filters[name].split(".")
    everything = sandbox.records(stream)
    seen = sorted(set().union(*(values(record, path) for record in everything)))
    wanted = {seen[0], seen[-1]}
    expected = [record for record in everything if wanted & values(record, path)]
    found = read(sandbox, stream, limit=3, **{name: [*wanted, "no such value"]})
    assert sorted(ids(found)) == sorted(ids(expected))
    assert read(sandbox, stream, **{name: ["no such value"]}) == []
    assert len(read(sandbox, stream, **{name: []})) == len(everything)
