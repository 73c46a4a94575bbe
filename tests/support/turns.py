"""Threads that take turns, in an order that a seed decides, so that tests repeat."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from random import Random
from typing import TYPE_CHECKING, Any
from unittest import mock

from typing_extensions import override

from tests.support.model_runs import Adapter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

    import requests

    from tests.support.model import Api

_PATIENCE = 60
"""Seconds after which a thread that gets no turn ends the test."""

_CHANCE_OF_ANYONE = 0.2
"""How often a turn goes to anyone; otherwise the same threads stay behind for long."""

_MOST_NAPS = 1000
"""So often may all wait for each other before it counts as a deadlock."""

_APART = 1 / 64
"""Seconds that pass with each answer, as no two arrive at the same time."""


class _Turn:
    """One thread's place among the others."""

    def __init__(self, rank: float) -> None:
        self.rank = rank
        self.awaited: object = None
        """What it waits for; None if it can go on."""
        self.go = threading.Event()


class Turns:
    """Lets one thread run at a time, until it waits or sends a request."""

    def __init__(self, seed: int) -> None:
        """Begin with the thread that calls."""
        self._random = Random(seed)  # noqa: S311 - it should repeat
        self._lock = threading.Lock()
        self._turns: dict[object, _Turn] = {}
        self._naps = 0
        self.join(threading.current_thread())

    def join(self, thread: object) -> None:
        """Add a thread, which is to call `enter` first if it is not the running one."""
        with self._lock:
            self._turns[thread] = _Turn(self._random.random())

    def enter(self) -> None:
        """Wait for a turn."""
        mine = self._turns[threading.current_thread()]
        assert mine.go.wait(_PATIENCE), "it got no turn"
        mine.go.clear()

    def leave(self) -> None:
        """End, and let another thread go on."""
        thread = threading.current_thread()
        with self._lock:
            del self._turns[thread]
        self.notify(thread)
        self._pass_on()

    def pause(self) -> None:
        """Let the thread go on whose turn it is."""
        self._pass_on()
        self.enter()

    def wait(self, awaited: object) -> None:
        """Let others go on until something is notified, or all others wait as well."""
        self._turns[threading.current_thread()].awaited = awaited
        self.pause()

    def wait_for_end(self, thread: object) -> None:
        """Let others go on until a thread has left."""
        while thread in self._turns:
            self.wait(thread)

    def notify(self, awaited: object) -> None:
        """Let those that wait for something go on when it is their turn."""
        with self._lock:
            for turn in self._turns.values():
                if turn.awaited is awaited:
                    turn.awaited = None
                    self._naps = 0

    def _pass_on(self) -> None:
        with self._lock:
            turns = [*self._turns.values()]
            ready = [turn for turn in turns if turn.awaited is None]
            if not ready:
                # As at the end of a nap.
                self._naps += 1
                assert self._naps < _MOST_NAPS, "all threads wait for each other"
                ready = turns
            chosen = max(ready, key=lambda turn: turn.rank)
            if self._random.random() < _CHANCE_OF_ANYONE:
                chosen = self._random.choice(ready)
                chosen.rank = self._random.random()
            chosen.awaited = None
            chosen.go.set()


class TurnAdapter(Adapter):
    """The model's answers; others may run before each query, and before its answer."""

    def __init__(self, api: Api, turns: Turns) -> None:
        super().__init__(api)
        self._turns = turns

    @override
    def send(
        self, request: requests.PreparedRequest, *args: Any, **kwargs: Any
    ) -> requests.Response:
        self._turns.pause()
        response = super().send(request, *args, **kwargs)
        self._turns.pause()
        self.api.now += _APART
        return response


@contextmanager
def in_turns(seed: int) -> Iterator[Turns]:
    """Let the tap's threads take turns.

    Yields:
        The turns, for a `TurnAdapter`.
    """
    turns = Turns(seed)

    class Thread(threading.Thread):
        @override
        def start(self) -> None:
            turns.join(self)
            super().start()

        @override
        def run(self) -> None:
            turns.enter()
            super().run()
            turns.leave()

        @override
        def join(self, timeout: float | None = None) -> None:
            turns.wait_for_end(self)
            super().join()

    class Condition:
        def __init__(self, lock: threading.Lock | None = None) -> None:
            self._lock = lock or threading.Lock()

        def __enter__(self) -> None:
            self._lock.acquire()

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            traceback: TracebackType | None,
        ) -> None:
            self._lock.release()

        def wait(self, _: float) -> None:
            self._lock.release()
            turns.wait(self)
            self._lock.acquire()

        def notify_all(self) -> None:
            turns.notify(self)

    with (
        mock.patch("tap_leadintent.replication.prefetch.Thread", Thread),
        mock.patch("tap_leadintent.replication.page_buffer.Condition", Condition),
        mock.patch("tap_leadintent.api.rate_limit.Condition", Condition),
    ):
        yield turns
