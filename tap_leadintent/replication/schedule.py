"""Decides which request is sent next, and which pages are emitted, oldest first."""

from bisect import insort
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.page import Page
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.replication.windows import NARROWEST, Window, Windows

_LONGEST_HOLE = 3 * NARROWEST
"""Seconds in a row that cannot be read, after which the stream ends."""


@dataclass(eq=False)
class ActiveWindow:
    """A window that is being read."""

    window: Window

    chain: Chain
    """The cursor chain, which knows the next request."""

    emits_early: bool
    """Whether its pages are emitted as they arrive. Otherwise they wait for the last
    one, as the window may be abandoned before."""

    pages: deque[Page] = field(default_factory=deque)
    """The pages that wait to be emitted."""

    is_asking: bool = False
    """Whether a request is under way."""

    has_ended: bool = False
    """Whether the last page has arrived, or cannot arrive."""

    error: BaseException | None = None
    """Why the last page cannot arrive, if so."""


class Schedule:
    """Divides work into single requests; one thread alone uses it.

    Pages are emitted in the order of their windows. What becomes of a window that
    cannot be read is decided when all older ones have been emitted. It is divided, if
    its parts may succeed. A window that cannot be divided is left out, and so is one
    between two others that failed. If its error is about all windows, or too much in a
    row cannot be read, the error is raised.

    The pages that wait and those that are being received take at most `max_bytes`, as
    far as their size can be expected. When there is no room for another page, and
    nothing will make room, the schedule is stuck. Then only the oldest window goes on,
    one page at a time. Its pages are emitted as they arrive, so it can no longer be
    abandoned.
    """

    def __init__(
        self,
        windows: Windows,
        begin: Callable[[Window], Chain],
        max_bytes: int = 16 * 2**20,
        *,
        raises_refusal: bool = False,
    ) -> None:
        """Create the schedule of a step.

        Args:
            windows: What to read; nothing else may use it until all has been read.
            begin: Returns the cursor chain of a window.
            max_bytes: The memory of undecoded pages that wait or are being received, of
                all windows together.
            raises_refusal: Whether a refused range ends the reading, as long as no
                page has been emitted. Otherwise, it is left out.
        """
        self._windows = windows
        self._begin = begin
        self.concurrency = windows.concurrency
        """How many requests may be under way."""
        self._active: list[ActiveWindow] = []
        """Sorted by where their windows begin."""
        self._bytes_waiting = 0
        self._bytes_emitted = 0
        """What the emitted pages take that have not been released yet."""
        self._max_bytes = max_bytes
        self._largest = 0
        """The size of the largest page so far, which is expected of the next ones."""
        self.failed: list[tuple[Interval, StreamError]] = []
        """The intervals that were left out, and why."""
        self._raises_refusal = raises_refusal

    @property
    def is_finished(self) -> bool:
        """Whether everything has been emitted."""
        return self._windows.oldest_unread is None and not self._active

    def requests_to_send(self) -> Iterator[ActiveWindow]:
        """Begin windows, and choose those whose next request is to be sent now.

        Yields:
            Each of these windows; `take` is to be called with its result.
        """
        max_requests = self._max_under_way()
        unfinished = sum(not each.has_ended for each in self._active)
        while unfinished < max_requests and self._may_begin():
            if not (window := self._windows.next()):
                break
            self._insert(window)
            unfinished += 1
        if self._is_stuck():
            # The windows that have been begun may all wait for an older one.
            if not self._is_oldest_begun:
                self._insert(self._windows.next(only_oldest=True))
            max_requests = 1
        for active in self._active:
            is_idle = not (active.is_asking or active.has_ended)
            if is_idle and self._under_way < max_requests:
                active.is_asking = True
                yield active

    def take(self, active: ActiveWindow, result: Page | BaseException) -> None:
        """Take the result of a request.

        Args:
            active: The window that the request was sent for.
            result: The page, or why the request failed.
        """
        active.is_asking = False
        try:
            if isinstance(result, BaseException):
                active.chain.recover(result)
            else:
                self._add(active, result, has_more=active.chain.take(result))
        except BaseException as error:  # noqa: BLE001 - raised in its place
            active.has_ended, active.error = True, error
            self._windows.give_up(active.window)

    def pages_to_emit(self) -> Iterator[tuple[Window, Page]]:
        """Take out the pages that can be emitted now.

        Yields:
            Each page, with its window; `release` is to be called with its size.

        Raises:
            BaseException: The window that is to be emitted next cannot be read.
        """
        while self._is_oldest_begun:
            oldest = self._active[0]
            if self._is_stuck():
                oldest.emits_early = True
            if oldest.error and self._divide_or_wait(oldest, oldest.error):
                return
            while oldest.pages and (oldest.emits_early or oldest.has_ended):
                page = oldest.pages.popleft()
                self._bytes_waiting -= page.size
                self._bytes_emitted += page.size
                self._raises_refusal = False
                yield oldest.window, page
            if not oldest.has_ended:
                return
            self._remove(oldest)
            if oldest.error:
                self._leave_out(oldest, oldest.error)

    def release(self, size: int) -> None:
        """Note that an emitted page takes no memory any more.

        Args:
            size: Its size, in bytes.
        """
        self._bytes_emitted -= size

    @property
    def _is_oldest_begun(self) -> bool:
        """Whether the window that is to be emitted next is being read."""
        # What is unread does not overlap with any window.
        unread = self._windows.oldest_unread
        return bool(self._active) and (
            unread is None or self._active[0].window.start < unread
        )

    def _may_begin(self) -> bool:
        """Return whether nothing that failed is to be divided before a new window.

        The oldest window of all may wait for the next one.
        """
        unread = self._windows.oldest_unread
        failed = next((each for each in self._active[1:] if each.error), None)
        return not (failed and unread is not None and unread > failed.window.start)

    @property
    def _under_way(self) -> int:
        """How many requests are under way."""
        return sum(each.is_asking for each in self._active)

    def _max_under_way(self) -> int:
        """Count the requests under way for whose pages there is room."""
        room = self._max_bytes - self._bytes_waiting - self._bytes_emitted
        return min(self.concurrency, room // (self._largest or self._max_bytes // 8))

    def _is_stuck(self) -> bool:
        """Return whether there is no room for a page, and nothing will make room."""
        has_room = self._max_under_way() > 0
        return not (has_room or self._bytes_emitted or self._under_way)

    def _insert(self, window: Window | None) -> None:
        if window:
            emits_early = window.max_pages == inf
            active = ActiveWindow(window, self._begin(window), emits_early)
            insort(self._active, active, key=lambda each: each.window)

    def _add(self, active: ActiveWindow, page: Page, *, has_more: bool) -> None:
        active.pages.append(page)
        self._largest = max(self._largest, page.size)
        self._bytes_waiting += page.size
        windows, window, records = self._windows, active.window, len(page.raw)
        if has_more:
            may_abandon = not active.emits_early
            if not windows.note_page(window, records=records, may_abandon=may_abandon):
                # Its records are read again in other windows.
                self._remove(active)
            return
        active.has_ended = True
        if not windows.done(window, records=records, of_chain=active.chain.records):
            self._remove(active)

    def _divide_or_wait(self, oldest: ActiveWindow, error: BaseException) -> bool:
        """Divide a failed window, or wait for the next one.

        Returns:
            Whether it did so; if not, the window is to be left out.
        """
        start, end, *_ = oldest.window
        is_short = end - start < _LONGEST_HOLE
        if is_short and self.failed and self.failed[-1][0][1] == start:
            # Between two that failed, nothing can be expected.
            later = self._active[1] if len(self._active) > 1 else None
            if later and later.window.start == end:
                if later.error:
                    return False
                if not later.pages:
                    return True
            elif self._windows.oldest_unread == end and not self._is_stuck():
                return True
        narrowest = oldest.chain.narrowest(error)
        if narrowest and self._windows.divide(oldest.window, narrowest=narrowest):
            self._remove(oldest)
            return True
        return False

    def _leave_out(self, oldest: ActiveWindow, error: BaseException) -> None:
        """Leave out a window that cannot be read, or raise its error."""
        start, end, *_ = oldest.window
        if not isinstance(error, StreamError) or not oldest.chain.narrowest(error):
            raise error
        if error.may_be_range and self._raises_refusal:
            raise error
        if self.failed and self.failed[-1][0][1] == start:
            (start, _), error = self.failed.pop()
        if end - start >= _LONGEST_HOLE:
            raise error
        self.failed.append(((start, end), error))

    def _remove(self, active: ActiveWindow) -> None:
        self._active.remove(active)
        self._bytes_waiting -= sum(page.size for page in active.pages)
