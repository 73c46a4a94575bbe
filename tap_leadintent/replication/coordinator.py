"""Reads a schedule: one thread decides, others send one request at a time."""

import logging
from collections.abc import Callable, Generator
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any

from tap_leadintent.api.page import Page
from tap_leadintent.api.pagination import Chain
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.schedule import Reading, Schedule
from tap_leadintent.replication.windows import Window

Fetch = Callable[[dict[str, Any], str | None, Event], Page]

_WAIT_SECONDS = 0.5
"""The longest wait for a page in one piece. More would end a run later after a signal;
less would wake the thread more often."""


class Coordinator:
    """Threads that read a schedule for the thread that iterates over it.

    They share nothing but queues. In the end, none of them is waited for: its request
    may hang for as long as the timeout.
    """

    def __init__(
        self,
        schedule: Schedule,
        fetch: Fetch,
        check: Callable[[], None],
        logger: logging.Logger,
    ) -> None:
        """Start the threads, or as many of them as the system allows.

        Args:
            schedule: What to read; nothing else may use it from here on.
            fetch: Sends a request, see `Client.fetch`; the event is set when the page
                is not wanted any more.
            check: Called before and while a page is awaited; raises if a signal came.
            logger: Gets a warning if the system allows fewer threads.

        Raises:
            StreamError: The system allows no thread.
        """
        self._schedule = schedule
        self._fetch = fetch
        self._check = check
        self.stopped = Event()
        """Set when no page is wanted any more."""
        self._to_send: SimpleQueue[Reading | None] = SimpleQueue()
        self._events: SimpleQueue[Any] = SimpleQueue()
        """A reading with its page or error, the size of a page taken, None to end."""
        self._pages: SimpleQueue[Any] = SimpleQueue()
        """What `Schedule.handed_over` gives, an error, None at the end."""
        self.readers = 0
        """How many threads send requests."""
        with suppress(RuntimeError, MemoryError):
            Thread(target=self._decide, name="coordinator", daemon=True).start()
            for number in range(1, schedule.readers + 1):
                Thread(target=self._read, name=f"reader {number}", daemon=True).start()
                self.readers += 1
        if not self.readers:
            self.stop()
            msg = "the system allows no thread to read with; raise its limit of threads"
            raise StreamError(msg)
        if self.readers < schedule.readers:
            told = "Only %d of %d windows are read at once; raise the limit of threads"
            logger.warning(told, self.readers, schedule.readers)
        # Wakes the coordinator: nothing has been requested yet.
        self._events.put(0)

    def __iter__(self) -> Generator[tuple[Window, Page]]:
        """Give pages in order; see `Schedule.handed_over`.

        Yields:
            Each page, with its window.

        Raises:
            BaseException: A window cannot be read, after all that comes before it.
            SystemExit: A signal came while a page was awaited.
        """
        try:
            while (item := self._next_item()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
                _, page = item
                self._events.put(page.size)
        finally:
            self.stop()

    def stop(self) -> None:
        """End all reading; what waits is not handed over."""
        self.stopped.set()
        self._events.put(None)

    def _next_item(self) -> Any:  # noqa: ANN401 - see `_pages`
        while True:
            self._check()
            with suppress(Empty):
                return self._pages.get(timeout=_WAIT_SECONDS)

    def _decide(self) -> None:
        try:
            while (event := self._events.get()) is not None:
                if isinstance(event, int):
                    self._schedule.make_room(event)
                else:
                    self._schedule.take(*event)
                for item in self._schedule.handed_over():
                    self._pages.put(item)
                for reading in self._schedule.requests():
                    self._to_send.put(reading)
                if self._schedule.is_finished:
                    self._pages.put(None)
                    break
        except BaseException as error:  # noqa: BLE001 - raised by the iterator
            self._pages.put(error)
        for _ in range(self.readers):
            self._to_send.put(None)

    def _read(self) -> None:
        while (reading := self._to_send.get()) is not None:
            # No variable holds the page while the next reading is waited for.
            self._events.put((reading, self._answer(reading.chain)))

    def _answer(self, chain: Chain) -> Page | BaseException:
        try:
            return self._fetch(chain.fields, chain.current_value, self.stopped)
        except BaseException as error:  # noqa: BLE001 - raised at its place
            return error
