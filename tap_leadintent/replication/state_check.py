"""What is odd about a state, in words: what it names, and what it was made with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tap_leadintent.config.suggestions import did_you_mean
from tap_leadintent.replication.bookmark import COVERAGE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tap_leadintent.replication.bookmark import Bookmark

_SHOWN_CHARACTERS = 100

_KNOWN = (COVERAGE, "replication_key_value")
"""What the tap reads of a stream's state."""


def unknown_names(
    bookmarks: Mapping[str, Mapping[str, Any]], ranges: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    """Look for names in a state that mean nothing to the tap.

    Args:
        bookmarks: What the state says of each stream, of any content.
        ranges: The time ranges of each stream that there is.

    Yields:
        A line for each such name, with what it may be meant to be.
    """
    for name, bookmark in bookmarks.items():
        if name not in ranges:
            hint = did_you_mean(name, ranges)
            yield (
                f"The state is about a stream {_quoted(name)}, which there is not{hint}"
            )
        elif ranges[name] and bookmark:
            yield from _unknown_in_bookmark(name, bookmark, ranges[name])


def _unknown_in_bookmark(
    stream: str, bookmark: Mapping[str, Any], ranges: Sequence[str]
) -> Iterator[str]:
    if bookmark.keys().isdisjoint(_KNOWN):
        for name in bookmark:
            hint = did_you_mean(name, _KNOWN)
            yield f"{stream}: its state says {_quoted(name)}, which means nothing{hint}"
    entries = bookmark.get(COVERAGE)
    if not isinstance(entries, list):
        return
    named = (entry.get("range") for entry in entries if isinstance(entry, dict))
    for name in dict.fromkeys(one for one in named if isinstance(one, str)):
        if name not in ranges:
            hint = did_you_mean(name, ranges)
            yield (
                f"{stream}: its state covers {_quoted(name)}, which is no time range "
                f"of it{hint}"
            )


def changes(
    bookmarks: Mapping[str, Bookmark],
    filters: Mapping[str, Mapping[str, Any]],
    mark: str,
) -> Iterator[str]:
    """Tell what has changed since a state was made.

    Args:
        bookmarks: What the state says of each stream that a run reads by ranges.
        filters: Today's filters of each stream that has any.
        mark: `key_mark` of today's key.

    Yields:
        A line for each change of the source, and one when the key is another.
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
                f"{_bounded(told)}; what is covered with others is kept"
            )
    for address, names in moved.items():
        now = bookmarks[names[0]].source.address
        yield (
            f"base_url is {now}, but the state of {', '.join(names)} was made with "
            f"{_bounded(address)}; all is read anew, and what is covered there is kept"
        )
    if names := [n for n, b in bookmarks.items() if b.keys and mark not in b.keys]:
        yield (
            f"api_key is another than the one that the state of {', '.join(names)} was "
            "made with; if it belongs to another organization, give that one a state "
            "of its own"
        )


def _quoted(name: object) -> str:
    return _bounded(json.dumps(name, ensure_ascii=False, default=str))


def _bounded(text: str) -> str:
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return " ".join(shown.split())
