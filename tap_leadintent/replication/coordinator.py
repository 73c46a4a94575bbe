"""Reads a schedule with several threads.

The coordinating thread decides what is read next, and what is emitted. Reader threads
send one request at a time. The main thread iterates over the pages. It does not decide
itself, because it often waits for the target, and requests are to be sent meanwhile.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Event

from tap_leadintent import threads
from tap_leadintent.api.chain import Fetch
from tap_leadintent.api.page import Page
from tap_leadintent.replication.schedule import ActiveWindow, Schedule
from tap_leadintent.replication.windows import Window

Call = Callable[[], None]
"""A call of the schedule that says what has happened."""


@dataclass(eq=False)
class Coordinator:
    """Threads that read a schedule for the thread that iterates over it.

    They share queues. A reader thread also looks into the chain of the window that it
    was given; the coordinating thread leaves that chain alone until the result has
    arrived.
    """

    schedule: Schedule
    """What to read; only the coordinating thread uses it."""

    fetch: Fetch
    """Sends a request, see `Client.fetch`; the event is set when the page is not wanted
    any more."""

    raise_if_interrupted: Callable[[], None]
    """Called before and while a page is awaited; raises if a signal came."""

    stopped: Event
    """Set when no page is wanted any more."""

    to_send: SimpleQueue[ActiveWindow | None] = field(default_factory=SimpleQueue)
    """The windows whose next request is to be sent; None ends a thread."""

    calls: SimpleQueue[Call | None] = field(default_factory=SimpleQueue)
    """What `handle` is to be called with; None ends everything."""

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
            # Nothing has happened yet, but the first requests are to be sent.
            self.calls.put(lambda: None)
            while (
                item := threads.wait_for(self.to_emit, self.raise_if_interrupted)
            ) is not None:
                if isinstance(item, BaseException):
                    raise item
                yield item
                _, page = item
                self.calls.put(partial(self.schedule.release, page.size))
        finally:
            self.stopped.set()
            self.calls.put(None)

    def handle(self, call: Call) -> bool:
        """Tell the schedule what has happened, and do what follows from it.

        Args:
            call: Says what has happened.

        Returns:
            Whether to go on.
        """
        schedule = self.schedule
        try:
            call()
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
        threads.start(self._decide, "coordinator")
        for number in range(1, self.schedule.concurrency + 1):
            threads.start(self._read, f"reader {number}")

    def _decide(self) -> None:
        while (call := self.calls.get()) and self.handle(call):
            del call  # It may hold a page while the next call is waited for.
        for _ in range(self.schedule.concurrency):
            self.to_send.put(None)

    def _read(self) -> None:
        while (active := self.to_send.get()) is not None:
            self.calls.put(partial(self.schedule.take, active, self._fetch(active)))

    def _fetch(self, active: ActiveWindow) -> Page | BaseException:
        chain = active.chain
        try:
            max_retries = active.window.max_retries
            return self.fetch(chain.fields, chain.after, self.stopped, max_retries)
        except BaseException as error:  # noqa: BLE001 - raised in its place
            return error
