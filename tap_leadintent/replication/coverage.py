"""What a stream's state says: which time intervals of which range have been read.

The state holds one list of `{"range", "from", "to"}`, each with a hash of the
stream's `filters` where it has any. One list, because Meltano merges states key by
key but replaces lists whole.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.replication import intervals
from tap_leadintent.times import format_instant, parse_instant

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tap_leadintent.replication.intervals import Interval

SINCE_EVER = 0
"""Where coverage begins when no `start_date` is given, in seconds since 1970."""


def filters_hash(filters: dict[str, Any]) -> str:
    """Name a stream's filters.

    Args:
        filters: The request fields that `filters` sets for the stream.

    Returns:
        A short text that differs when they do, empty when there are none. The order
        of fields and of list items does not matter.
    """
    if not filters:
        return ""
    plain = {
        name: sorted(value, key=msgspec.json.encode)
        if isinstance(value, list)
        else value
        for name, value in filters.items()
    }
    return sha256(msgspec.json.encode(plain, order="sorted")).hexdigest()[:12]


class _Entry(msgspec.Struct, omit_defaults=True):
    range: str
    start: str = msgspec.field(name="from")
    end: str = msgspec.field(name="to")
    filters: str = ""


class Coverage:
    """The intervals that a stream has read whole, by range."""

    def __init__(self, filters: str = "") -> None:
        """Cover nothing.

        Args:
            filters: `filters_hash` of the stream's filters.
        """
        self._filters = filters
        self._covered: dict[str, list[Interval]] = {}

    @classmethod
    def from_state(cls, entries: object, filters: str) -> Coverage:
        """Read the list in a state.

        Args:
            entries: The list as `to_state` wrote it.
            filters: `filters_hash` of the stream's filters of today.

        Returns:
            What it covers under these filters.

        Raises:
            ValueError: It is no such list, or was written under other filters; the
                message says which.
        """
        coverage = cls(filters)
        for entry in msgspec.convert(entries, list[_Entry]):
            if entry.filters != filters:
                msg = "its filters have changed"
                raise ValueError(msg)
            start, end = parse_instant(entry.start), parse_instant(entry.end)
            if end < start:
                msg = f"in its state, {entry.end} comes before {entry.start}"
                raise ValueError(msg)
            coverage.add(entry.range, (start, end))
        return coverage

    @classmethod
    def from_stream_state(
        cls,
        state: Mapping[str, Any],
        filters: str,
        ranges: Sequence[str],
        start: int,
    ) -> Coverage:
        """Read a stream's state.

        A state with only the SDK's `replication_key_value` counts as covered from the
        start of what is asked to that value.

        Args:
            state: The stream's state, as this tap or another wrote it.
            filters: `filters_hash` of the stream's filters of today.
            ranges: The stream's time ranges.
            start: Where what is asked begins, in seconds since 1970.

        Returns:
            What it covers.

        Raises:
            ValueError: See `from_state`.
        """
        if "coverage" in state:
            return cls.from_state(state["coverage"], filters)
        coverage = cls(filters)
        if value := state.get("replication_key_value"):
            newest = parse_instant(str(value))
            first, *others = ranges
            coverage.add(first, (min(start, newest), newest))
            for name in others:
                coverage.add(name, (newest, newest))
        return coverage

    def to_state(self) -> list[dict[str, str]]:
        """Write the list for a state.

        Returns:
            One entry for each interval, by range and time.
        """
        entries = [
            _Entry(name, format_instant(start), format_instant(end), self._filters)
            for name, covered in self._covered.items()
            for start, end in covered
        ]
        state: list[dict[str, str]] = msgspec.to_builtins(entries)
        return state

    def add(self, name: str, interval: Interval) -> None:
        """Note that an interval of a range has been read whole and written.

        Args:
            name: The range.
            interval: The interval; a single instant marks where coverage begins.
        """
        self._covered[name] = intervals.add(self._covered.get(name, []), interval)

    def begin(self, name: str, instant: int) -> None:
        """Note where coverage of a range begins, of which nothing has been read yet.

        Args:
            name: The range.
            instant: What comes before it is not asked for, in seconds since 1970.
        """
        self._covered[name] = [(instant, instant)]

    def clip(self, latest: int) -> None:
        """Forget what lies in the future.

        Args:
            latest: The present, in seconds since 1970.
        """
        for name, covered in self._covered.items():
            self._covered[name] = intervals.clip(covered, latest)

    def span(self, name: str) -> Interval | None:
        """Find the oldest and the newest covered instant of a range.

        Args:
            name: The range.

        Returns:
            Both, in seconds since 1970, or None when nothing of the range is covered.
        """
        covered = self._covered.get(name)
        return (covered[0][0], covered[-1][1]) if covered else None

    def to_read(self, name: str, asked: Interval, lookback: int) -> list[Interval]:
        """Work out what a run has to read of a range.

        It is what is asked and not covered, and again the stretch before the newest
        covered instant. Of that stretch, what lies before `asked` is no longer
        covered once the run reads beyond it: nothing else would read it again.

        Args:
            name: The range.
            asked: What the run should cover, in seconds since 1970.
            lookback: Length in seconds of the stretch to read again.

        Returns:
            The stretches to read, oldest first.
        """
        covered = self._covered.get(name)
        if not covered:
            return intervals.missing(asked, [])
        newest = covered[-1][1]
        unsettled = (newest - lookback, newest)
        if unsettled[0] < asked[0] and newest < asked[1]:
            left_behind = (unsettled[0], min(newest, asked[0]))
            self._covered[name] = intervals.subtract(covered, left_behind)
        settled = intervals.subtract(covered, unsettled)
        return intervals.missing(asked, settled)
