"""Pages that wait between the threads that read windows and the one that emits them."""

from __future__ import annotations

from bisect import insort
from threading import Condition, Lock
from typing import TYPE_CHECKING

from tap_leadintent.interruption import CHECK_SECONDS
from tap_leadintent.replication.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.replication.windows import Window, Windows

MOST_BYTES = 24 * 2**20
"""Bytes of undecoded pages that may wait, of all windows together. More takes more
memory; less lets threads wait while the oldest window is read."""


class StoppedError(BaseException):
    """Ends the reading of pages that will not be handed over."""


class PageBuffer:
    """Hands windows out to threads, takes their pages, and gives them in order.

    All that threads share is here, behind one lock.
    """

    def __init__(self, windows: Windows, *, check: Check, check_threads: Check) -> None:
        """Start without a page.

        Args:
            windows: What to read; nothing else may use it from here on.
            check: Called in waits; raises to end the run.
            check_threads: Called while a page is awaited; raises if none can come.
        """
        self._windows = windows
        self._check = check
        self._check_threads = check_threads
        self._lock = Lock()
        self._page_or_end = Condition(self._lock)
        """Notified when a page or the end of a window has come."""
        self._room = Condition(self._lock)
        """Notified when there is room for pages again."""
        self._work = Condition(self._lock)
        """Notified when there may be another window to hand out."""
        self._readings: list[Reading] = []
        """Sorted by where their windows begin."""
        self._bytes = 0
        """What all pages take that wait."""
        self._end: BaseException | type[StoppedError] | None = None
        """Why nothing more is read or handed over, once it is so."""

    # For the threads

    def begin(self) -> Reading | None:
        """Hand out a window, as soon as there is one to read and room for its pages.

        Returns:
            The window's reading; None when nothing is left to read.

        Raises:
            StoppedError: It was stopped.
            SystemExit: A signal came.
        """
        with self._lock:
            while not (self._end or self._windows.finished):
                left = self._windows.oldest_left
                if left is not None and self._is_beyond_failure(left):
                    return None
                if self._bytes >= MOST_BYTES and self._oldest() is not None:
                    self._await(self._room)
                elif (window := self._windows.next()) is not None:
                    reading = Reading(window)
                    insort(self._readings, reading, key=lambda each: each.window)
                    return reading
                else:
                    self._await(self._work)
        return None

    def check(self, reading: Reading) -> None:
        """Check before each request for a window, and in waits, whether to go on.

        Args:
            reading: The window's reading.

        Raises:
            StoppedError: The window's pages will not be handed over.
            SystemExit: A signal came.
        """
        self._check()
        if self._end or self._is_beyond_failure(reading.window.start):
            raise StoppedError

    def put(self, reading: Reading, page: Page) -> bool:
        """Add a page, and wait until there is room for the next one.

        Args:
            reading: Its window's.
            page: The page.

        Returns:
            Whether the window is kept. One that is given up is forgotten; what it held
            is read again in others.

        Raises:
            StoppedError: It was stopped.
            SystemExit: A signal came.
        """
        with self._lock:
            if self._end:
                raise self._end
            reading.add(page)
            self._bytes += page.size
            self._page_or_end.notify_all()
            if not page.cursor.has_more:
                return True
            if not self._windows.goes_on(reading.window, records=page.count):
                self._forget(reading)
                self._notify_all()
                return False
            self._work.notify_all()
            while not self._has_room(reading):
                self._await(self._room)
        return True

    def narrow(self, reading: Reading) -> None:
        """Forget a window that the API refused; it is read again in narrower ones.

        Args:
            reading: The window's reading, without a page.
        """
        with self._lock:
            if not self._end:
                self._windows.narrow(reading.window)
                self._forget(reading)
                self._notify_all()

    def done(self, reading: Reading, error: BaseException | None = None) -> None:
        """Note that a window's last page has come, or cannot come.

        Args:
            reading: The window's reading.
            error: Why it cannot come, if so; raised where the page is asked for.
        """
        with self._lock:
            reading.has_ended, reading.error = True, error
            self._windows.done(reading.window, records=reading.last_records)
            self._notify_all()

    # For the thread that emits the pages

    def __iter__(self) -> Iterator[tuple[Window, Iterator[Page]]]:
        """Give each window, oldest first, with its pages, which are to be read first.

        Yields:
            A window and its pages as they come.

        Raises:
            StoppedError: It was stopped before; what is left was never handed over.
            SystemExit: A signal came.
        """
        while (reading := self._next_reading()) is not None:
            yield reading.window, self._pages(reading)

    def fail(self, error: BaseException) -> None:
        """Hand nothing over from now on, because reading has broken down.

        Args:
            error: Raised wherever a thread waits or asks for something.
        """
        with self._lock:
            self._end = self._end or error
            self._notify_all()

    def stop(self) -> bool:
        """Hand nothing over from now on, and forget the pages that wait.

        Returns:
            Whether it had not been stopped before.
        """
        with self._lock:
            if self._end is StoppedError:
                return False
            self._end = StoppedError
            self._readings.clear()
            self._bytes = 0
            self._notify_all()
        return True

    # All that follows is called with the lock held, but for `_next_reading`, `_pages`.

    def _next_reading(self) -> Reading | None:
        with self._lock:
            while True:
                self._raise_if_ended()
                first = self._oldest()
                if first is None and self._windows.finished:
                    return None
                if first is not None and first.is_ready:
                    return first
                self._await_page()

    def _pages(self, reading: Reading) -> Iterator[Page]:
        while True:
            with self._lock:
                while not (reading.pages or reading.has_ended):
                    self._await_page()
                if not reading.pages:
                    break
                page = reading.pages.popleft()
                self._bytes -= page.size
                if self._bytes < MOST_BYTES / 2 or not reading.pages:
                    self._room.notify_all()
            yield page
        if reading.error:
            raise reading.error
        with self._lock:
            self._forget(reading)
            self._room.notify_all()

    def _oldest(self) -> Reading | None:
        """Find the window that is to be handed over next, if it has been begun."""
        if not self._readings:
            return None
        first, left = self._readings[0], self._windows.oldest_left
        return first if left is None or first.window.start < left else None

    def _is_beyond_failure(self, instant: int) -> bool:
        """Tell whether what begins at an instant comes after a window that failed."""
        return any(
            reading.error is not None and reading.window.start < instant
            for reading in self._readings
        )

    def _has_room(self, reading: Reading) -> bool:
        if self._bytes < MOST_BYTES:
            return True
        oldest = self._oldest()
        if oldest is None:
            # What lies before may be handed out only after these have come back.
            return True
        # The oldest window frees the room that the others wait for, once it is whole or
        # as its pages are taken.
        return reading is oldest and not reading.is_ready

    def _forget(self, reading: Reading) -> None:
        self._readings.remove(reading)
        self._bytes -= reading.size

    def _raise_if_ended(self) -> None:
        self._check()
        if self._end:
            raise self._end

    def _await(self, condition: Condition) -> None:
        self._raise_if_ended()
        condition.wait(CHECK_SECONDS)

    def _await_page(self) -> None:
        self._check_threads()
        self._await(self._page_or_end)

    def _notify_all(self) -> None:
        for condition in (self._page_or_end, self._room, self._work):
            condition.notify_all()
