"""Reads several windows at once, and hands their pages over in the order of time."""

from __future__ import annotations

import time
from _thread import start_new_thread
from contextlib import suppress
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING

from tap_leadintent.api.timeout import hang_up
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.load import Load
from tap_leadintent.replication.page_buffer import Backlog

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import Self

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.replication.page_buffer import Reading
    from tap_leadintent.replication.windows import Window, Windows

MOST_BYTES = 8 * 2**20
"""Bytes of undecoded pages that may wait, of all windows together.

When it is the network that everybody waits for, pages are packed to stay below.
"""

_BUSY = 0.5
"""Share of the time from which on the processor, not the network, sets the pace."""

_NAP = 0.1
_PATIENCE = 5.0
"""Seconds that threads have to begin, or to end.

More would hold a run for threads that died, or that look up a host's address; less
would leave threads behind, whose connections and memory the next stream needs.
"""

_PATIENCE_AFTER_SIGNAL = 0.5
"""Seconds that threads have to end after a signal, when only the last STATE is left."""


class StoppedError(BaseException):
    """Ends whoever goes on with what nobody wants any more."""


class Prefetch:
    """Threads that read windows, each its cursor chain from the first page to the last.

    What a thread runs into is raised where its window's next page is asked for, after
    all that comes before it; nothing beyond that window is read any more. What breaks
    the reading itself is raised before the next window at the latest.
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
        self._backlog = Backlog()
        self._load = Load()
        self._end: BaseException | type[StoppedError] | None = None
        """Why nothing more is read or handed over, once it is so."""
        self._readers = readers
        self._threads: list[Thread] = []
        self._are_started = False

    def __enter__(self) -> Self:
        """Start the threads, or as many of them as the system allows.

        Raises:
            StreamError: It allows none.
        """
        # By a thread of its own: `Thread.start` waits forever for one that dies while
        # it starts, as it may when memory is short.
        with suppress(MemoryError, RuntimeError):
            start_new_thread(self._start, ())
            with self._lock:
                self._news.wait_for(lambda: self._are_started, _PATIENCE)
        if not self._threads:
            self.stop()
            msg = "the system allows no thread to read with; raise its limit of threads"
            raise StreamError(msg)
        return self

    def _start(self) -> None:
        with suppress(MemoryError, RuntimeError):
            for number in range(1, self._readers + 1):
                name = f"reader {number}"
                thread = Thread(target=self._work, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)
        with self._lock:
            self._are_started = True
            self._news.notify_all()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the threads."""
        self.stop()

    @property
    def readers(self) -> int:
        """How many threads could be started."""
        return len(self._threads)

    def stop(self) -> None:
        """End all reading at once; what waits to be handed over is forgotten."""
        with self._lock:
            if self._end is StoppedError:
                return
            self._end = StoppedError
            self._backlog.clear()
            self._tell_all()
        threads = tuple(self._threads)
        begun = time.monotonic()
        while any(thread.is_alive() for thread in threads):
            if time.monotonic() - begun >= self._patience():
                return
            hang_up(threads)
            for thread in threads:
                thread.join(_NAP / len(threads))

    def _patience(self) -> float:
        try:
            self._check()
        except SystemExit:
            return _PATIENCE_AFTER_SIGNAL
        return _PATIENCE

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
            StoppedError: It was stopped before; what is left was never handed over.
            SystemExit: A signal came.
        """
        while (reading := self._next_reading()) is not None:
            yield reading.window, self._pages(reading)

    def _next_reading(self) -> Reading | None:
        with self._lock:
            while True:
                self._go_on()
                first = self._oldest()
                if first is None and self._windows.finished:
                    return None
                if first is not None and (
                    first.window.most_pages is None or first.is_whole or first.error
                ):
                    return first
                self._await_news()

    def _pages(self, reading: Reading) -> Iterator[Page]:
        while True:
            with self._lock:
                while not (reading.pages or reading.is_whole or reading.error):
                    self._await_news()
                if not reading.pages:
                    break
                page = self._backlog.take(reading)
                if self._backlog.bytes < MOST_BYTES / 2 or not reading.pages:
                    self._room.notify_all()
            yield page
        if reading.error:
            raise reading.error
        with self._lock:
            self._backlog.forget(reading)
            self._room.notify_all()

    def _tell_all(self) -> None:
        for condition in (self._news, self._room, self._work_to_do):
            condition.notify_all()

    def _go_on(self) -> None:
        self._check()
        if self._end:
            raise self._end

    def _await_news(self) -> None:
        self._go_on()
        if not any(thread.is_alive() for thread in self._threads):
            msg = (
                "the threads that read have died, as memory is short; lower concurrency"
            )
            raise StreamError(msg)
        self._news.wait(_NAP)

    def _await(self, condition: Condition) -> None:
        self._go_on()
        condition.wait(_NAP)

    def _oldest(self) -> Reading | None:
        """Find the window that is to be handed over next, if it has been begun."""
        first, left = self._backlog.oldest, self._windows.oldest_left
        is_next = first is not None and (left is None or first.start < left)
        return first if is_next else None

    def _work(self) -> None:
        try:
            while (reading := self._begin()) is not None:
                self._fill(reading)
        except (StoppedError, SystemExit):
            # Of a signal, whoever asks for pages is told, too.
            return
        except BaseException as error:  # noqa: BLE001 - raised where it matters
            with self._lock:
                self._end = self._end or error
                self._tell_all()

    def _begin(self) -> Reading | None:
        with self._lock:
            while not (self._end or self._windows.finished):
                left = self._windows.oldest_left
                if left is not None and self._backlog.is_beyond_failure(left):
                    return None
                if self._backlog.bytes >= MOST_BYTES and self._oldest() is not None:
                    self._make_room()
                elif (window := self._windows.next()) is not None:
                    return self._backlog.begin(window)
                else:
                    self._await(self._work_to_do)
        return None

    def _fill(self, reading: Reading) -> None:
        def check() -> None:
            self._check()
            if self._end or self._backlog.is_beyond_failure(reading.start):
                raise StoppedError

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

    def _give_up(self, reading: Reading) -> None:
        with self._lock:
            self._backlog.forget(reading)
            self._windows.give_up(reading.window)
            self._tell_all()

    def _add(self, reading: Reading, page: Page) -> None:
        with self._lock:
            self._backlog.put(reading, page)
            self._news.notify_all()
            if not page.cursor.has_more:
                return
            self._windows.goes_on(reading.window)
            self._work_to_do.notify_all()
            while not self._may_go_on(reading):
                self._make_room()

    def _make_room(self) -> None:
        if not (self._waits_for_the_network() and self._backlog.pack()):
            self._await(self._room)

    def _waits_for_the_network(self) -> bool:
        """Tell whether the next page is awaited, with a processor that has time."""
        oldest = self._oldest()
        if oldest is not None and (oldest.pages or oldest.is_whole):
            return False
        return self._load.share() < _BUSY

    def _may_go_on(self, reading: Reading) -> bool:
        if self._backlog.bytes < MOST_BYTES or reading.window.most_pages is not None:
            return True
        # The window that is handed over now frees the room that the others wait for.
        return not reading.pages and reading is self._oldest()
