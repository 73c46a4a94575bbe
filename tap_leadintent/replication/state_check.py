"""Finds what has changed since a state was made."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tap_leadintent.replication.bookmark import Bookmark

_SHOWN_CHARACTERS = 100
"""More would let a bad state fill a line; fewer would cut addresses and filters."""


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


def _bounded(text: str) -> str:
    shown = text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}…"
    return " ".join(shown.split())
