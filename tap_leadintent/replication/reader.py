"""Reads windows with several threads, for the thread that iterates over their pages.

Each reader thread sends one request after the other. What is read next, and what
becomes of a window, is decided in `windows.py`, by one thread at a time.
"""

import zlib
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Condition, Event, Thread
from typing import Generic, NamedTuple

from tap_leadintent.replication.caps import WiderQuery
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.ledger import State, Window
from tap_leadintent.replication.plan import DAY
from tap_leadintent.replication.protocol import (
    Api,
    CutError,
    IgnoredRangeError,
    NoThreadError,
    PageT,
    Query,
)
from tap_leadintent.replication.windows import Windows

_WAIT_SECONDS = 0.5
"""The longest uninterrupted wait for a page, after which an interruption is noticed."""

_PLAIN_BYTES = 2 * 2**20
"""While so many bytes wait, further pages wait compressed."""

_MAX_BYTES = 8 * 2**20
"""While so many bytes wait, only the oldest window is read on."""


class WindowPage(NamedTuple, Generic[PageT]):
    """What was read or left, in order."""

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
    """Reads the windows of one step."""

    api: Api[PageT]
    """Answers the requests."""

    range_name: str
    """The time range; empty for a list without one."""

    windows: Windows
    """What to read. The threads use it in turn, by `_changed`."""

    now: int
    """When the run began, in UTC seconds since 1970."""

    _changed: Condition = field(default_factory=Condition, init=False)
    """Notified when a window has changed, or a page has been emitted."""

    _stopped: Event = field(default_factory=Event, init=False)
    """Set when no page is wanted any more."""

    _queries: dict[Window, Query[PageT]] = field(default_factory=dict, init=False)
    """The queries that have another page, while no request for it is under way."""

    _error: BaseException | None = field(default=None, init=False)
    """What ends the reading, wherever it has come to."""

    def read(self, readers: int) -> Generator[WindowPage[PageT]]:
        """Start the threads, and give what they read in order.

        Args:
            readers: The number of threads.

        Yields:
            Each page of each window that was read, oldest window first, and a sign for
            each window that was left.

        Raises:
            Exception: A window cannot be read; all older windows have been given.
            IgnoredRangeError: The API ignores the range.
            NoThreadError: The system allows no further thread.
        """
        self.api.raise_if_interrupted()
        try:
            for _ in range(readers):
                try:
                    Thread(target=self._run, name="reader", daemon=True).start()
                except (RuntimeError, MemoryError):
                    raise NoThreadError from None
            while item := self._next():
                yield item
        finally:
            self._stopped.set()
            with self._changed:
                self._changed.notify_all()

    def _next(self) -> WindowPage[PageT] | None:
        """Wait for what comes next in order; None at the end."""
        with self._changed:
            while front := self.windows.ledger.front:
                self.api.raise_if_interrupted()
                if self._error:
                    raise self._error
                is_settled = front.state in {State.READ, State.LEFT}
                is_doubtful = front.state in {State.DOUBTFUL, State.SETTLING}
                # A list is given as it arrives, as no part of it is read again. Its
                # last page, which ends it, waits until the query counts as complete.
                may_go = not self.range_name and not is_doubtful
                if is_settled or (front.pages and may_go):
                    return self._take_out(front, is_settled=is_settled)
                if front.is_final and front.error:
                    raise front.error
                self._changed.wait(_WAIT_SECONDS)
            return None

    def _take_out(self, front: Window, *, is_settled: bool) -> WindowPage[PageT]:
        page: PageT | None = None
        if front.pages:
            body, page = front.pages.popleft()
            front.waiting_bytes -= len(body)
            page = page or self.api.parse(zlib.decompress(body))
        is_left = front.state is State.LEFT
        is_last = is_settled and not front.pages and not (is_left and page)
        if is_last:
            self.windows.ledger.take_front()
        self._changed.notify_all()
        return WindowPage((front.start, front.end), page, is_last, front.error)

    def _run(self) -> None:
        """Send requests until there is nothing left to read."""
        try:
            while request := self._next_request():
                window, query = request
                if window.state is State.SETTLING:
                    self._settle(window, query)
                else:
                    self._send(window, query)
        except BaseException as error:  # noqa: BLE001 - raised by the other thread
            self._error = error
        with self._changed:
            self._changed.notify_all()

    def _next_request(self) -> tuple[Window, Query[PageT]] | None:
        """Wait for a request to send; None when nothing is left to read."""
        with self._changed:
            while (front := self.windows.ledger.front) and not self._stopped.is_set():
                if front.is_final:
                    return None
                if window := self._choose():
                    interval = window.start, window.end
                    if window.state is State.SETTLING:
                        interval = self._around(window)
                    query = self._queries.pop(window, None)
                    return window, query or self.api.query(self.range_name, interval)
                self._changed.wait()
            return None

    def _choose(self) -> Window | None:
        """Choose the window that a request is sent for now, if there is one."""
        front = self.windows.ledger.front
        if self._waiting_bytes() >= _MAX_BYTES:
            # A list is given as it arrives, so its pages make room.
            is_next = front in self._queries and self.range_name
            return front if is_next else self.windows.begin_front()
        oldest = min(self._queries, key=lambda each: each.start, default=None)
        return oldest or self.windows.next()

    def _waiting_bytes(self) -> int:
        return sum(each.waiting_bytes for each in self.windows.ledger)

    def _send(self, window: Window, query: Query[PageT]) -> None:
        try:
            page = query.fetch(self._stopped, window.max_retries)
        except CutError as failure:
            self._fail(window, failure.reason, may_cut=True)
        except BaseException as failure:  # noqa: BLE001 - raised in its place
            self._fail(window, failure, may_cut=False)
        else:
            self._take(window, query, page)
            if self.range_name and self.windows.rounding.is_suspected:
                self._test_range()

    def _fail(self, window: Window, error: BaseException, *, may_cut: bool) -> None:
        with self._changed:
            self.windows.fail(window, error, may_cut=may_cut)
            self._changed.notify_all()

    def _take(self, window: Window, query: Query[PageT], page: PageT) -> None:
        with self._changed:
            if self._waiting_bytes() < _PLAIN_BYTES:
                kept: tuple[bytes, PageT | None] = (page.body, page)
            else:
                kept = (zlib.compress(page.body, 1), None)
            window.pages.append(kept)
            window.waiting_bytes += len(kept[0])
            if page.records and query.records == page.records:
                self.windows.rounding.note_first_page(window, page.fingerprint)
            self.windows.take(
                window,
                records=page.records,
                total=query.records,
                has_more=page.has_more,
            )
            if page.has_more and window.state is State.READING:
                self._queries[window] = query
            self._changed.notify_all()

    def _around(self, window: Window) -> Interval:
        """Return the longest interval around a window that may be asked for."""
        widest = self.windows.widest
        end = max(window.end, min(self.now, window.end + widest // 2))
        return min(window.start, end - widest), end

    def _settle(self, window: Window, query: Query[PageT]) -> None:
        """Judge a doubtful query by one for an interval around its window."""
        wider = WiderQuery(window, self.windows.caps)
        has_wider = bool(self.range_name) and self.windows.widest > window.seconds
        with suppress(Exception):
            while has_wider and wider.is_needed:
                page = query.fetch(self._stopped, 1)
                with self._changed:
                    wider.take(
                        records=page.records,
                        total=query.records,
                        has_more=page.has_more,
                    )
        with self._changed:
            if window.state is State.SETTLING:
                self.windows.settle(window, wider.verdict())
            self.windows.judge()
            self._changed.notify_all()

    def _test_range(self) -> None:
        """Ask for times that cannot have records.

        Raises:
            IgnoredRangeError: The API returns some.
        """
        self.windows.rounding.is_suspected = False
        # Nothing is older than the first second of 1970, or newer than a year from now.
        later = self.now + 365 * DAY
        for interval in ((0, 1), (later, later + 1)):
            query = self.api.query(self.range_name, interval)
            with suppress(Exception):
                query.fetch(self._stopped, 1)
            if query.records:
                raise IgnoredRangeError(self.range_name)
