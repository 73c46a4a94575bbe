"""The list in a state: whose coverage it holds, and what it carries along."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.bookmark import MAX_OTHERS, Bookmark
from tap_leadintent.replication.intervals import Coverage, union
from tap_leadintent.replication.source import Source

DAY = 86400
HERE = Source("https://api.example.com", "")
FILTERED = Source("https://api.example.com", "0123456789ab")
THERE = Source("https://api.example.org", "")


def entry(**more: Any) -> dict[str, Any]:
    """Return an entry about the second day of 1970."""
    ends = {"from": "1970-01-02T00:00:00Z", "to": "1970-01-03T00:00:00Z"}
    return {"range": "date_found", **ends, **more}


def read(entries: object, source: Source = HERE) -> Bookmark:
    return Bookmark.read({"coverage": entries}, source)


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.integers(0, 9))),
    st.none() | st.integers(0, 99),
    st.sampled_from([HERE, FILTERED]),
)
def test_a_state_is_read_back_as_it_was_written(
    parts: list[tuple[str, int, int]], rechecked: int | None, source: Source
) -> None:
    coverage: Coverage = {}
    for name, start, n in parts:
        coverage[name] = union([*coverage.get(name, []), (start, start + n)])
    state = json.loads(json.dumps(Bookmark(source, coverage, rechecked).to_state()))
    again = read(state, source)
    assert again.problem is None
    assert (again.coverage, again.rechecked) == (coverage, rechecked)
    assert again.to_state() == state
    foreign = read(state, THERE)
    assert foreign.former == (source if state else None)
    assert (foreign.coverage, foreign.rechecked) == ({}, None)
    assert foreign.to_state() == state


def test_a_state_is_one_short_list_that_people_can_read() -> None:
    coverage = {name: [(DAY, 2 * DAY)] for name in ("date_found", "latest_signal")}
    state = Bookmark(FILTERED, coverage, DAY, key_mark="89abcdef").to_state()
    about = {"source": HERE.address, "filters": "0123456789ab", "key": "89abcdef"}
    assert state == [
        entry(**about),
        entry(**about, range="latest_signal"),
        {"rechecked": "1970-01-02T00:00:00Z", **about},
    ]
    assert len(json.dumps(state)) < 512


def test_changing_sources_keeps_all_but_the_oldest_coverage() -> None:
    sources = [Source(f"https://{n}.example.com", "") for n in range(MAX_OTHERS + 2)]
    state: list[dict[str, Any]] = []
    for source in sources:
        bookmark = read(state, source)
        bookmark.coverage["date_found"] = [(0, DAY)]
        state = bookmark.to_state()
    kept = [entry["source"] for entry in state]
    assert kept == [source.address for source in reversed(sources)][: MAX_OTHERS + 1]


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (None, "array"),
        ([7], "object"),
        ([{"range": "date_found"}], "from"),
        ([entry() | {"to": "x"}], "x"),
        ([{"rechecked": 7}], "7"),
    ],
    ids=str,
)
def test_a_malformed_state_covers_nothing(entries: object, why: str) -> None:
    bookmark = read(entries)
    assert why in (bookmark.problem or "")
    assert bookmark.coverage == {}
    assert bookmark.former is None


def test_an_interval_that_ends_before_it_begins_covers_nothing() -> None:
    reverse = entry(**{"from": "1970-01-09T00:00:00Z"})
    assert read([entry(), reverse]).coverage == {"date_found": [(DAY, 2 * DAY)]}


def test_a_malformed_entry_leaves_those_of_other_sources() -> None:
    foreign = entry(source=THERE.address)
    assert read([foreign, {"range": "a"}]).to_state() == [foreign]


def test_of_several_rechecks_the_earliest_counts() -> None:
    """Joined states may carry those of another source along."""
    marks = [{"rechecked": f"1970-01-0{day}T00:00:00Z"} for day in (3, 2, 4)]
    assert read(marks).rechecked == DAY
