"""Decides what is requested next, and which pages are handed over, oldest first."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from tap_leadintent.api.page import Page
from tap_leadintent.api.pagination import Chain
from tap_leadintent.errors import TooWideError
from tap_leadintent.replication.windows import Window, Windows

MOST_BYTES = 24 * 2**20
"""Bytes of undecoded pages that may wait, of all windows together. More takes more
memory; less leaves readers idle while the oldest window is read."""


@dataclass(eq=False)
class Reading:
    """A window that is being read."""

    window: Window

    chain: Chain
    """What it asks for next."""

    pages: deque[Page] = field(default_factory=deque)
    """Those that wait to be handed over."""

    is_asking: bool = False
    """Whether a request is under way."""

    has_ended: bool = False
    """Whether its last page has come, or cannot come."""

    error: BaseException | None = None
    """Why the last page cannot come, if so."""


class Schedule:
    """Cuts work into single requests; one thread alone uses it.

    An error comes at its place: after all that lies before it.
    """

    def __init__(self, windows: Windows, begin: Callable[[Window], Chain]) -> None:
        """Begin with nothing requested.

        Args:
            windows: What to read; nothing else may use it from here on.
            begin: Gives the cursor chain of a window.
        """
        self._windows = windows
        self._begin = begin
        self.readers = windows.readers
        """How many requests may be under way."""
        self._readings: list[Reading] = []
        """Sorted by where their windows begin."""
        self._bytes_handed_over = 0
        """What pages take that the main thread has not finished with."""

    @property
    def is_finished(self) -> bool:
        """Whether everything has been handed over."""
        return self._windows.oldest_left is None and not self._readings

    def requests(self) -> Iterator[Reading]:
        """Give each reading whose next request is to be sent now.

        Yields:
            The reading; `take` is to be called with it afterwards.
        """
        while sum(not each.has_ended for each in self._readings) < self.readers:
            if not self._is_room(None) or not (window := self._windows.next()):
                break
            reading = Reading(window, self._begin(window))
            insort(self._readings, reading, key=lambda each: each.window)
        for reading in self._readings:
            if not (reading.is_asking or reading.has_ended) and self._is_room(reading):
                reading.is_asking = True
                yield reading

    def take(self, reading: Reading, answer: Page | BaseException) -> None:
        """Take what a reading has asked for.

        Args:
            reading: The reading.
            answer: The page, or why the request failed.
        """
        reading.is_asking = False
        try:
            if isinstance(answer, BaseException):
                reading.chain.refuse(answer)
            else:
                self._add(reading, reading.chain.take(answer))
        except TooWideError:
            self._windows.narrow(reading.window)
            self._readings.remove(reading)
        except BaseException as error:  # noqa: BLE001 - raised at its place
            reading.has_ended, reading.error = True, error
            self._windows.done(reading.window, records=0)

    def handed_over(self) -> Iterator[tuple[Window, Page]]:
        """Give the pages whose turn has come.

        Yields:
            Each page, with its window.

        Raises:
            BaseException: The window whose turn has come cannot be read.
        """
        while (first := self._oldest()) and (first.has_ended or first.window.is_kept):
            while first.pages:
                self._bytes_handed_over += first.pages[0].size
                yield first.window, first.pages.popleft()
            if first.error:
                raise first.error
            if not first.has_ended:
                return
            self._readings.remove(first)

    def make_room(self, size: int) -> None:
        """Learn that a page that was handed over takes no memory any more.

        Args:
            size: Its size, in bytes.
        """
        self._bytes_handed_over -= size

    def _oldest(self) -> Reading | None:
        """Find the window that is to be handed over next, if it has been begun."""
        if not self._readings:
            return None
        first, left = self._readings[0], self._windows.oldest_left
        return first if left is None or first.window.start < left else None

    def _is_room(self, reading: Reading | None) -> bool:
        """Tell whether a page may be asked for, of a window or of a new one."""
        waiting = sum(page.size for each in self._readings for page in each.pages)
        if waiting + self._bytes_handed_over < MOST_BYTES:
            return True
        if self._bytes_handed_over:
            # There will be room when the main thread has taken it.
            return False
        # The others wait for the oldest, which may be begun only after they came back.
        oldest = self._oldest()
        return oldest is None or reading is oldest

    def _add(self, reading: Reading, page: Page) -> None:
        reading.pages.append(page)
        if not page.cursor.has_more:
            reading.has_ended = True
            self._windows.done(reading.window, records=len(page.raw))
        elif not self._windows.goes_on(reading.window, records=len(page.raw)):
            # What it held is read again in others.
            self._readings.remove(reading)
