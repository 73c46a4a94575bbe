"""Counts the rows that a run has written of a stream."""

from collections.abc import Mapping, Sequence
from typing import Any

from tap_leadintent.times import parse_instant

_MAX_KEYS = 130_000
"""Keys that are remembered, in about 13 MB."""

_MASK = 2**60 - 1
"""The bits of a hash that are kept. With more, each key takes 32 bytes more."""


class WrittenRows:
    """Counts the rows that a loader must have: one for each key that was written.

    A row that was written several times counts with the time that it had last.
    """

    def __init__(self, key_columns: Sequence[str], time_column: str = "") -> None:
        """Begin to count the rows of a table.

        Args:
            key_columns: The key of the table. Without any, each row is another one.
            time_column: The column with the time of a row, if it has one.
        """
        self._key_columns = key_columns
        self._time_column = time_column
        self._times: dict[int, int | None] | None = {}
        """For the hash of each key, the time of its last row, in UTC seconds since
        1970; None after too many keys."""

    @property
    def has_times(self) -> bool:
        """Whether the rows have a column with their time."""
        return bool(self._time_column)

    def note(self, row: Mapping[str, Any]) -> None:
        """Count a row.

        Args:
            row: The row as it was written.
        """
        if self._times is None:
            return
        key = len(self._times)
        if self._key_columns:
            key = hash(tuple([str(row.get(name)) for name in self._key_columns]))
            key &= _MASK
        self._times[key] = _seconds(row.get(self._time_column))
        if len(self._times) > _MAX_KEYS:
            self._times = None

    def count(self, interval: tuple[int, int] | None = None) -> int | None:
        """Return how many rows the table must have of those that were written.

        Args:
            interval: If given, only rows count whose time lies in it. It is in UTC
                seconds since 1970; its end is not part of it.

        Returns:
            The number; None if it is not known, as there were too many rows.
        """
        if self._times is None:
            return None
        if interval is None:
            return len(self._times)
        start, end = interval
        rows = 0
        for time in self._times.values():
            if time is not None and start <= time < end:
                rows += 1
        return rows


def _seconds(time: object) -> int | None:
    """Return a time of a row in UTC seconds since 1970, or None if it has none."""
    if not isinstance(time, str):
        return None
    try:
        return parse_instant(time)
    except ValueError:
        # A stream map may have changed it.
        return None
