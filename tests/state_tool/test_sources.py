"""Which sources a state is about, and how it comes to be about another."""

from __future__ import annotations

from typing import Any

import pytest

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.source import Source
from tap_leadintent.state_tool.sources import moved, sources

HERE = Source("https://api.example.com", "")
FILTERED = Source("https://api.example.com", "0123456789ab")
THERE = Source("https://api.example.org", "")


def entry(**more: str) -> dict[str, Any]:
    """Give an entry about the first day of 2026."""
    return {
        "range": "date_found",
        "from": "2026-01-01T00:00:00Z",
        "to": "2026-01-02T00:00:00Z",
        **more,
    }


def read(entries: object, source: Source = HERE) -> Bookmark:
    return Bookmark.read({"coverage": entries}, source)


def test_the_sources_of_a_state_are_those_that_a_run_would_find() -> None:
    entries = [
        entry(source="HTTPS://api.example.com/", filters=FILTERED.filters),
        entry(source=THERE.address),
        entry(),
    ]
    found = sources({"coverage": entries})
    assert found == [FILTERED, THERE, HERE]
    for source in found:
        assert read(entries, source).coverage.pieces("date_found")
    foreign = [each["source"] for each in read(entries).others]
    assert foreign == [HERE.address, THERE.address]


@pytest.mark.parametrize("state", [{}, {"coverage": []}, {"replication_key_value": 7}])
def test_a_state_without_entries_is_about_no_source(state: dict[str, Any]) -> None:
    assert sources(state) == []


def test_a_state_that_never_said_its_source_is_about_no_address() -> None:
    assert sources({"coverage": [entry()]}) == [Source("", "")]


@pytest.mark.parametrize("entries", [None, {}, [7], "x"], ids=str)
def test_what_is_not_a_list_of_entries_has_no_sources(entries: object) -> None:
    with pytest.raises(ValueError, match="Expected"):
        sources({"coverage": entries})


def test_a_state_moves_to_another_address_with_all_its_filters() -> None:
    entries = [
        entry(source="https://API.example.com:443/", key="00000001"),
        entry(source=HERE.address, filters=FILTERED.filters),
        entry(source="https://third.example.com"),
        entry(),
    ]
    state = moved({"coverage": entries, "x": 1}, HERE.address, THERE.address)
    assert state == {
        "coverage": [
            entry(source=THERE.address, key="00000001"),
            entry(source=THERE.address, filters=FILTERED.filters),
            *entries[2:],
        ],
        "x": 1,
    }
    assert moved({"x": 1}, HERE.address, THERE.address) == {"x": 1}
