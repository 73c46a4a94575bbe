"""Finds what has changed since a state was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tap_leadintent.replication.bookmark import Bookmark


def changes(bookmarks: Mapping[str, Bookmark], mark: str) -> Iterator[str]:
    """Find what has changed since a state was made.

    Args:
        bookmarks: The bookmark of each stream that the run reads by ranges.
        mark: `key_mark` of the run's key.

    Yields:
        A line for each change of the source, and one if the key has changed. They may
        quote the state, at any length.
    """
    moved: dict[str, list[str]] = {}
    for name, bookmark in bookmarks.items():
        if (former := bookmark.former) is None:
            continue
        if former.address != bookmark.source.address:
            moved.setdefault(former.address, []).append(name)
        else:
            yield (
                f"{name}: The stream starts anew, as its filters have changed; the "
                "coverage with other filters is kept"
            )
    for address, names in moved.items():
        now = bookmarks[names[0]].source.address
        yield (
            f"base_url is {now}, but the state of {', '.join(names)} was made with "
            f"{address}; everything is read anew, and the coverage of that address is "
            "kept"
        )
    if names := [n for n, each in bookmarks.items() if each.key not in {"", mark}]:
        yield (
            f"api_key is not the one that the state of {', '.join(names)} was made "
            "with; if it belongs to another organization, use a separate state for it"
        )
