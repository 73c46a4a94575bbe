"""Recognises records that several windows hold, and tells which version is the newest.

Windows overlap by a second, and a record whose time moves while windows are read can
be in two of them.
"""

from __future__ import annotations

from array import array
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from tap_leadintent.api.page import Records

_MOST_BYTES = 32 * 2**20
"""Bytes of JSON whose records are remembered. More take more memory, about 120 bytes a
record; with fewer than may wait to be emitted (`page_buffer.MOST_BYTES`), a record that
moved backward could be emitted in its older version last."""

_BYTES_OF_A_RECORD = 200
"""What a record counts besides its JSON, so that small ones take no more memory."""


def _integers() -> array[int]:
    return array("q")


@dataclass(eq=False, slots=True)
class _Emitted:
    """What a page held when it was emitted."""

    read_at: float
    size: int = 0
    """Bytes that count, see `_MOST_BYTES`."""
    rows: array[int] = field(default_factory=_integers)
    """Hashes of the records' keys."""
    contents: array[int] = field(default_factory=_integers)
    """Hashes of the JSON of the same records."""

    def content(self, row: int) -> int:
        # The last one: a page may hold a record twice.
        return self.contents[-1 - self.rows[::-1].index(row)]

    def note(self, row: int, content: int, size: int) -> None:
        self.rows.append(row)
        self.contents.append(content)
        self.size += size + _BYTES_OF_A_RECORD


class Repeats:
    """Remembers which records were emitted last, and when each was read.

    It knows those of the last 32 MiB. What it has forgotten is emitted in any version.
    """

    def __init__(self) -> None:
        """Begin without a record."""
        self._pages: deque[_Emitted] = deque()
        self._bytes = 0
        self._latest: dict[int, _Emitted] = {}
        """The page that each record was read with last."""

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
        latest, page = self._latest, _Emitted(records.read_at)
        news: list[bool | None] = []
        for key, raw in zip(keys, records.raw, strict=True):
            json = bytes(raw)
            row, content = hash(key), hash(json)
            last = latest.get(row)
            if last is None:
                news.append(True)
            elif last.content(row) == content:
                news.append(False)
                if last.read_at >= page.read_at:
                    continue
            elif last is page or last.read_at <= records.asked_at:
                news.append(True)
            else:
                news.append(None)
                continue
            page.note(row, content, len(json))
            latest[row] = page
        if page.rows:
            self._remember(page)
        return news

    def _remember(self, page: _Emitted) -> None:
        self._pages.append(page)
        self._bytes += page.size
        while self._bytes > _MOST_BYTES:
            oldest = self._pages.popleft()
            self._bytes -= oldest.size
            for row in oldest.rows:
                if self._latest.get(row) is oldest:
                    del self._latest[row]
