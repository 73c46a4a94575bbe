"""What is said of a state before a run begins."""

from __future__ import annotations

from typing import Any

import pytest

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.source import Source
from tap_leadintent.replication.state_check import changes

HERE = "https://api.example.com"
THERE = "https://api.example.org"


def entry(name: str = "date_found", **more: str) -> dict[str, Any]:
    return {"range": name, "from": "2026-01-01", "to": "2026-01-02", **more}


def bookmark(*entries: dict[str, Any], filters: str = "") -> Bookmark:
    return Bookmark.read({"coverage": list(entries)}, Source(HERE, filters))


def told(bookmarks: dict[str, Bookmark], mark: str = "0000000a") -> list[str]:
    return list(changes(bookmarks, {"leads": {"signals": ["é"]}}, mark))


def test_what_has_not_changed_is_not_worth_a_line() -> None:
    same = bookmark(entry(source=HERE, key="0000000a"))
    upgraded = bookmark(entry())
    also_elsewhere = bookmark(entry(source=THERE), entry(source=HERE))
    new = bookmark()
    assert told({"a": same, "b": upgraded, "c": also_elsewhere, "d": new}) == []


def test_another_address_is_one_line_that_names_both() -> None:
    moved = bookmark(entry(source=THERE, key="0000000b"))
    assert told({"leads": moved, "observations": moved}) == [
        (
            f"base_url is {HERE}, but the state of leads, observations was made with "
            f"{THERE}; everything is read anew, and the coverage of that address is "
            "kept"
        )
    ]


@pytest.mark.parametrize(
    ("name", "filters"), [("leads", '{"signals": ["\\u00e9"]}'), ("other", "none")]
)
def test_other_filters_are_a_line_that_names_todays(name: str, filters: str) -> None:
    changed = bookmark(entry(filters="0123456789ab"))
    (line,) = told({name: changed})
    changed_to = f"starts anew: its filters have changed to {filters}; "
    assert line.startswith(f"{name}: The stream {changed_to}")


def test_another_key_is_one_line_until_the_state_carries_its_mark() -> None:
    old = bookmark(entry(key="0000000b"))
    (line,) = told({"leads": old, "observations": old})
    assert line.startswith("api_key is not the one that the state of leads, ")
    assert "use a separate state" in line
    assert told({"leads": bookmark(*old.to_state("0000000a"))}) == []


def test_a_key_that_is_known_with_other_filters_gets_no_warning() -> None:
    mixed = bookmark(
        entry(key="0000000b", filters="0123456789ab"), entry(key="0000000a")
    )
    assert told({"leads": mixed}) == []
