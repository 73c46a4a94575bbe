"""Recognises records that two neighbouring windows both hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    import msgspec


_REMEMBERED = 20_000


class Repeats:
    """Knows what the window before held: windows overlap by a second.

    Of a window with very many records it knows the last 20,000, so that memory stays
    bounded; a record that it does not know is emitted once more.
    """

    def __init__(self) -> None:
        """Begin without a window."""
        self._before: dict[Hashable, tuple[int | None, float]] = {}
        self._now: dict[Hashable, tuple[int | None, float]] = {}

    def next_window(self) -> None:
        """Begin another window."""
        self._before, self._now = self._now, {}

    def news(
        self,
        keys: Iterable[Hashable],
        raws: Iterable[bytes | msgspec.Raw],
        read_at: float,
    ) -> list[bool]:
        """Tell which records of a page say something that was not emitted just before.

        Args:
            keys: Which row of a target each record is.
            raws: The JSON of each.
            read_at: When the page was read, by any clock.

        Returns:
            For each, False when this window or the one before held it, unchanged or
            read later.
        """
        now, before = self._now, self._before
        news = []
        for key, raw in zip(keys, raws, strict=True):
            digest = hash(bytes(raw))
            last = now.get(key) or before.get(key) or (None, read_at)
            is_later = read_at >= last[1]
            news.append(is_later and digest != last[0])
            now[key] = (digest, read_at) if is_later else last
        while len(now) > _REMEMBERED:
            del now[next(iter(now))]
        return news
