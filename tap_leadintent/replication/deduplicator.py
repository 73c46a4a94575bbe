"""Leaves out records that a run has emitted before and that have not changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

_MOST_KEYS = 130_000
"""Keys that are remembered, in about 16 MB. More take more memory; of those beyond, a
first load emits up to two versions that may be the same."""


class Deduplicator:
    """What was emitted last of each record, for the first 130,000 keys of a run.

    Two hashes of 64 bits are kept of each: a record would be left out by mistake only
    where both collide.
    """

    def __init__(self) -> None:
        """Begin without a record."""
        self._last: dict[int, int] = {}

    def take(self, key: Hashable, content: bytes) -> bool:
        """Take a record that is about to be emitted.

        Args:
            key: Which row of a target it is.
            content: Its JSON.

        Returns:
            Whether it is to be emitted. Not so if the same was emitted last of it.
        """
        row, said = hash(key), hash(content)
        if self._last.get(row) == said:
            return False
        if row in self._last or len(self._last) < _MOST_KEYS:
            self._last[row] = said
        return True
