"""The list in a state: whose coverage it holds, and what it carries along."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tap_leadintent.replication.recheck import Mark

from tap_leadintent.replication.bookmark import MOST_OTHERS, Bookmark
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.source import Source, filters_hash

DAY = 86400
HERE = Source("https://api.example.com", "")
FILTERED = Source("https://api.example.com", "0123456789ab")
THERE = Source("https://api.example.org", "")
RANGES = ("date_found", "latest_signal")


def entry(day: int = 1, days: int = 1, **more: str) -> dict[str, Any]:
    """Give an entry about the first days of 2026."""
    return {
        "range": "date_found",
        "from": f"2026-01-{day:02}T00:00:00Z",
        "to": f"2026-01-{day + days:02}T00:00:00Z",
        **more,
    }


def read(entries: object, source: Source = HERE) -> Bookmark:
    return Bookmark.read({"coverage": entries}, source, RANGES, 0)


def test_a_state_is_one_list_that_people_can_read() -> None:
    coverage = Coverage([("latest_signal", (DAY, DAY)), ("date_found", (0, DAY))])
    assert Bookmark(HERE, coverage).to_state("89abcdef") == [
        {
            "range": "latest_signal",
            "from": "1970-01-02T00:00:00Z",
            "to": "1970-01-02T00:00:00Z",
            "source": "https://api.example.com",
            "key": "89abcdef",
        },
        {
            "range": "date_found",
            "from": "1970-01-01T00:00:00Z",
            "to": "1970-01-02T00:00:00Z",
            "source": "https://api.example.com",
            "key": "89abcdef",
        },
    ]
    (filtered,) = Bookmark(FILTERED, Coverage([("a", (0, 1))])).to_state()
    assert filtered["filters"] == "0123456789ab"


def test_a_recheck_is_one_entry_more() -> None:
    coverage = Coverage([("date_found", (0, 2 * DAY))])
    coverage.recheck = Mark("date_found", DAY, 2 * DAY + 0.7)
    bookmark = Bookmark(HERE, coverage)
    _, entry = bookmark.to_state("89abcdef")
    assert entry == {
        "range": "date_found",
        "recheck_from": "1970-01-02T00:00:00Z",
        "recheck_done": "1970-01-03T00:00:00Z",
        "source": "https://api.example.com",
        "key": "89abcdef",
    }
    again = read(bookmark.to_state()).coverage
    assert again.recheck == Mark("date_found", DAY, 2 * DAY)
    assert [*again] == [*coverage]
    # That of another source is carried along.
    assert read(bookmark.to_state(), THERE).coverage.recheck is None
    assert entry in read(bookmark.to_state("89abcdef"), THERE).to_state()


@pytest.mark.parametrize("field", ["recheck_from", "recheck_done"])
def test_a_recheck_without_a_time_is_malformed(field: str) -> None:
    whole = {
        "range": "date_found",
        "recheck_from": "2026-01-01",
        "recheck_done": "2026-01-02",
    }
    assert read([whole]).problem is None
    assert read([{**whole, field: "soon"}]).problem
    assert read([{**whole, field: 7}]).problem


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
    start, end = bookmark.coverage.span("date_found") or (0, 0)
    bookmark.coverage.add("date_found", (start, end))
    (written,) = bookmark.to_state()
    assert (written["from"], written["to"]) == (entry(1)["from"], entry(5)["to"])


def test_ordinary_states_stay_small() -> None:
    source = Source("https://api.example.com", filters_hash({"sheet_ids": ["a"]}))
    coverage = Coverage((name, (0, DAY)) for name in RANGES)
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
    assert bookmark.coverage.span("date_found") is None
    assert bookmark.former == other
    assert bookmark.to_state("89abcdef") == [foreign]
    back = read(bookmark.to_state(), other)
    assert back.coverage.span("date_found") is not None
    assert back.former is None


def test_an_entry_of_other_filters_without_a_source_is_of_todays_address() -> None:
    (carried,) = read([entry(filters="0123456789ab")]).to_state()
    assert carried["source"] == HERE.address
    assert read([carried], THERE).former == FILTERED
    assert read([carried], FILTERED).coverage.span("date_found") is not None


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
        assert read(state, source).coverage.span("date_found") == (0, DAY)
    assert read(state, sources[0]).coverage.span("date_found") is None


def test_slips_push_out_nothing_that_holds_more_than_a_start() -> None:
    state = read([entry()]).to_state()
    for slip in range(10):
        bookmark = read(state, Source(f"https://slip-{slip}.example.com", ""))
        bookmark.coverage.begin("latest_signal", DAY * slip)
        state = bookmark.to_state()
    assert len(state) == MOST_OTHERS + 1
    assert read(state).coverage.span("date_found") is not None


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


def test_a_bookmark_of_the_sdk_counts_as_coverage_up_to_it() -> None:
    state = {"replication_key_value": "1970-01-03T00:00:00Z"}
    coverage = Bookmark.read(state, HERE, RANGES, DAY).coverage
    assert coverage.span("date_found") == (DAY, 2 * DAY)
    assert coverage.span("latest_signal") == (2 * DAY, 2 * DAY)


def test_coverage_goes_before_a_bookmark_of_the_sdk() -> None:
    state: dict[str, Any] = {
        "replication_key_value": "1970-01-03T00:00:00Z",
        "coverage": [],
    }
    assert not list(Bookmark.read(state, HERE, RANGES, 0).coverage)


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


@pytest.mark.parametrize("value", ["yesterday", 7, ["x"]])
def test_a_bookmark_of_the_sdk_that_is_not_a_time_covers_nothing(value: object) -> None:
    bookmark = Bookmark.read({"replication_key_value": value}, HERE, RANGES, 0)
    assert bookmark.problem
    assert not list(bookmark.coverage)


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
