"""When a stream's records appear and change, as pure functions of the options."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from tap_leadintent.sandbox.data.draws import exponential, stream_key, unit
from tap_leadintent.sandbox.data.histories import SHAPES
from tap_leadintent.sandbox.times import DAY, HOUR, MINUTE, SECOND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.sandbox.endpoints import Endpoint
    from tap_leadintent.sandbox.options import Options

# Purposes of draws. Those of changes are counted upwards, four for each version.
_FOUND, _BURST, _LAG, _LATE, _CHANGE = range(1, 6)
_GRAIN = 1000

# Shapes of the history, as parts of it.
_BURSTS = 4
_ISLANDS = (0.0, 5 / 12, 6 / 12, 11 / 12)
_ISLAND = 1 / 12
# Probabilities: that a signal moves, an account leaves, a first signal is old, and
# that a time has a precision (cumulative).
_MOVING = 0.35
_LEAVING = 0.08
_OLD = 0.05
_WHOLE_SECONDS, _MILLISECONDS = 0.5, 0.8


@dataclass(frozen=True, slots=True)
class Change:
    """A known record changes.

    Attributes:
        visible_at: Instant from which the API shows it.
        time: The record's new `latest` time, at or before `visible_at`.
        leaves: Whether the record leaves instead.
    """

    visible_at: int
    time: int
    leaves: bool


class Timeline:
    """The life of one stream's records, each known by its index from 0.

    The first `size` records are the initial history, between `options.begin` and
    `options.start`; all later ones appear after it.
    """

    def __init__(self, endpoint: Endpoint, options: Options) -> None:
        """Draw from the options' seed."""
        self.size = options.size(endpoint.stream)
        self._endpoint = endpoint
        self._history = options.history
        self._key = stream_key(options.seed, endpoint.stream)
        self._begin = options.begin
        self._start = options.start
        self._span = self._start - self._begin

    def found(self, index: int) -> int:
        """Give the instant at which an initial record appears."""
        share = unit(self._key, index, _FOUND)
        if self._history == "uniform":
            offset = (index + share) * self._span / self.size
        elif shape := SHAPES.get(self._history):
            offset = shape((index + share) / self.size) * self._span
        elif self._history == "bursty":
            offset = self._bursty(index, share)
        elif self._history == "gaps":
            island = _ISLANDS[index % len(_ISLANDS)]
            offset = (island + _ISLAND * share) * self._span
        else:
            middle = (self._begin + self._span // 2) // SECOND * SECOND
            offset = middle - self._begin + share * SECOND
        return max(self._begin, self._grained(self._begin + int(offset), index, 0))

    def _bursty(self, index: int, share: float) -> float:
        if index % 5 == 0:
            return share * self._span
        width = min(DAY, self._span / 100)
        burst = unit(self._key, index % _BURSTS, _BURST) * (self._span - width)
        return burst + share * width

    def arrivals(self) -> Iterator[tuple[int, int]]:
        """Give (index, instant) of the records that appear after the start.

        They come at the history's average rate, and leads at least once a day.
        """
        interval = self._span / self.size if self.size else None
        if self._endpoint.stream == "leads":
            interval = min(DAY, interval or DAY)
        if interval is None:
            return
        for number in count():
            index = self.size + number
            offset = int((number + unit(self._key, index, _FOUND)) * interval)
            found = self._grained(self._start + offset, index, 0)
            yield index, max(self._start + 1, found)

    def first(self, index: int, found: int) -> int:
        """Give the `latest` time of a record that just appeared."""
        if self._endpoint.changes != "signals":
            return found
        if self._history == "instant" and index < self.size:
            return found - HOUR
        if unit(self._key, index, _LATE) < _OLD:
            lag = (30 + 30 * unit(self._key, index, _LAG)) * DAY
        else:
            lag = MINUTE + exponential(self._key, index, _LAG, 12 * HOUR)
        return self._grained(found - int(lag), index, 1)

    def change(self, index: int, version: int, after: int) -> Change | None:
        """Give the change that follows a record's version (from 0), if any."""
        if self._endpoint.changes is None:
            return None
        purpose = _CHANGE + 4 * version
        if self._endpoint.changes == "activity":
            gap = HOUR + exponential(self._key, index, purpose, 45 * DAY)
            time = self._grained(after + int(gap), index, purpose)
            chance = unit(self._key, index, purpose + 1)
            leaves = self._endpoint.leaves and chance < _LEAVING
            return Change(time, time, leaves=leaves)
        if unit(self._key, index, purpose) >= _MOVING:
            return None
        gap = HOUR + exponential(self._key, index, purpose + 1, 30 * DAY)
        time = self._grained(after + int(gap), index, purpose)
        delay = max(0.0, 60 * unit(self._key, index, purpose + 2) - 30) * MINUTE
        return Change(time + int(delay), time, leaves=False)

    def moving_from(self, found: int) -> int:
        """Give the instant after which an initial record may change."""
        return self._start if self._history == "instant" else found

    def _grained(self, instant: int, index: int, purpose: int) -> int:
        """Round down to whole seconds, milliseconds, or not at all."""
        grain = unit(self._key, index, _GRAIN + purpose)
        if grain < _WHOLE_SECONDS:
            return instant - instant % SECOND
        return instant - instant % 1000 if grain < _MILLISECONDS else instant
