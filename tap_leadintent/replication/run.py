"""Reads what a run has to read of a stream, and keeps its coverage.

This is the order that no row is lost by: what is due to be read again leaves the
coverage, a STATE says so, rows are written, their window is covered, and the next STATE
says that.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Generic, NamedTuple

from tap_leadintent.replication import intervals
from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.ignored import Watch, is_range_obeyed
from tap_leadintent.replication.intervals import Coverage, Interval
from tap_leadintent.replication.lengths import Lengths
from tap_leadintent.replication.plan import (
    DAY,
    LONGEST_UNREADABLE,
    Scope,
    Step,
    without_due,
)
from tap_leadintent.replication.protocol import Api, IgnoredRangeError, PageT
from tap_leadintent.replication.reader import Reader, WindowPage
from tap_leadintent.replication.windows import Windows

OLDEST_SIGNAL = 30 * DAY
"""If a later range has been read beyond a window of the first range, it is read again
after that window, from this many seconds before its start: the time of a record in a
later range may lie that long before the time at which it was found."""

_MOST_REPEATS = 3
"""How often a run reads again what seems to be incomplete of a range."""


class Hole(NamedTuple):
    """An interval that could not be read."""

    range_name: str
    interval: Interval
    """In UTC seconds since 1970."""
    error: BaseException | None
    """Why its oldest part could not be read."""

    @property
    def start(self) -> int:
        """Where it begins."""
        return self.interval[0]

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.interval[1]


@dataclass(eq=False, kw_only=True, repr=False)
class ReplicationRun(Generic[PageT]):
    """What one run reads of one stream by its time ranges.

    Call `begin`; then iterate over `read` for each range of `passes` in turn, write the
    rows of each page, and call `commit` after the last page of a window. In between,
    the bookmark always says what has been read and written. The docstring of the folder
    has an example.
    """

    api: Api[PageT]
    """The endpoint."""

    bookmark: Bookmark
    """What earlier runs have read; this run extends it."""

    scope: Scope
    """What is to be read."""

    now: int
    """When the run began by our clock, in UTC seconds since 1970."""

    complete_to: Callable[[], int]
    """Returns up to when a response can have been complete: `now`, or the API's time
    then if that is earlier. It may rise while responses arrive."""

    save: Callable[[], object]
    """Writes a STATE of the bookmark."""

    readers: int
    """The most requests that are sent at once."""

    at_once: Callable[[], int]
    """Returns how many may be sent at once now."""

    widest: int
    """The most seconds of a window."""

    may_be_too_new: Callable[[BaseException | None], bool] = bool
    """Whether an error may mean that the API cannot return the newest minutes yet."""

    has_strays: Callable[[str], bool] = lambda _: False
    """Returns whether the run has read a record of a range that lies far outside the
    interval that was requested."""

    budget: int | None = None
    """The most requests of the run, if they are bounded."""

    holes: list[Hole] = field(default_factory=list, init=False)
    """What could not be read, in the order in which it was tried."""

    unreadable_from: int | None = field(default=None, init=False)
    """The start of the newest minutes, in UTC seconds since 1970, if the API could not
    return them yet."""

    owed_before: int = field(default=0, init=False)
    """How many seconds of the ranges the last run left unread."""

    owed_at_begin: int = field(default=0, init=False)
    """How many seconds of the ranges the run has to read."""

    has_completed: bool = field(default=False, init=False)
    """Whether the run has covered anything."""

    completed: Coverage = field(default_factory=dict, init=False)
    """The intervals of each range that the run has read completely and written. Some
    may have left the coverage since."""

    _is_first_load: bool = field(default=True, init=False)
    """Whether no earlier run has completed anything."""

    _until: int = field(default=0, init=False)
    """The end of the time that the run reads, in UTC seconds since 1970."""

    _common_end: int | None = field(default=None, init=False)
    """The instant at which the coverage of all ranges ends, in UTC seconds since 1970.
    None while the first range is read."""

    _tried: set[str] = field(default_factory=set, init=False)
    """The ranges that the run has read once."""

    _has_read: bool = field(default=False, init=False)
    """Whether a page has arrived."""

    _ahead: dict[str, Reader[PageT]] = field(default_factory=dict, init=False)
    """The readers that have begun a range before the one before it has ended, by the
    name of the range that they have begun early."""

    _lengths: Lengths = field(init=False)
    """How long the windows are."""

    _watch: Watch[PageT] = field(init=False)
    """Compares what was read with what earlier runs have seen."""

    def __post_init__(self) -> None:
        """Take what the bookmark has kept."""
        self._lengths = Lengths(
            bookmark=self.bookmark,
            readers=self.readers,
            budget=self.budget,
        )
        self._watch = Watch(self.bookmark.seen)

    def begin(self) -> None:
        """Take what is due to be read again out of the coverage, and save that."""
        bookmark = self.bookmark
        self._is_first_load = bookmark.is_empty
        self._until = self.scope.until(self.now)
        if bookmark.planned is not None:
            self.owed_before = self._missing_seconds(bookmark.planned)
        bookmark.coverage = without_due(
            self.scope,
            bookmark.coverage,
            bookmark.planned,
            self.now,
        )
        self.owed_at_begin = self.owed()
        self._lengths.note_begin(self.scope.ranges_to_read[0])
        self.save()

    @property
    def has_short_windows(self) -> bool:
        """Whether runs before have ended before they completed enough of a range."""
        return self._lengths.are_short

    def passes(self) -> Generator[str]:
        """Yield the ranges to read, one after the other.

        What is read of a range may show that the API has ended queries too early. Then
        the first range with such queries is yielded again, and those that follow it.
        Close the generator if a range cannot be read.
        """
        try:
            yield from self._passes()
        finally:
            # Whatever has ended the last pass.
            self._stop_reading_ahead()

    def _passes(self) -> Iterator[str]:
        """Yield the ranges to read; see `passes`."""
        names = self.scope.ranges_to_read
        caps = self.bookmark.caps
        repeats = _MOST_REPEATS * len(names)
        number = 0
        while number < len(names):
            yield names[number]
            number += 1
            to_repeat: list[str] = []
            for name in names[:number]:
                suspects = caps.take_suspects(name)
                if suspects:
                    self._take_out(name, suspects)
                    to_repeat.append(name)
            if to_repeat and repeats:
                repeats -= 1
                number = names.index(to_repeat[0])
                self.save()

    def _take_out(
        self,
        range_name: str,
        suspects: Sequence[Interval],
    ) -> None:
        """Take intervals that may not be complete after all out of the coverage.

        Args:
            range_name: The range.
            suspects: Intervals of it.
        """
        for interval in suspects:
            covered = self.bookmark.coverage.get(range_name, [])
            remaining = intervals.subtract(covered, interval)
            self.bookmark.coverage[range_name] = remaining

    def read(self, range_name: str) -> Generator[WindowPage[PageT]]:
        """Read what is missing of a range.

        Args:
            range_name: The range.

        Yields:
            Each page, and an item without a page for each window that became a hole,
            oldest window first.

        Raises:
            Exception: The range cannot be read.
            IgnoredRangeError: All of it has been read, but the API ignores the range.
        """
        is_first = range_name == self.scope.ranges[0]
        if not is_first:
            # One instant ends all ranges, so that they cannot drift apart.
            self._common_end = self.complete_to()
            self._lengths.note_begin(range_name)
            self.save()
        reached = self.scope.start
        while parts := self._missing(range_name, (reached, self._until)):
            if not is_first:
                # To read a part may take later time of the range out of the coverage
                # (`_take_out_later`), so what is missing after it is found again.
                del parts[1:]
            yield from self._read(range_name, parts)
            reached = parts[-1][1]
        self._lengths.note_end(range_name)
        self._tried.add(range_name)
        self._leave_newest(range_name)
        self._raise_if_ignored(range_name)

    def _missing(
        self,
        range_name: str,
        requested: Interval,
    ) -> list[Interval]:
        known = self.bookmark.coverage.get(range_name, [])
        if range_name in self._tried:
            # Holes are tried once in a run.
            holes = self.bookmark.holes.get(range_name, [])
            known = intervals.union([*known, *holes])
        return intervals.missing(requested, known)

    def _read(
        self,
        range_name: str,
        parts: Sequence[Interval],
    ) -> Iterator[WindowPage[PageT]]:
        reader = self._ahead.pop(range_name, None)
        if not reader or reader.has_stopped:
            reader = self._reader(range_name, parts)
        windows = reader.steps[0]
        begun: Interval | None = None
        try:
            with closing(reader.read()) as items:
                for item in items:
                    if item.page is not None and item.window != begun:
                        begun = item.window
                        self._take_out_later(range_name, item.window)
                    self._watch.note(
                        range_name,
                        item.window,
                        item.page,
                        is_last=item.is_last,
                    )
                    if item.page is not None:
                        self._lengths.note_page(range_name)
                    if item.is_last:
                        # A run that is killed says nothing at its end. Readers may
                        # change the windows meanwhile, as this is an estimate.
                        self._note_density(range_name, windows)
                    yield item
        finally:
            self._has_read |= windows.has_read
            if windows.rounding.is_obeyed:
                self._watch.note_obeyed(range_name)
            if not windows.has_read:
                self._lengths.note_nothing(range_name)
            self._note_density(range_name, windows)

    def _note_density(self, range_name: str, windows: Windows) -> None:
        """Keep how dense records are where the run has come to, if it knows that."""
        if density := windows.pages_per_year():
            self.bookmark.pages_per_year[range_name] = density

    def _reader(
        self,
        range_name: str,
        parts: Sequence[Interval],
    ) -> Reader[PageT]:
        """Return the reader of some parts of a range.

        If not all of its threads have something to do, they begin the next range early.
        That range must not be covered at all, so that nothing that is written meanwhile
        can change what is to be read of it. A run that may end early begins no range
        early, because it needs its requests for the first one.

        This range may have to be read again after the next one was begun early. Then
        the same threads read it first, so that no more requests are sent at once.
        """
        readers, _ = self._lengths.bounds(range_name)
        windows = self._windows(range_name, parts)
        for begun in self._ahead.values():
            if not begun.has_stopped:
                begun.read_first(windows)
                return begun
        reader = Reader(
            api=self.api,
            steps=[windows],
            at_once=lambda: min(self._lengths.readers_now(range_name), self.at_once()),
        )
        names = self.scope.ranges_to_read
        number = names.index(range_name)
        following = names[number + 1 :]
        may_end_early = self.budget or self._lengths.are_short
        if not following or may_end_early or readers == 1:
            return reader
        name = following[0]
        if name not in self._ahead and not self.bookmark.coverage.get(name):
            requested = (self.scope.start, self._until)
            whole = self._missing(name, requested)
            next_windows = self._windows(name, whole)
            reader.steps.append(next_windows)
            self._ahead[name] = reader
        return reader

    def _windows(
        self,
        range_name: str,
        parts: Sequence[Interval],
    ) -> Windows:
        readers, most_pages = self._lengths.bounds(range_name)
        return Windows(
            self._step(range_name, parts),
            caps=self.bookmark.caps,
            widest=self.widest,
            readers=readers,
            now=self.now,
            most_pages=most_pages,
        )

    def _raise_if_ignored(self, range_name: str) -> None:
        """Ask whether the API ignores a range, if there is any sign of it.

        Args:
            range_name: A range whose rows have been written.

        Raises:
            IgnoredRangeError: It does.
        """
        has_strays = self.has_strays(range_name)
        if self._watch.is_doubtful(range_name, has_sign=has_strays):
            is_obeyed = is_range_obeyed(
                self.api,
                range_name,
                now=self.now,
                widest=self.widest,
                limit=self.bookmark.caps.limit,
            )
            if is_obeyed is False:
                self._watch.note_ignored(range_name, self.now)
                self.save()
                raise IgnoredRangeError(range_name)
            if is_obeyed:
                self._watch.note_obeyed(range_name)
        self._watch.remember(range_name)

    def _step(
        self,
        range_name: str,
        parts: Sequence[Interval],
    ) -> Step:
        """Return the step that reads parts of a range."""
        known_holes = self.bookmark.holes.get(range_name, [])
        holes: list[Interval] = []
        for part in parts:
            holes += intervals.overlap(known_holes, part)
        return Step(
            range_name=range_name,
            intervals=parts,
            holes=holes,
            is_first_load=self._is_first_load,
            pages_per_year=self.bookmark.pages_per_year.get(range_name, 0),
        )

    def _take_out_later(
        self,
        range_name: str,
        window: Interval,
    ) -> None:
        """Take out of the coverage what must be read again after a window.

        Several windows may return the same record. The later a window of the last range
        is, the newer is the version of the record that it returns. If such a window was
        read before this one, its rows must be written again after those of this window.

        Args:
            range_name: The range of the window.
            window: A window whose rows are written next.
        """
        start, end = window
        has_changed = False
        for later in self.scope.ranges[1:]:
            since = end if later == range_name else start - OLDEST_SIGNAL
            covered = self.bookmark.coverage.get(later)
            if not covered:
                continue
            _, newest = covered[-1]
            if newest > start:
                has_changed |= self.bookmark.take_out(later, since)
        if has_changed:
            self.save()

    def commit(
        self,
        range_name: str,
        item: WindowPage[PageT],
    ) -> None:
        """Cover a window, as all of its rows have been written, or note a hole.

        Args:
            range_name: The range.
            item: The last page of the window, or the end of one that became a hole.
        """
        if item.page is None:
            self.bookmark.add_hole(range_name, item.window)
            self._add_hole(range_name, item)
            return
        until = self._common_end
        if until is None:
            until = self.complete_to()
        if not self.bookmark.cover(range_name, item.window, until):
            return
        self.has_completed = True
        completed = self.completed.setdefault(range_name, [])
        intervals.add(completed, item.window)
        self._lengths.note_completed(range_name)
        self._take_out(range_name, self.bookmark.caps.suspects(range_name))

    def _add_hole(
        self,
        range_name: str,
        item: WindowPage[PageT],
    ) -> None:
        """Note a hole, or make the last one longer if it ends where this one begins."""
        start, end = item.window
        last = self._last_hole(range_name)
        if last and last.end == start:
            joined = (last.start, end)
            self.holes[-1] = last._replace(interval=joined)
        else:
            hole = Hole(range_name, item.window, item.error)
            self.holes.append(hole)

    def _last_hole(self, range_name: str) -> Hole | None:
        """Return the newest hole, if it lies in this range."""
        if not self.holes:
            return None
        last = self.holes[-1]
        return last if last.range_name == range_name else None

    def _leave_newest(self, range_name: str) -> None:
        """Let the run end before the newest minutes if the API cannot return them yet.

        They do not count as a hole then, because the next run reads them anyway.
        """
        last = self._last_hole(range_name)
        if not last or last.end != self._until or not self._has_read:
            return
        if last.end - last.start > LONGEST_UNREADABLE:
            return
        if not self.may_be_too_new(last.error):
            return
        self.holes.pop()
        holes = self.bookmark.holes[range_name]
        self.bookmark.holes[range_name] = intervals.subtract(holes, last.interval)
        self.unreadable_from = last.start
        self._until = last.start
        # Other ranges would be read up to a later instant than this one.
        self._stop_reading_ahead()

    def _stop_reading_ahead(self) -> None:
        """Send no further request for ranges that were begun early."""
        for reader in self._ahead.values():
            reader.stop()

    def newest_completed(self, range_name: str) -> Interval | None:
        """Return the newest interval of a range that this run has read completely.

        Args:
            range_name: The range.

        Returns:
            The longest one that ends at the newest instant that the run has covered;
            None if it has covered none.
        """
        covered = self.bookmark.coverage.get(range_name, [])
        parts: list[Interval] = []
        for interval in self.completed.get(range_name, []):
            parts += intervals.overlap(covered, interval)
        return parts[-1] if parts else None

    def owed(self) -> int:
        """Return how many seconds of the ranges are still to be read."""
        return self._missing_seconds(self._until)

    def _missing_seconds(self, until: int) -> int:
        requested = (self.scope.start, until)
        seconds = 0
        for name in self.scope.ranges_to_read:
            for start, end in self._missing(name, requested):
                seconds += end - start
        return seconds
