"""Keeps in which state each interval of a step is, and what is requested next."""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import inf
from operator import attrgetter
from typing import Any

from typing_extensions import override

from tap_leadintent.replication.intervals import Interval, missing


class State(Enum):
    """The state of an interval."""

    UNREAD = "unread"
    """Nobody reads it."""

    READY = "ready"
    """Its first page, or its next one, is to be requested."""

    REQUESTED = "requested"
    """A request for one of its pages is under way."""

    DOUBTFUL = "doubtful"
    """Its query has ended, but the API may have ended it too early."""

    READ = "read"
    """All of its pages have arrived."""

    FAILED = "failed"
    """A request failed. It is cut or left when all older windows are read or left."""

    FATAL = "fatal"
    """A request failed, and the reading ends with its error."""

    CUT = "cut"
    """Its parts are read instead of it."""

    LEFT = "left"
    """It is a hole."""


@dataclass(eq=False, repr=False)
class Window:
    """An interval that is read by one query, and what is known about it."""

    start: int
    """UTC seconds since 1970."""

    end: int
    """UTC seconds since 1970."""

    state: State = State.UNREAD

    least_density: float = 0.0
    """The least number of pages a second that it holds, as far as that is known."""

    tries: int = 0
    """2 for a hole of an earlier run, 1 for a part of one, which is tried if the hole
    fails as a whole, and 0 for any other window."""

    max_pages: float = inf
    """After so many full pages it is cut, if more are to come."""

    max_retries: float = inf
    """How often each of its requests is repeated at most, whatever the settings say."""

    is_probe: bool = False
    """Whether no ordinary window begins while it is read."""

    query: Any = None
    """Its query, as in `protocol.Query`; None before its first request."""

    limit: int = 0
    """How many records a page its query asks for."""

    fullness: float = 0.0
    """How many full pages the pages that have arrived are worth."""

    records: int = 0
    """How many records its query has returned, as `protocol.Query.records` says."""

    last: int = 0
    """How many records the last page held, without pages that held none."""

    pages: deque[Any] = field(default_factory=deque)
    """The pages that wait to be emitted: for each its body and the page, or its
    compressed body and None."""

    error: BaseException | None = None
    """Why it failed."""

    @property
    def seconds(self) -> int:
        """Its length."""
        return self.end - self.start

    @property
    def known(self) -> dict[str, Any]:
        """What its parts inherit."""
        return {
            "least_density": self.least_density,
            "tries": self.tries,
        }

    @override
    def __repr__(self) -> str:
        return f"<Window {self.start} to {self.end}: {self.state.value}>"


@dataclass(eq=False, repr=False)
class Question(Window):
    """A query whose records are not emitted, as it only shows how the API behaves."""

    state: State = State.READY

    about: Window | None = None
    """The doubtful or failed window that it decides about; None if it is about the
    range."""

    @property
    def repeats_window(self) -> bool:
        """Whether it asks for the interval of its window, in pages of another size."""
        if not self.about:
            return False
        return (self.start, self.end) == (self.about.start, self.about.end)

    @property
    def is_at_end(self) -> bool:
        """Whether no page is to come."""
        return self.state is not State.READY

    @property
    def is_open(self) -> bool:
        """Whether its answer is still needed."""
        undecided = {State.DOUBTFUL, State.FAILED}
        is_needed = not self.about or self.about.state in undecided
        return is_needed and self.state in {State.READY, State.REQUESTED}


class Ledger:
    """The windows of a step, oldest first, without overlaps.

    Windows that have been emitted or left are taken out at the front.
    """

    def __init__(
        self,
        intervals: Iterable[Interval],
        most_pages: float = inf,
    ) -> None:
        """Take what is to be read.

        Args:
            intervals: The intervals, oldest first.
            most_pages: After so many full pages a window is cut, if more are to come.
        """
        self._most_pages = most_pages
        self._windows: list[Window] = []
        for start, end in intervals:
            self._windows.append(
                Window(
                    start,
                    end,
                    max_pages=most_pages,
                )
            )
        self.questions: list[Question] = []
        """What is asked about the API, before further windows are requested."""

    @property
    def front(self) -> Window | None:
        """The oldest window, None when everything has been taken out."""
        return self._windows[0] if self._windows else None

    def take_front(self) -> None:
        """Take the oldest window out."""
        del self._windows[0]

    def __iter__(self) -> Iterator[Window]:
        """Return the windows, oldest first."""
        return iter(self._windows)

    def of(self, *states: State) -> Iterator[Window]:
        """Return the windows in one of these states, oldest first."""
        return (each for each in self._windows if each.state in states)

    def oldest(self, state: State) -> Window | None:
        """Return the oldest window in a state; None if no window is in it."""
        return next(self.of(state), None)

    @property
    def oldest_undecided(self) -> Window | None:
        """The oldest window that is neither read nor left; None if all are."""
        decided = {State.READ, State.LEFT}
        undecided = (each for each in self._windows if each.state not in decided)
        return next(undecided, None)

    def before(self, state: State) -> Sequence[Window]:
        """Return the windows before the oldest one in a state, or all of them."""
        windows = self._windows
        for number, window in enumerate(windows):
            if window.state is state:
                return windows[:number]
        return [*windows]

    def cut(
        self,
        window: Window,
        ready: Sequence[Interval] = (),
        **how: Any,
    ) -> None:
        """Put parts in the place of a window. They inherit what is known about it.

        Args:
            window: The window.
            ready: The parts that are requested next; the others are unread.
            how: How the parts are read, and what else is known; fields of `Window`.
        """
        window.state = State.CUT
        window.pages.clear()
        whole = (window.start, window.end)
        unread = missing(whole, list(ready))
        states = dict.fromkeys(unread, State.UNREAD)
        states |= dict.fromkeys(ready, State.READY)
        known = {
            "max_pages": self._most_pages,
            **window.known,
            **how,
        }
        parts: list[Window] = []
        for start, end in sorted(states):
            parts.append(
                Window(
                    start,
                    end,
                    states[start, end],
                    **known,
                )
            )
        after = bisect_right(
            self._windows,
            window.start,
            key=attrgetter("start"),
        )
        self._windows[after - 1 : after] = parts

    def close_questions(self) -> None:
        """Forget the questions whose answers are not needed any more."""
        self.questions = [each for each in self.questions if each.is_open]

    def release(self, longest: int = 0) -> None:
        """Let windows that have not been requested yet be unread again.

        A probe is joined to what is unread beside it, as before it was cut from it.

        Args:
            longest: The seconds of windows that stay ready.
        """
        windows: list[Window] = []
        for window in self._windows:
            is_ready = window.state is State.READY and not window.query
            if is_ready and window.seconds > longest:
                window.state = State.UNREAD
            last = windows[-1] if windows else window
            is_unread = last.state is window.state is State.UNREAD
            is_same = last.end == window.start and last.known == window.known
            if is_unread and is_same and (last.is_probe or window.is_probe):
                last.end = window.end
                last.is_probe = True
            else:
                windows.append(window)
        self._windows = windows
