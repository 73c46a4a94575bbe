"""A stream's entry in the state, as the run's settings and source have it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tap_leadintent.replication.bookmark import COVERAGE, Bookmark
from tap_leadintent.replication.source import key_mark
from tap_leadintent.times import format_instant

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from tap_leadintent.replication.plan import Asked
    from tap_leadintent.replication.source import Source


@dataclass(eq=False, repr=False)
class StreamState:
    """What has been read of a stream before this run, and by it."""

    state: MutableMapping[str, Any]
    """The stream's entry in the state of the tap, as the SDK keeps it."""

    source: Source
    """What the run reads."""

    asked: Asked
    """What the settings ask for."""

    key: str
    """The setting `api_key`."""

    @cached_property
    def bookmark(self) -> Bookmark:
        """The bookmark, read at the first access; the run extends its coverage."""
        return self._read()

    @property
    def key_mark(self) -> str:
        """A short hash of `api_key`, to notice another key in the state."""
        return key_mark(self.key, self.source.address)

    @property
    def newest_covered(self) -> str | None:
        """The newest instant of the first range that the state covers."""
        newest = self._read().coverage.newest(self.asked.ranges[0])
        return None if newest is None else format_instant(newest)

    def begin(self) -> None:
        """Put an empty coverage into the run's first STATE, if there is no state.

        Meltano merges a run's states into those of former runs. Without this entry, old
        coverage would survive a full refresh that was interrupted.
        """
        if not self.state:
            self.state[COVERAGE] = []

    def current(self) -> dict[str, Any]:
        """Write what is covered by now.

        Returns:
            The content of the stream's entry.
        """
        return {COVERAGE: self.bookmark.to_state(self.key_mark)}

    def _read(self) -> Bookmark:
        return Bookmark.read(self.state, self.source)
