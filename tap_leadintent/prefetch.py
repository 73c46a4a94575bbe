"""Reads several windows at once, and hands their pages over in the order of time."""

from __future__ import annotations

from collections import deque
from threading import Condition, Lock, Thread
from time import monotonic, process_time
from typing import TYPE_CHECKING

from tap_leadintent.deadline import hang_up

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

    from tap_leadintent.decoding import Page
    from tap_leadintent.pacing import Check
    from tap_leadintent.windows import Window, Windows

MOST_BYTES = 10 * 2**20
"""Bytes of undecoded pages that may wait, of all windows together.

When it is the network that everybody waits for, pages are packed to stay below.
"""

_BUSY = 0.5
"""Share of the time from which on the processor, not the network, sets the pace."""

_NAP = 0.1
_PATIENCE = 5.0
"""Seconds that a thread has to end."""


class _StoppedError(BaseException):
    """Ends a thread whose window nobody wants any more."""


class _Reading:
    """A window that is being read, and its pages that wait."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.pages: deque[Page] = deque()
        self.is_whole = False
        self.error: BaseException | None = None


def _start(reading: _Reading) -> int:
    return reading.window.start


class Prefetch:
    """Threads that read windows, each its cursor chain from the first page to the last.

    What a thread runs into is raised where its window's next page is asked for, after
    all that comes before it; nothing beyond that window is read any more.
    """

    def __init__(
        self,
        windows: Windows,
        read: Callable[[Window, Check], Iterator[Page]],
        *,
        readers: int,
        check: Check,
    ) -> None:
        """Begin nothing yet.

        Args:
            windows: What to read; nobody else may touch it from here on.
            read: Reads a window's chain; its second argument is to be called before
                each request and in waits, and raises to end the chain.
            readers: How many threads read.
            check: Called now and then; raises to end the run.
        """
        self._windows = windows
        self._read = read
        self._check = check
        self._lock = Lock()
        self._news = Condition(self._lock)
        """Told when a page or an end has come, which the consumer waits for."""
        self._room = Condition(self._lock)
        """Told when there is room for pages again, which threads wait for."""
        self._work_to_do = Condition(self._lock)
        """Told when there may be another window, which other threads wait for."""
        self._readings: list[_Reading] = []
        self._bytes = 0
        self._stopped = False
        self._worked = self._begun = 0.0
        self._threads = [
            Thread(target=self._work, name=f"reader {number}", daemon=True)
            for number in range(1, readers + 1)
        ]

    def __enter__(self) -> Self:
        """Start the threads."""
        self._worked, self._begun = process_time(), monotonic()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the threads."""
        self.stop()

    def stop(self) -> None:
        """End all reading at once; what has been read is forgotten."""
        with self._lock:
            self._stopped = True
            self._tell_all()
        for _ in range(int(_PATIENCE / _NAP)):
            if not any(thread.is_alive() for thread in self._threads):
                return
            hang_up(self._threads)
            for thread in self._threads:
                thread.join(_NAP / len(self._threads))

    def end_by(self, latest: int) -> None:
        """Begin no window beyond an instant.

        Args:
            latest: The instant, in seconds since 1970.
        """
        with self._lock:
            self._windows.end_by(latest)
            self._tell_all()

    def __iter__(self) -> Iterator[tuple[Window, Iterator[Page]]]:
        """Give each window, oldest first, with its pages, which are to be read first.

        Yields:
            A window and its pages as they come.

        Raises:
            SystemExit: A signal came.
        """
        while (reading := self._next_reading()) is not None:
            yield reading.window, self._pages(reading)

    def _next_reading(self) -> _Reading | None:
        with self._lock:
            while True:
                first = self._oldest()
                if first is None and self._windows.finished:
                    return None
                if first is not None and (
                    first.window.most_pages is None or first.is_whole or first.error
                ):
                    return first
                self._await(self._news)

    def _pages(self, reading: _Reading) -> Iterator[Page]:
        while True:
            with self._lock:
                while not (reading.pages or reading.is_whole or reading.error):
                    self._await(self._news)
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
            self._readings.remove(reading)
            self._room.notify_all()

    def _tell_all(self) -> None:
        for condition in (self._news, self._room, self._work_to_do):
            condition.notify_all()

    def _await(self, condition: Condition) -> None:
        self._check()
        if self._stopped:
            raise _StoppedError
        condition.wait(_NAP)

    def _oldest(self) -> _Reading | None:
        """Find the window that is to be handed over next, if it has been begun."""
        if not self._readings:
            return None
        first = min(self._readings, key=_start)
        left = self._windows.oldest_left
        return first if left is None or first.window.start < left else None

    def _work(self) -> None:
        try:
            while (reading := self._begin()) is not None:
                self._fill(reading)
        except (_StoppedError, SystemExit):
            # Of a signal, whoever asks for pages is told, too.
            return

    def _begin(self) -> _Reading | None:
        with self._lock:
            while not (self._stopped or self._windows.finished):
                left = self._windows.oldest_left
                if left is not None and self._is_beyond_failure(left):
                    return None
                if self._bytes >= MOST_BYTES and self._oldest() is not None:
                    self._make_room()
                elif (window := self._windows.next()) is not None:
                    reading = _Reading(window)
                    self._readings.append(reading)
                    return reading
                else:
                    self._await(self._work_to_do)
        return None

    def _fill(self, reading: _Reading) -> None:
        def check() -> None:
            self._check()
            if self._stopped or self._is_beyond_failure(reading.window.start):
                raise _StoppedError

        window = reading.window
        requests = records = 0
        error: BaseException | None = None
        try:
            for page in self._read(window, check):
                requests += 1
                records += page.count
                if page.cursor.has_more and requests == window.most_pages:
                    self._give_up(reading)
                    return
                self._add(reading, page)
        except BaseException as caught:  # noqa: BLE001 - raised where it matters
            error = caught
        with self._lock:
            reading.is_whole, reading.error = error is None, error
            self._windows.done(window, records=records, requests=requests)
            self._tell_all()

    def _is_beyond_failure(self, instant: int) -> bool:
        """Tell whether what begins at an instant comes after a window that failed."""
        return any(
            reading.error is not None and reading.window.start < instant
            for reading in self._readings
        )

    def _give_up(self, reading: _Reading) -> None:
        with self._lock:
            self._bytes -= sum(page.size for page in reading.pages)
            self._readings.remove(reading)
            self._windows.give_up(reading.window)
            self._tell_all()

    def _add(self, reading: _Reading, page: Page) -> None:
        with self._lock:
            reading.pages.append(page)
            self._bytes += page.size
            self._news.notify_all()
            if not page.cursor.has_more:
                return
            self._windows.goes_on(reading.window)
            self._work_to_do.notify_all()
            while not self._may_go_on(reading):
                self._make_room()

    def _make_room(self) -> None:
        if not (self._waits_for_the_network() and self._pack()):
            self._await(self._room)

    def _waits_for_the_network(self) -> bool:
        """Tell whether the next page is awaited, with a processor that has time."""
        oldest = self._oldest()
        if oldest is not None and (oldest.pages or oldest.is_whole):
            return False
        worked, passed = process_time() - self._worked, monotonic() - self._begun
        return worked < _BUSY * passed

    def _pack(self) -> bool:
        """Pack the page that is needed last; tell whether there was one."""
        for reading in sorted(self._readings, key=_start, reverse=True):
            for page in reversed(reading.pages):
                before = page.size
                page.pack()
                self._bytes += page.size - before
                if page.size < before:
                    return True
        return False

    def _may_go_on(self, reading: _Reading) -> bool:
        if self._bytes < MOST_BYTES or reading.window.most_pages is not None:
            return True
        # The window that is handed over now frees the room that the others wait for.
        return not reading.pages and reading is self._oldest()
