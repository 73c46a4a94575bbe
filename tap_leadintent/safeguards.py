"""Watches what comes back from one window to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tap_leadintent.errors import StreamError
from tap_leadintent.times import parse_instant

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    import msgspec

    from tap_leadintent.windows import Window

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


class RangeGuard:
    """Notices a server that ignores the time range it was asked for."""

    def __init__(
        self, stream: str, range_name: str, is_ignored: Callable[[], bool]
    ) -> None:
        """Watch one range of one stream.

        Args:
            stream: Named in the error.
            range_name: Named in the error.
            is_ignored: Asks the server for a time of which there can be nothing, and
                tells whether it returns something all the same.
        """
        self._stream = stream
        self._range = range_name
        self._is_ignored = is_ignored
        self._is_trusted = False
        self._strays = 0
        self._strayed = False
        self._repeats = 0
        self._first_page: int | None = None

    def page(
        self,
        window: Window,
        page: list[dict[str, Any]],
        time_of: Callable[[dict[str, Any]], str | None],
    ) -> None:
        """Look at a page whose records carry the time that the range is about.

        Args:
            window: The window that the page was asked for.
            page: Its records.
            time_of: Gives the instant that must lie inside the window, if known.

        Raises:
            StreamError: Whole pages lay outside the window, in two windows running.
        """
        times = [time_of(record) for record in page]
        inside = (
            time is None or window.start - 1 <= parse_instant(time) <= window.end
            for time in times
        )
        if self._strayed or not times or any(inside):
            return
        self._strayed = True
        self._strays += 1
        if self._strays > 1:
            what = "returns records from outside the time range"
            raise self._error(what)

    def window_begins(self, first_page: Sequence[bytes | msgspec.Raw]) -> None:
        """Look at a window's first page.

        Args:
            first_page: The JSON of its records, or nothing when there is no other page:
                what little there is may well be there at all times.

        Raises:
            StreamError: Three windows running began with the very same records, and
                so does a time of which there can be none.
        """
        content = hash(tuple(map(bytes, first_page))) if first_page else None
        same = content is not None and content == self._first_page
        self._repeats = self._repeats + 1 if same else 0
        self._first_page = content
        if not self._strayed:
            self._strays = 0
        self._strayed = False
        if self._repeats > 1 and not self._is_trusted:
            if self._is_ignored():
                what = "returns the same records for different time ranges"
                raise self._error(what)
            self._is_trusted = True

    def _error(self, what: str) -> StreamError:
        return StreamError(
            f"{self._stream}: the API {what} of {self._range}; it seems to ignore "
            "the range. The stream stops rather than read everything once for each "
            "window. Report it to the API's support."
        )
