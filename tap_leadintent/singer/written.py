"""Counts the rows that a run has written of a stream."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from tap_leadintent.times import LATEST, parse_instant

_MAX_ROWS = 130_000
"""Rows that are remembered, in 2 MB."""

_NO_TIME = LATEST + 1
"""Stands for the time of a row without one, as it lies in no interval."""

_PARTS = 16
"""Rows are compared in so many parts. A dictionary of all would take 12 MB."""


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
        self._keys = array("q")
        """The hash of the key of each row that was written."""
        self._times = array("q")
        """The time of each row, in UTC seconds since 1970."""
        self._is_full = False

    @property
    def has_times(self) -> bool:
        """Whether the rows have a column with their time."""
        return bool(self._time_column)

    def note(self, row: Mapping[str, Any]) -> None:
        """Count a row.

        Args:
            row: The row as it was written.
        """
        if self._is_full:
            return
        if len(self._keys) == _MAX_ROWS:
            self._is_full = True
            del self._keys[:], self._times[:]
            return
        key = len(self._keys)
        if self._key_columns:
            key = hash(tuple([str(row.get(name)) for name in self._key_columns]))
        self._keys.append(key)
        self._times.append(_seconds(row.get(self._time_column)))

    def count(self, interval: tuple[int, int] | None = None) -> int | None:
        """Return how many rows the table must have of those that were written.

        Args:
            interval: If given, only rows count whose time lies in it. It is in UTC
                seconds since 1970; its end is not part of it.

        Returns:
            The number; None if it is not known, as there were too many rows.
        """
        if self._is_full:
            return None
        rows = 0
        for part in range(_PARTS):
            last = {
                key: time
                for key, time in zip(self._keys, self._times, strict=True)
                if key % _PARTS == part
            }
            if interval is None:
                rows += len(last)
                continue
            start, end = interval
            for time in last.values():
                rows += start <= time < end
        return rows


def _seconds(time: object) -> int:
    """Return a time of a row in UTC seconds since 1970."""
    if not isinstance(time, str):
        return _NO_TIME
    try:
        return parse_instant(time)
    except ValueError:
        # A stream map may have changed it.
        return _NO_TIME
