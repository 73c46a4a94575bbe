"""The list in a state: whose coverage it holds, and what it carries along."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.bookmark import MOST_OTHERS, Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.source import Source, filters_hash

DAY = 86400
HERE = Source("https://api.example.com", "")
FILTERED = Source("https://api.example.com", "0123456789ab")
THERE = Source("https://api.example.org", "")


def entry(day: int = 1, days: int = 1, **more: str) -> dict[str, Any]:
    """Give an entry about the first days of 2026."""
    return {
        "range": "date_found",
        "from": f"2026-01-{day:02}T00:00:00Z",
        "to": f"2026-01-{day + days:02}T00:00:00Z",
        **more,
    }


def read(entries: object, source: Source = HERE) -> Bookmark:
    return Bookmark.read({"coverage": entries}, source)


def test_a_state_is_one_list_that_people_can_read() -> None:
    coverage = Coverage([("date_found", (0, DAY))], rechecked=2 * DAY)
    about = {"source": "https://api.example.com", "key": "89abcdef"}
    assert Bookmark(HERE, coverage).to_state("89abcdef") == [
        {
            "range": "date_found",
            "from": "1970-01-01T00:00:00Z",
            "to": "1970-01-02T00:00:00Z",
            **about,
        },
        {"rechecked": "1970-01-03T00:00:00Z", **about},
    ]
    (filtered,) = Bookmark(FILTERED, Coverage([("a", (0, 1))])).to_state()
    assert filtered["filters"] == "0123456789ab"


def test_each_source_has_its_own_recheck() -> None:
    state = Bookmark(HERE, Coverage(rechecked=2 * DAY)).to_state()
    assert read(state).coverage.rechecked == 2 * DAY
    assert read(state, THERE).coverage.rechecked is None
    assert read(state, THERE).to_state() == state


@pytest.mark.parametrize("when", ["soon", 7])
def test_a_recheck_without_a_time_is_malformed(when: object) -> None:
    assert read([{"rechecked": when}]).problem


def test_a_recheck_of_version_0_1_does_not_count_any_longer() -> None:
    place = {"recheck_from": "2026-01-01", "recheck_done": "2026-01-02"}
    bookmark = read([entry(), {"range": "date_found", **place}])
    assert bookmark.problem is None
    assert bookmark.coverage.rechecked is None
    assert bookmark.to_state() == [entry(source=HERE.address)]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.integers(0, 9))),
    st.sampled_from([HERE, FILTERED]),
)
def test_a_state_is_read_back_as_it_was_written(
    pieces: list[tuple[str, int, int]], source: Source
) -> None:
    coverage = Coverage((name, (start, start + n)) for name, start, n in pieces)
    state = json.loads(json.dumps(Bookmark(source, coverage).to_state()))
    again = read(state, source)
    assert again.problem is None
    assert list(again.coverage) == list(coverage)
    assert again.to_state() == state


def test_an_entry_that_grows_is_written_anew() -> None:
    bookmark = read([entry(1), entry(5)])
    assert len(bookmark.to_state()) == 2
    (_, start), (end, _) = bookmark.coverage.pieces("date_found")
    bookmark.coverage.add("date_found", (start, end))
    (written,) = bookmark.to_state()
    assert (written["from"], written["to"]) == (entry(1)["from"], entry(5)["to"])


def test_ordinary_states_stay_small() -> None:
    source = Source("https://api.example.com", filters_hash({"sheet_ids": ["a"]}))
    ranges = ("date_found", "latest_signal")
    coverage = Coverage(((name, (0, DAY)) for name in ranges), rechecked=DAY)
    assert len(json.dumps(Bookmark(source, coverage).to_state("89abcdef"))) < 512


# Whose it is


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"source": ""},
        {"source": "https://api.example.com"},
        {"source": "HTTPS://API.example.com:443/"},
        {"key": "00000000"},
        {"filters": ""},
        {"a later": "release"},
    ],
    ids=str,
)
def test_an_entry_is_ours_if_it_says_so_or_does_not_say(said: dict[str, str]) -> None:
    bookmark = read([entry() | said])
    assert bookmark.former is None
    assert bookmark.problem is None
    (written,) = bookmark.to_state("89abcdef")
    assert written == entry(source=HERE.address, key="89abcdef")


@pytest.mark.parametrize("other", [THERE, FILTERED])
def test_an_entry_of_another_source_covers_nothing_and_stays(other: Source) -> None:
    foreign = entry(source=other.address, filters=other.filters, key="76543210")
    bookmark = read([foreign])
    assert not bookmark.coverage.pieces("date_found")
    assert bookmark.former == other
    assert bookmark.to_state("89abcdef") == [foreign]
    back = read(bookmark.to_state(), other)
    assert back.coverage.pieces("date_found")
    assert back.former is None


def test_an_entry_of_other_filters_without_a_source_is_of_todays_address() -> None:
    (carried,) = read([entry(filters="0123456789ab")]).to_state()
    assert carried["source"] == HERE.address
    assert read([carried], THERE).former == FILTERED
    assert read([carried], FILTERED).coverage.pieces("date_found")


def test_coming_and_going_loses_nothing_and_forgets_the_oldest() -> None:
    sources = [Source(f"https://{n}.example.com", "") for n in range(MOST_OTHERS + 2)]
    state: list[dict[str, Any]] = []
    for source in sources:
        bookmark = read(state, source)
        bookmark.coverage.add("date_found", (0, DAY))
        state = bookmark.to_state()
    kept = [entry["source"] for entry in state]
    assert kept == [source.address for source in reversed(sources)][: MOST_OTHERS + 1]
    for source in sources[1:]:
        assert read(state, source).coverage.pieces("date_found") == [(0, DAY)]
    assert not read(state, sources[0]).coverage.pieces("date_found")


def test_keys_are_those_of_this_address_whatever_its_filters() -> None:
    entries = [
        entry(key="00000001"),
        entry(key="00000002", filters="0123456789ab"),
        entry(key="00000003", source=THERE.address),
        entry(3),
    ]
    assert read(entries).keys == {"00000001", "00000002"}


def test_the_key_is_the_one_that_the_source_was_last_read_with() -> None:
    entries = [
        entry(key="00000001", source=THERE.address),
        entry(),
        entry(3, key="00000002", source=HERE.address),
    ]
    assert read(entries).key == "00000002"
    assert read(entries, THERE).key == "00000001"
    assert read([entry()]).key == ""


# What others wrote


@pytest.mark.parametrize("value", ["1970-01-03T00:00:00Z", "yesterday", 7])
def test_a_bookmark_of_the_sdk_covers_nothing(value: object) -> None:
    state = {"replication_key_value": value}
    bookmark = Bookmark.read(state, HERE)
    assert "a replication_key_value alone" in (bookmark.problem or "")
    assert not list(bookmark.coverage)
    assert Bookmark.read({**state, "coverage": []}, HERE).problem is None


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ("2026-01-01", "array"),
        (None, "array"),
        ({}, "array"),
        ([7], "object"),
        ([{"range": "date_found"}], "from"),
        ([{"range": "a", "from": "x", "to": "y"}], "x"),
        ([{"range": "a", "from": 1, "to": 2}], "str"),
        ([entry() | {"filters": [7]}, {"range": 1}], "str"),
        ([entry() | {"key": 7}], "str"),
        ([{"range": "a", "from": "2026-01-02", "to": "2026-01-01"}], "before"),
    ],
    ids=str,
)
def test_a_malformed_state_covers_nothing(entries: object, why: str) -> None:
    bookmark = read(entries)
    assert why in (bookmark.problem or "")
    assert not list(bookmark.coverage)
    assert bookmark.former is None


def test_what_is_wrong_with_ours_costs_the_others_nothing() -> None:
    foreign = entry(source=THERE.address)
    assert read([foreign, {"range": "a"}]).to_state() == [foreign]


def test_instants_outside_of_the_calendar_are_cut() -> None:
    wide = entry() | {
        "from": "0001-01-01T00:00:00+14:00",
        "to": "9999-12-31T23:59:59-14:00",
    }
    (written,) = read([wide]).to_state()
    assert written["from"] == "0001-01-01T00:00:00Z"
    assert written["to"] == "9999-12-31T23:59:59Z"
