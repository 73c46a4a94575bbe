"""Reads a schedule: one thread decides, others send one request at a time."""

import logging
from collections.abc import Callable, Generator
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Any, NamedTuple, TypeVar

from tap_leadintent.api.page import Page
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.schedule import Reading, Schedule
from tap_leadintent.replication.windows import Window

Fetch = Callable[[dict[str, Any], str | None, Event], Page]

T = TypeVar("T")

_WAIT_SECONDS = 0.5
"""The longest uninterrupted wait for a page. More would end a run later after a signal;
less would wake the thread more often."""


class Answer(NamedTuple):
    """The answer to a request."""

    reading: Reading
    """The window that the request was sent for."""

    result: Page | BaseException
    """The page, or why the request failed."""


class Released(NamedTuple):
    """An emitted page that takes no memory any more."""

    size: int


def next_item(items: SimpleQueue[T], check: Callable[[], None]) -> T:
    """Wait for an item of a queue, so that a signal can end the wait.

    Args:
        items: The queue.
        check: Called before and during the wait; raises if a signal came.

    Returns:
        The item.
    """
    while True:
        check()
        with suppress(Empty):
            return items.get(timeout=_WAIT_SECONDS)


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
        """Connect the parts. Threads are started by the iterator.

        Args:
            schedule: What to read; nothing else may use it from here on.
            fetch: Sends a request, see `Client.fetch`; the event is set when the page
                is not wanted any more.
            check: Called before and while a page is awaited; raises if a signal came.
            logger: Gets a warning if the system allows fewer threads than readers.
        """
        self._schedule = schedule
        self._fetch = fetch
        self._check = check
        self._logger = logger
        self._readers = 0
        """How many threads send requests."""
        self.stopped = Event()
        """Set when no page is wanted any more."""
        self.requests: SimpleQueue[Reading | None] = SimpleQueue()
        """The windows whose next request is to be sent; None ends a thread."""
        self.events: SimpleQueue[Answer | Released | None] = SimpleQueue()
        """What has happened, for `step`; None ends the reading."""
        self.pages: SimpleQueue[tuple[Window, Page] | BaseException | None]
        self.pages = SimpleQueue()
        """What the iterator gives or raises; None is the end."""

    def __iter__(self) -> Generator[tuple[Window, Page]]:
        """Start the threads, and give pages in order.

        Yields:
            Each page, with its window; see `Schedule.pages_to_emit`.

        Raises:
            StreamError: The system allows no thread.
            BaseException: A window cannot be read, after all older windows.
            SystemExit: A signal came while a page was awaited.
        """
        try:
            self._start_threads()
            # Wakes the coordinating thread: nothing has been requested yet.
            self.events.put(Released(0))
            while (item := next_item(self.pages, self._check)) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
                _, page = item
                self.events.put(Released(page.size))
        finally:
            self.stopped.set()
            self.events.put(None)

    def step(self, event: Answer | Released) -> bool:
        """Decide what follows from an event: pages to emit and requests to send.

        Args:
            event: The event.

        Returns:
            Whether to go on.
        """
        schedule = self._schedule
        try:
            if isinstance(event, Answer):
                schedule.take(event.reading, event.result)
            else:
                schedule.release(event.size)
            for item in schedule.pages_to_emit():
                self.pages.put(item)
            for reading in schedule.requests():
                self.requests.put(reading)
        except BaseException as error:  # noqa: BLE001 - raised by the iterator
            self.pages.put(error)
            return False
        if schedule.is_finished:
            self.pages.put(None)
        return not schedule.is_finished

    def _start_threads(self) -> None:
        """Start the threads, or as many of them as the system allows."""
        wanted = self._schedule.readers
        with suppress(RuntimeError, MemoryError):
            Thread(target=self._decide, name="coordinator", daemon=True).start()
            for number in range(1, wanted + 1):
                Thread(target=self._read, name=f"reader {number}", daemon=True).start()
                self._readers += 1
        if not self._readers:
            msg = "the operating system allows no further thread; raise its limit"
            raise StreamError(msg)
        if self._readers < wanted:
            self._logger.warning(
                "Only %d of %d windows are read at once; raise the limit of threads",
                *(self._readers, wanted),
            )

    def _decide(self) -> None:
        while (event := self.events.get()) and self.step(event):
            del event  # It may hold a page while the next one is waited for.
        for _ in range(self._readers):
            self.requests.put(None)

    def _read(self) -> None:
        while (reading := self.requests.get()) is not None:
            self.events.put(Answer(reading, self._answer(reading)))

    def _answer(self, reading: Reading) -> Page | BaseException:
        chain = reading.chain
        try:
            return self._fetch(chain.fields, chain.current_value, self.stopped)
        except BaseException as error:  # noqa: BLE001 - raised in its place
            return error
