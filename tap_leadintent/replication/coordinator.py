"""Reads a schedule: one thread decides, others send one request at a time."""

import threading
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from tap_leadintent.api.page import Page
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.schedule import ActiveWindow, Schedule
from tap_leadintent.replication.windows import Window

Fetch = Callable[[dict[str, Any], str | None, threading.Event], Page]
Event = Callable[[], None]
"""Tells the schedule what has happened. The coordinating thread calls it."""

_WAIT_SECONDS = 0.5
"""The longest uninterrupted wait for a page. More would end a run later after a signal;
less would wake the thread more often."""


@dataclass(eq=False)
class Coordinator:
    """Threads that read a schedule for the thread that iterates over it.

    They share nothing but queues. In the end, none of them is waited for: its request
    may hang for as long as the timeout.
    """

    schedule: Schedule
    """What to read; nothing else may use it from here on."""

    fetch: Fetch
    """Sends a request, see `Client.fetch`; the event is set when the page is not wanted
    any more."""

    check: Callable[[], None]
    """Called before and while a page is awaited; raises if a signal came."""

    stopped: threading.Event
    """Set when no page is wanted any more."""

    to_send: SimpleQueue[ActiveWindow | None] = field(default_factory=SimpleQueue)
    """The windows whose next request is to be sent; None ends a thread."""

    events: SimpleQueue[Event | None] = field(default_factory=SimpleQueue)
    """What has happened, for `step`; None ends everything."""

    to_emit: SimpleQueue[tuple[Window, Page] | BaseException | None] = field(
        default_factory=SimpleQueue
    )
    """What the iterator gives or raises; None is the end."""

    def __iter__(self) -> Generator[tuple[Window, Page]]:
        """Start the threads, and give pages in order.

        Yields:
            Each page, with its window; see `Schedule.pages_to_emit`.

        Raises:
            StreamError: The system allows no further thread.
            BaseException: A window cannot be read, after all older windows.
            SystemExit: A signal came while a page was awaited.
        """
        try:
            self._start_threads()
            # Wakes the coordinating thread: nothing has been requested yet.
            self.events.put(partial(self.schedule.release, 0))
            while (item := self._next_page()) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
                _, page = item
                self.events.put(partial(self.schedule.release, page.size))
        finally:
            self.stopped.set()
            self.events.put(None)

    def step(self, event: Event) -> bool:
        """Decide what follows from an event: pages to emit and requests to send.

        Args:
            event: Tells the schedule what has happened.

        Returns:
            Whether to go on.
        """
        schedule = self.schedule
        try:
            event()
            for item in schedule.pages_to_emit():
                self.to_emit.put(item)
            for active in schedule.requests_to_send():
                self.to_send.put(active)
        except BaseException as error:  # noqa: BLE001 - raised by the iterator
            self.to_emit.put(error)
            return False
        if schedule.is_finished:
            self.to_emit.put(None)
        return not schedule.is_finished

    def _start_threads(self) -> None:
        """Start threads that do not keep the process alive."""
        readers = [f"reader {number + 1}" for number in range(self.schedule.readers)]
        try:
            threading.Thread(
                target=self._decide, name="coordinator", daemon=True
            ).start()
            for name in readers:
                threading.Thread(target=self._read, name=name, daemon=True).start()
        except (RuntimeError, MemoryError):
            raise StreamError(
                "the operating system allows no further thread; lower concurrency, or "
                "raise the limit"
            ) from None

    def _next_page(self) -> tuple[Window, Page] | BaseException | None:
        """Wait for an item of `to_emit`, so that a signal can end the wait."""
        while True:
            self.check()
            with suppress(Empty):
                return self.to_emit.get(timeout=_WAIT_SECONDS)

    def _decide(self) -> None:
        while (event := self.events.get()) and self.step(event):
            del event  # It may hold a page while the next one is waited for.
        for _ in range(self.schedule.readers):
            self.to_send.put(None)

    def _read(self) -> None:
        while (active := self.to_send.get()) is not None:
            self.events.put(partial(self.schedule.take, active, self._answer(active)))

    def _answer(self, active: ActiveWindow) -> Page | BaseException:
        chain = active.chain
        try:
            return self.fetch(chain.fields, chain.current_value, self.stopped)
        except BaseException as error:  # noqa: BLE001 - raised in its place
            return error
