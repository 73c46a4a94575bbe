"""Collects what a run could not read of a stream."""

from collections.abc import Iterator

from tap_leadintent.api.page import Page
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.reader import WindowPage
from tap_leadintent.times import format_interval
from tap_leadintent.words import counted

_MAX_NAMED = 3
"""Holes that the error of a stream names."""

TOO_OLD = "set a later start_date if the API keeps no older records"
"""What to do if the API refuses the oldest time."""


class Holes:
    """The intervals that could not be read, each with its reason."""

    def __init__(self) -> None:
        """Begin without any."""
        self._holes: list[tuple[str, WindowPage[Page]]] = []

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self._holes)

    def add(self, range_name: str, hole: WindowPage[Page]) -> None:
        """Add a hole, or extend the last one if that ends where it begins.

        Args:
            range_name: The time range.
            hole: A window that was left.
        """
        start, end = hole.window
        name, last = self._holes[-1] if self._holes else ("", hole)
        if name == range_name and last.window[1] == start:
            self._holes[-1] = name, last._replace(window=(last.window[0], end))
        else:
            self._holes.append((range_name, hole))

    def describe(self, start: int) -> Iterator[str]:
        """Say which intervals could not be read, and what to do about it.

        Args:
            start: Where the stream's ranges begin, in UTC seconds since 1970.

        Yields:
            A text, if there are some.
        """
        if not self:
            return
        texts = []
        for name, hole in self._holes[:_MAX_NAMED]:
            error = hole.error
            reason = error.why if isinstance(error, StreamError) else error
            texts.append(f"{name} {format_interval(hole.window)} ({reason})")
        if more := len(self._holes) - len(texts):
            texts.append(f"{counted(more, 'interval')} more")
        is_oldest = min(hole.window[0] for _, hole in self._holes) == start
        advice = TOO_OLD if is_oldest else "tell the API's support if this stays"
        yield (
            f"{advice}; each run tries again to read what is missing, and everything "
            f"else was read: {', '.join(texts)}"
        )
