"""Recognises records that several windows hold, and tells which version is the newest.

Windows overlap by a second, and a record whose time moves while windows are read can
be in two of them.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from tap_leadintent.api.page import Records

    Seen = Mapping[int, tuple[int, float]]

_REMEMBERED = 20_000
"""Records. More take more memory, about 200 bytes each; with fewer than wait to be
emitted, a record that moved backward could be emitted in its older version last."""

_NEVER = (None, -inf)


class Repeats:
    """Remembers which records were emitted last, and when each was read.

    It knows at least the last 20,000. A record that it has forgotten is emitted in any
    version.
    """

    def __init__(self) -> None:
        """Begin without a record."""
        self._before: Seen = {}
        self._now: dict[int, tuple[int, float]] = {}

    def news(self, keys: Iterable[Hashable], records: Records) -> list[bool | None]:
        """Tell which records of a page are to be emitted.

        Args:
            keys: Which row of a target each record is.
            records: The page's records, in the order of the keys.

        Returns:
            For each, True if it is new or has certainly been read later than what was
            emitted of it, and False if that is unchanged. None if it is another version
            that may have been read earlier: the page has to be read again.
        """
        now, before = self._now, self._before
        news: list[bool | None] = []
        here: set[int] = set()
        for key, raw in zip(keys, records.raw, strict=True):
            row, digest = hash(key), hash(bytes(raw))
            seen, seen_at = now.get(row) or before.get(row) or _NEVER
            is_same = seen == digest
            if is_same or seen_at <= records.asked_at or row in here:
                news.append(not is_same)
                now[row] = digest, max(seen_at, records.read_at)
                here.add(row)
            else:
                news.append(None)
        if len(now) >= _REMEMBERED:
            self._before, self._now = now, {}
        return news
