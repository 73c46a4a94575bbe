"""Reads several windows at once, each by a thread."""

from __future__ import annotations

import time
from _thread import start_new_thread
from contextlib import suppress
from functools import partial
from threading import Event, Thread
from typing import TYPE_CHECKING

from tap_leadintent.api.timeout import hang_up
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.page_buffer import PageBuffer, StoppedError
from tap_leadintent.replication.range_requests import TooWideError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check
    from tap_leadintent.replication.reading import Reading
    from tap_leadintent.replication.windows import Window, Windows

_NAP = 0.1
"""Seconds between two tries to end threads. More delays the end of a stream; less costs
processor time."""

_PATIENCE = 5.0
"""Seconds that threads have to begin, or to end.

More would hold a run for threads that died, or that look up a host's address; less
would leave threads behind, whose connections and memory the next stream needs.
"""

_PATIENCE_AFTER_SIGNAL = 0.5
"""Seconds that threads have to end after a signal. More delays the last STATE; less
would leave more threads behind while it is written."""


class Prefetch:
    """Threads that read windows, each its cursor chain from the first page to the last.

    An error in a thread is raised where its window's next page is asked for, after all
    that comes before it; nothing beyond that window is read any more. What breaks the
    reading itself is raised before the next window at the latest.
    """

    def __init__(
        self,
        windows: Windows,
        read: Callable[[Window, Check], Iterator[Page]],
        *,
        readers: int,
        check: Check,
    ) -> None:
        """Start no thread yet.

        Args:
            windows: What to read; nothing else may use it from here on.
            read: Reads a window's chain; its second argument is to be called before
                each request and in waits, and raises to end the chain.
            readers: How many threads read.
            check: Called in waits; raises to end the run.
        """
        self._read = read
        self._check = check
        self._buffer = PageBuffer(
            windows, check=check, check_threads=self._check_threads
        )
        self._readers = readers
        self._threads: list[Thread] = []
        self._are_started = Event()

    def __enter__(self) -> Self:
        """Start the threads, or as many of them as the system allows.

        Raises:
            StreamError: It allows none.
        """
        # In a thread of its own: `Thread.start` waits forever for one that dies while
        # it starts, as it may when memory is short.
        with suppress(MemoryError, RuntimeError):
            start_new_thread(self._start, ())
            self._are_started.wait(_PATIENCE)
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
        self._are_started.set()

    def __exit__(self, *_: object) -> None:
        """Stop the threads."""
        self.stop()

    @property
    def readers(self) -> int:
        """How many threads could be started."""
        return len(self._threads)

    def __iter__(self) -> Iterator[tuple[Window, Iterator[Page]]]:
        """Give each window with its pages; see `PageBuffer`."""
        return iter(self._buffer)

    def stop(self) -> None:
        """End all reading at once; pages that wait to be handed over are forgotten."""
        if not self._buffer.stop():
            return
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

    def _check_threads(self) -> None:
        if not any(thread.is_alive() for thread in self._threads):
            msg = (
                "the threads that read have died, as memory is short; lower concurrency"
            )
            raise StreamError(msg)

    def _work(self) -> None:
        try:
            while (reading := self._buffer.begin()) is not None:
                self._fill(reading)
        except (StoppedError, SystemExit):
            # A signal also ends the main thread's wait for pages.
            return
        except BaseException as error:  # noqa: BLE001 - raised where it matters
            self._buffer.fail(error)

    def _fill(self, reading: Reading) -> None:
        buffer = self._buffer
        try:
            for page in self._read(reading.window, partial(buffer.check, reading)):
                if not buffer.put(reading, page):
                    return
        except TooWideError:
            buffer.narrow(reading)
        except BaseException as error:  # noqa: BLE001 - raised where it matters
            buffer.done(reading, error)
        else:
            buffer.done(reading)
