"""Threads that read: too few, none at all, or some that die."""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tap_leadintent.errors import StreamError
from tap_leadintent.replication import prefetch
from tap_leadintent.replication.windows import Window, Windows
from tests.support.helpers import readers_alive
from tests.support.prefetching import (
    DAY,
    PATIENCE,
    Told,
    chain,
    fixed,
    reading,
    tell,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.api.page import Page
    from tap_leadintent.api.rate_limit import Check

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")


def thread_failing_from(number: int) -> type[Thread]:
    """Make threads of which one does not start, nor do any after it."""
    started = 0

    class Failing(Thread):
        def start(self) -> None:
            nonlocal started
            started += 1
            if started >= number:
                msg = "can't start new thread"
                raise RuntimeError(msg)
            super().start()

    return Failing


def test_fewer_threads_than_asked_for_read_everything(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prefetch, "Thread", thread_failing_from(3))

    def read(_window: Window, _check: Check) -> Iterator[Page]:
        yield from chain(2)

    told: Told = []
    with reading(Windows([(0, 400 * DAY)], page_size=1, readers=4), read) as all_read:
        tell(all_read, told)
        assert all_read.readers == 2
    assert [start for start, _ in told] == sorted(start for start, _ in told)
    assert len(told) > 3


def test_without_any_thread_nothing_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetch, "Thread", thread_failing_from(1))
    never_read = mock.Mock()
    with (
        pytest.raises(StreamError, match="the system allows no thread to read with"),
        reading(fixed(9), never_read),
    ):
        pytest.fail("reads")
    never_read.assert_not_called()


class Dying(Thread):
    """Does not come to tell that it has started, as when memory is short."""

    lives: int
    made: list[Dying]
    is_dying: Event
    is_over: Event

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.made.append(self)

    def _bootstrap(self) -> None:
        if len(self.made) > self.lives:
            self.is_dying.set()
            self.is_over.wait()
        super()._bootstrap()  # type: ignore[misc]


@pytest.fixture
def dying(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Dying]]:
    """Let the third thread and those after it die while they start."""
    state = {"lives": 2, "made": [], "is_dying": Event(), "is_over": Event()}
    for name, value in state.items():
        monkeypatch.setattr(Dying, name, value, raising=False)
    monkeypatch.setattr(prefetch, "Thread", Dying)
    monkeypatch.setattr(prefetch, "_PATIENCE", 1.0)
    yield Dying
    Dying.is_over.set()
    while readers_alive():
        Event().wait(0.01)


def test_a_thread_that_dies_while_it_starts_leaves_the_work_to_the_others(
    dying: type[Dying],
) -> None:
    def read(_window: Window, _check: Check) -> Iterator[Page]:
        # Else all may be read before the third thread starts.
        assert dying.is_dying.wait(PATIENCE)
        yield from chain(2)

    told: Told = []
    with reading(Windows([(0, 400 * DAY)], page_size=1, readers=4), read) as all_read:
        tell(all_read, told)
        assert all_read.readers == dying.lives
    assert len(dying.made) == dying.lives + 1
    assert len(told) > 3


def test_threads_that_all_die_while_they_start_end_the_stream(
    dying: type[Dying], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dying, "lives", 0)
    with (
        pytest.raises(StreamError, match="the system allows no thread to read with"),
        reading(fixed(9), mock.Mock()),
    ):
        pytest.fail("reads")


def test_threads_that_die_without_a_word_end_the_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(prefetch.Prefetch, "_work", lambda _: None)
    with (
        pytest.raises(StreamError, match="have died, as memory is short; lower conc"),
        reading(fixed(9), mock.Mock()) as all_read,
    ):
        tell(all_read, [])
