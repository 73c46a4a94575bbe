"""Reads windows with several threads, for the thread that iterates over their pages.

Each reader thread sends one request after the other. What is read next, and what
becomes of a window, is decided in `windows.py`, by one thread at a time. When all of a
step has been requested, readers that are free begin with the next step.
"""

import zlib
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from queue import SimpleQueue
from threading import Condition, Event, Thread
from typing import Any, Generic, NamedTuple

from tap_leadintent.replication.caps import Caps
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.ledger import Question, State, Window
from tap_leadintent.replication.plan import LIST
from tap_leadintent.replication.protocol import Api, NoThreadError, PageT
from tap_leadintent.replication.windows import Windows

_WAIT_SECONDS = 0.5
"""The longest uninterrupted wait for a page, after which an interruption is noticed."""

_PLAIN_BYTES = 2 * 2**20
"""While so many bytes wait, further pages wait compressed."""

_MAX_BYTES = 8 * 2**20
"""While so many bytes wait, only the oldest window is read on."""

MOST_PARTS = 8
"""The most parts that a step is divided into. Each part may end with a page that is not
full, so more parts would cost requests, and save hardly any time."""


class WindowPage(NamedTuple, Generic[PageT]):
    """A page of a window, or without a page the end of one that became a hole."""

    window: Interval
    """The interval of the window, in UTC seconds since 1970."""
    page: PageT | None
    """A page of the window; None if the window was left."""
    is_last: bool
    """Whether nothing more comes of the window."""
    error: BaseException | None
    """Why the window was left."""


@dataclass(eq=False, kw_only=True, repr=False)
class Reader(Generic[PageT]):
    """Reads the windows of one step after the other."""

    api: Api[PageT]
    """Answers the requests."""

    steps: list[Windows]
    """The windows of each step whose pages `read` has not yielded yet. When all windows
    of a step have been requested, free readers begin with the next step. `_changed`
    guards them."""

    at_once: Callable[[], int]
    """Returns how many requests may be sent at once now."""

    _changed: Condition = field(default_factory=Condition, init=False)
    """Notified when something has changed that the main thread may wait for."""

    _stopped: Event = field(default_factory=Event, init=False)
    """Set when no page is wanted any more."""

    _assigned: SimpleQueue[tuple[Windows, Window] | None] = field(
        default_factory=SimpleQueue,
        init=False,
    )
    """What the next free thread requests, and of which step; None if it is to end."""

    _threads: int = field(default=0, init=False)
    """How many have been started."""

    _busy: int = field(default=0, init=False)
    """How many windows are assigned to them."""

    _error: BaseException | None = field(default=None, init=False)
    """An error that ends the reading at once, before older windows have been emitted.
    """

    def read(self) -> Generator[WindowPage[PageT]]:
        """Read the next step. The threads end after the last one.

        Yields:
            Each page of each window that was read, oldest window first, and an item
            without a page for each window that became a hole.

        Raises:
            Exception: A window cannot be read; all older windows have been yielded.
            IgnoredRangeError: The API ignores the range.
            NoThreadError: The system allows no further thread.
        """
        windows = self.steps[0]
        try:
            self.api.raise_if_interrupted()
            with self._changed:
                self._assign()
            while item := self._next(windows):
                yield item
            with self._changed:
                del self.steps[0]
        finally:
            has_failed = windows in self.steps
            if has_failed or not self.steps:
                self.stop()

    def read_first(self, windows: Windows) -> None:
        """Read a step before what is left of the others.

        Args:
            windows: The step, which `read` reads next.
        """
        with self._changed:
            self.steps.insert(0, windows)

    @property
    def has_stopped(self) -> bool:
        """Whether it sends no further request."""
        return self._stopped.is_set()

    def stop(self) -> None:
        """Send no further request, and let the threads end."""
        self._stopped.set()
        with self._changed:
            for _ in range(self._threads):
                self._assigned.put(None)

    def _next(self, windows: Windows) -> WindowPage[PageT] | None:
        """Wait for what comes next in order; None at the end."""
        with self._changed:
            while front := windows.ledger.front:
                self.api.raise_if_interrupted()
                if error := self._error or windows.error:
                    raise error
                if item := self._take_out(windows, front):
                    self._assign()
                    return item
                if front.state is State.FATAL and front.error:
                    raise front.error
                self._changed.wait(_WAIT_SECONDS)
            return None

    def _take_out(
        self,
        windows: Windows,
        front: Window,
    ) -> WindowPage[PageT] | None:
        """Return what may be emitted next of the oldest window, if anything may yet.

        After the last item of a window, the window leaves the ledger.
        """
        is_decided = front.state in {State.READ, State.LEFT}
        # The pages of a list are emitted as they arrive, because no part of a list is
        # read again. With its last page, it counts as complete.
        is_list = not windows.range_name
        if not is_decided and not (is_list and front.pages):
            return None
        page: PageT | None = None
        if front.pages:
            body, page = front.pages.popleft()
            if page is None:
                plain = zlib.decompress(body)
                page = self.api.parse(plain)
        is_left = front.state is State.LEFT
        is_last = is_decided and not front.pages and not (is_left and page)
        if is_last:
            windows.ledger.take_front()
        return WindowPage(
            (front.start, front.end),
            page,
            is_last,
            front.error,
        )

    def _assign(self) -> None:
        """Let readers request what comes next, as many as there may be now.

        If the API allows fewer at once than before, the oldest window goes on first.
        """
        if self._stopped.is_set():
            return
        allowed = self.at_once()
        parts = min(allowed, MOST_PARTS)
        while self._busy < allowed:
            assignment = self._next_assignment(parts)
            if not assignment:
                return
            windows, window = assignment
            if not window.query:
                self._begin_query(windows, window)
            self._busy += 1
            if self._busy > self._threads:
                self._start_thread()
            self._assigned.put(assignment)

    def _next_assignment(self, readers: int) -> tuple[Windows, Window] | None:
        """Return what is requested next, and of which step it is; None if nothing is.

        Args:
            readers: How many readers share a step.
        """
        is_full = self._waiting_bytes() >= _MAX_BYTES
        for windows in self.steps:
            windows.readers = readers
            window = windows.next(is_full=is_full)
            if window:
                return windows, window
            if is_full or not windows.is_all_requested:
                return None
        return None

    def _start_thread(self) -> None:
        try:
            Thread(
                target=self._run,
                name="reader",
                daemon=True,
            ).start()
        except (RuntimeError, MemoryError):
            raise NoThreadError from None
        self._threads += 1

    def _begin_query(
        self,
        windows: Windows,
        window: Window,
    ) -> None:
        window.query = self.api.query(
            windows.range_name,
            (window.start, window.end),
            window.limit,
        )

    def _waiting_bytes(self) -> int:
        waiting = 0
        for windows in self.steps:
            for window in windows.ledger:
                for body, _ in window.pages:
                    waiting += len(body)
        return waiting

    def _run(self) -> None:
        """Send requests until no page is wanted any more."""
        while True:
            assignment = self._assigned.get()
            if not assignment or self._stopped.is_set():
                return
            self._send(*assignment)

    def _send(
        self,
        windows: Windows,
        window: Window,
    ) -> None:
        try:
            page = window.query.fetch(self._stopped, window.max_retries)
        except BaseException as failure:  # noqa: BLE001 - raised in its place
            self._note(windows.note_failure, window, failure)
        else:
            self._note(self._keep, windows, window, page)

    def _note(
        self,
        note: Callable[..., None],
        *arguments: Any,
    ) -> None:
        """Note the outcome of a request, and let the readers go on."""
        with self._changed:
            try:
                note(*arguments)
                self._busy -= 1
                self._assign()
            except BaseException as error:  # noqa: BLE001 - raised by the other thread
                self._error = error
            self._changed.notify_all()

    def _keep(
        self,
        windows: Windows,
        window: Window,
        page: PageT,
    ) -> None:
        """Keep a page until it is emitted, compressed if many bytes wait already."""
        if not isinstance(window, Question):
            if self._waiting_bytes() < _PLAIN_BYTES:
                window.pages.append((page.body, page))
            else:
                compressed = zlib.compress(page.body, 1)
                window.pages.append((compressed, None))
        windows.note_page(
            window,
            page,
            window.query.records,
        )


def read_list(
    api: Api[PageT],
    caps: Caps,
) -> Generator[PageT]:
    """Read all records of an endpoint, without a time range.

    Args:
        api: The endpoint.
        caps: What its queries have shown.

    Yields:
        Each page, in the order of the list.

    Raises:
        Exception: The list cannot be read.
    """
    windows = Windows(
        LIST,
        caps=caps,
        widest=1,
        readers=1,
        now=0,
    )
    reader = Reader(
        api=api,
        steps=[windows],
        at_once=lambda: 1,
    )
    with closing(reader.read()) as items:
        for item in items:
            if item.page is not None:
                yield item.page
