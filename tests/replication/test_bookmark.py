"""The list in a state: whose coverage it holds, and what it carries along."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.bookmark import MAX_OTHERS, Bookmark
from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.intervals import Coverage, union
from tap_leadintent.replication.source import Source, filters_hash, key_mark

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


parts = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.integers(0, 9))
)


def intervals(drawn: list[tuple[str, int, int]]) -> Coverage:
    coverage: Coverage = {}
    for name, start, n in drawn:
        coverage[name] = union([*coverage.get(name, []), (start, start + n)])
    return coverage


@given(
    parts,
    parts,
    st.sets(st.sampled_from("ab")),
    st.integers(0, 9),
    st.sampled_from([HERE, FILTERED]),
)
def test_a_state_is_read_back_as_it_was_written(
    covered: list[tuple[str, int, int]],
    left: list[tuple[str, int, int]],
    settled: set[str],
    longest: int,
    source: Source,
) -> None:
    coverage, holes = intervals(covered), intervals(left)
    settled &= coverage.keys()
    bookmark = Bookmark(source, coverage, holes, settled, Caps(100, longest, 7))
    state = json.loads(json.dumps(bookmark.to_state()))
    again = Bookmark.read({"coverage": state}, source, 100)
    assert again.problem is None
    assert (again.coverage, again.holes, again.settled) == (coverage, holes, settled)
    if state:
        assert again.caps == bookmark.caps
    assert again.to_state() == state
    foreign = read(state, THERE)
    assert foreign.former == (source if state else None)
    assert (foreign.coverage, foreign.holes) == ({}, {})
    assert foreign.to_state() == state


def test_a_state_is_one_short_list_that_people_can_read() -> None:
    coverage = {name: [(DAY, 2 * DAY)] for name in ("date_found", "latest_signal")}
    holes = {"date_found": [(2 * DAY, 2 * DAY + 60)]}
    state = Bookmark(
        FILTERED, coverage, holes, {"date_found"}, Caps(100, 2600, 100), (), "89abcdef"
    ).to_state()
    about = {"source": HERE.address, "filters": "0123456789ab", "key": "89abcdef"}
    hole = {"from": "1970-01-03T00:00:00Z", "to": "1970-01-03T00:01:00Z", "hole": True}
    assert state == [
        entry(**about, settled=True, longest=2600, page=100),
        entry(**about, range="latest_signal"),
        entry(**about) | hole,
    ]
    assert len(json.dumps(state[:2])) < 512


def test_fields_alone_say_nothing_of_what_has_been_read() -> None:
    assert Bookmark.read({"fields": ["a"]}, HERE).problem is None
    assert Bookmark.read({"fields": ["a"], "b": 1}, HERE).problem


def test_the_entries_of_earlier_versions_are_read() -> None:
    mark = {"rechecked": "1970-01-02T00:00:00Z"}
    bookmark = read([entry(), mark])
    assert bookmark.coverage == {"date_found": [(DAY, 2 * DAY)]}
    assert bookmark.to_state() == [entry(source=HERE.address)]


@pytest.mark.parametrize(
    ("name", "settled_to", "settled"),
    [("x", 9, {"x"}), ("x", 8, set()), ("y", 9, {"x", "y"})],
)
def test_the_newest_end_decides_whether_it_is_settled(
    name: str, settled_to: int, settled: set[str]
) -> None:
    bookmark = Bookmark(HERE, {"x": [(0, 5)]}, {}, {"x"})
    bookmark.cover(name, (3, 9), settled_to=settled_to)
    bookmark.cover(name, (1, 4), settled_to=-1)
    assert bookmark.settled == settled


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
    ],
    ids=str,
)
def test_a_malformed_state_covers_nothing(entries: object, why: str) -> None:
    bookmark = read(entries)
    assert why in (bookmark.problem or "")
    assert bookmark.coverage == {}
    assert bookmark.former is None


def test_a_malformed_entry_leaves_those_of_other_sources() -> None:
    foreign = entry(source=THERE.address)
    assert read([foreign, {"range": "a"}]).to_state() == [foreign]


def test_filters_are_distinguished_whatever_the_order_of_their_fields() -> None:
    filters = {"signals": ["x", "y"], "sheet_ids": ["1"]}
    same = {"sheet_ids": ["1"], "signals": ["x", "y"]}
    assert filters_hash(filters) == filters_hash(same)
    assert filters_hash(filters) != filters_hash({"signals": ["x"]})
    assert filters_hash({}) == ""


def test_a_key_mark_distinguishes_keys_and_does_not_reveal_them() -> None:
    mark = key_mark("key-one")
    assert len(bytes.fromhex(mark)) == 4
    assert key_mark("key-two") != mark
    assert key_mark("key-one") == mark
