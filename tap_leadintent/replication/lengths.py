"""Chooses how long windows are, and how many are read at once.

A run may end at any instant: a quota is used up, or it is killed. What it has read of
windows that are not complete is lost then. So windows are short where runs have ended
before they completed enough. The bookmark says how short, for each range.
"""

from collections import Counter
from dataclasses import dataclass, field

from tap_leadintent.replication.bookmark import Bookmark
from tap_leadintent.replication.windows import MOST_PAGES, PAGES


@dataclass(eq=False, kw_only=True, repr=False)
class Lengths:
    """How long the windows of each range are, in this run and in the next one.

    Each range counts for itself: what was completed of another range, such as the last
    hour, is no progress here.
    """

    bookmark: Bookmark
    """Keeps what the next run has."""

    readers: int
    """The most requests that are sent at once."""

    budget: int | None
    """The most requests of the run, if they are bounded."""

    _most_pages: dict[str, int] = field(init=False)
    """For each range whose windows must be short, the most pages of one in this run."""

    _emitted: Counter[str] = field(default_factory=Counter, init=False)
    """How many pages of each range have been emitted."""

    def __post_init__(self) -> None:
        """Take what the runs before have left."""
        self._most_pages = {**self.bookmark.most_pages}

    @property
    def are_short(self) -> bool:
        """Whether runs before have ended before they completed enough of a range."""
        return bool(self._most_pages)

    def bounds(self, range_name: str) -> tuple[int, int]:
        """Return how many windows to read at once, and how many pages each may have.

        If the number of requests is limited, all windows that are begun together take
        at most half of it. If earlier runs have ended too early, fewer windows are
        begun together: what was read of the others is lost if the run ends before the
        oldest one is complete.

        Args:
            range_name: The range.
        """
        most_pages = self._most_pages_of(range_name)
        if self.budget is None:
            is_short = most_pages < MOST_PAGES
            readers = min(self.readers, most_pages) if is_short else self.readers
            return readers, most_pages
        half = self.budget // 2
        most_pages = max(1, min(most_pages, half))
        readers = max(1, min(self.readers, most_pages // PAGES))
        most_of_each = half // readers
        return readers, max(1, min(most_pages, most_of_each))

    def readers_now(self, range_name: str) -> int:
        """Return how many windows to read at once now.

        More readers read short windows as more has been emitted. So if the run ends
        early, it loses no more than it has emitted.

        Args:
            range_name: The range.
        """
        readers, most_pages = self.bounds(range_name)
        if self.budget is not None:
            return readers
        emitted = self._emitted[range_name] // most_pages
        return max(readers, min(self.readers, emitted))

    def note_begin(self, range_name: str) -> None:
        """Let the next run have shorter windows, until enough is completed.

        If the run is ended before that, the next one completes more of them.

        Args:
            range_name: The range that is read next.
        """
        most = self._most_pages_of(range_name)
        self._set_next(range_name, most // 2)

    def note_page(self, range_name: str) -> None:
        """Note that a page has been emitted.

        Args:
            range_name: Its range.
        """
        self._emitted[range_name] += 1

    def note_completed(self, range_name: str) -> None:
        """Choose how long the next run's windows are, when a window is completed.

        If this run ended now, what it has read of other windows would be lost. So the
        next run's windows are half as long until this run has emitted enough for every
        reader to complete one. They are twice as long if it has emitted enough for
        that, because many short windows cost more requests than a few long ones. They
        become as long as usual only when a run has completed the range: a run with
        usual windows needs more requests before it completes the first one.

        Args:
            range_name: The range of the window.
        """
        readers, most = self.bounds(range_name)
        pages = self._emitted[range_name]
        longer = min(2 * most, MOST_PAGES // 2)
        current = self._most_pages_of(range_name)
        if pages >= readers * longer:
            self._set_next(range_name, max(current, longer))
        elif pages >= readers * min(PAGES, most / 2):
            self._set_next(range_name, current)

    def note_nothing(self, range_name: str) -> None:
        """Let the next run have the same windows, as no page has arrived.

        An API that returns nothing does not ask for shorter windows.

        Args:
            range_name: The range that could not be read.
        """
        self._set_next(range_name, self._most_pages_of(range_name))

    def note_end(self, range_name: str) -> None:
        """Let the next run have usual windows, as all of a range has been read.

        Args:
            range_name: The range.
        """
        self._set_next(range_name, MOST_PAGES)

    def _most_pages_of(self, range_name: str) -> int:
        return self._most_pages.get(range_name, MOST_PAGES)

    def _set_next(self, range_name: str, pages: int) -> None:
        """Set how many pages a window of a range may have in the next run at most."""
        if pages < MOST_PAGES:
            self.bookmark.most_pages[range_name] = max(1, pages)
        else:
            self.bookmark.most_pages.pop(range_name, None)
