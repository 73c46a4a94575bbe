"""Finds unknown names in a state, and changes of its source."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tap_leadintent.config.suggestions import did_you_mean
from tap_leadintent.replication.bookmark import COVERAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tap_leadintent.replication.bookmark import Bookmark

_SHOWN_CHARACTERS = 100
"""More would let a bad state fill a line; fewer would cut addresses and filters."""

_KNOWN = (COVERAGE, "replication_key_value")
"""The keys that the tap reads in a stream's state."""


def unknown_names(
    bookmarks: Mapping[str, Mapping[str, Any]], ranges: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Find names in a state that the tap does not know.

    Args:
        bookmarks: The state of each stream, with any content.
        ranges: The time ranges of each of the tap's streams.

    Yields:
        A line for each such name, with a similar name that the tap knows.
    """
    for name, bookmark in bookmarks.items():
        if name not in ranges:
            hint = did_you_mean(name, ranges)
            yield (
                f"The state names a stream that does not exist: {_quoted(name)}{hint}"
            )
        elif ranges[name] and bookmark:
            yield from _unknown_in_bookmark(name, bookmark, ranges[name])


def _unknown_in_bookmark(
    stream: str, bookmark: Mapping[str, Any], ranges: Sequence[str]
) -> Iterator[str]:
    if bookmark.keys().isdisjoint(_KNOWN):
        for name in bookmark:
            hint = did_you_mean(name, _KNOWN)
            yield f"{stream}: its state has the unknown field {_quoted(name)}{hint}"
    entries = bookmark.get(COVERAGE)
    if not isinstance(entries, list):
        return
    named = (entry.get("range") for entry in entries if isinstance(entry, dict))
    for name in dict.fromkeys(one for one in named if isinstance(one, str)):
        if name not in ranges:
            hint = did_you_mean(name, ranges)
            yield (
                f"{stream}: its state covers {_quoted(name)}, which is not one of "
                f"its time ranges{hint}"
            )


def changes(
    bookmarks: Mapping[str, Bookmark],
    filters: Mapping[str, Mapping[str, Any]],
    mark: str,
) -> Iterator[str]:
    """Find what has changed since a state was made.

    Args:
        bookmarks: The bookmark of each stream that the run reads by ranges.
        filters: The run's filters, by stream.
        mark: `key_mark` of the run's key.

    Yields:
        A line for each change of the source, and one if the key has changed.
    """
    moved: dict[str, list[str]] = {}
    for name, bookmark in bookmarks.items():
        if (former := bookmark.former) is None:
            continue
        if former.address != bookmark.source.address:
            moved.setdefault(former.address, []).append(name)
        else:
            told = json.dumps(filters[name]) if filters.get(name) else "none"
            yield (
                f"{name}: The stream starts anew: its filters have changed to "
                f"{_bounded(told)}; the coverage with other filters is kept"
            )
    for address, names in moved.items():
        now = bookmarks[names[0]].source.address
        yield (
            f"base_url is {now}, but the state of {', '.join(names)} was made with "
            f"{_bounded(address)}; everything is read anew, and the coverage of that "
            "address is kept"
        )
    if names := [n for n, b in bookmarks.items() if b.keys and mark not in b.keys]:
        yield (
            f"api_key is not the one that the state of {', '.join(names)} was made "
            "with; if it belongs to another organization, use a separate state for it"
        )


def _quoted(name: object) -> str:
    return _bounded(json.dumps(name, ensure_ascii=False, default=str))


def _bounded(text: str) -> str:
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return " ".join(shown.split())
