"""What is requested next, what is emitted, and in how much memory."""

import gc
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from queue import Empty
from random import Random
from threading import Barrier, Event
from time import monotonic
from typing import Any
from unittest import mock
from weakref import ReferenceType, WeakKeyDictionary, ref

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.page import Cursor, Page
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.schedule import ActiveWindow, Schedule
from tap_leadintent.replication.windows import Window, Windows
from tests.support.rounds import CLUSTERS, YEAR, clustered

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")

LOGGER = logging.getLogger()
PATIENCE = 60
ROOM = 100_000
"""The memory of these tests, in bytes."""

Respond = Callable[[Window, int], Page]
"""Gives a page of a window by its number, from 1."""


class TroubleError(Exception):
    """What a request may run into."""


def schedule_of(windows: Windows) -> Schedule:
    return Schedule(windows, lambda window: Chain({"window": window}, LOGGER), ROOM)


def seconds(count: int) -> Windows:
    """Return windows of one second each."""
    return Windows([(0, count)], page_size=1, concurrency=4, widest=1, quiet=True)


class Body(list[Any]):
    """The records of a page, which copies of the page share."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__  # type: ignore[assignment]


def page(content: object, size: int, *, next_page: int = 0) -> Page:
    """Return a page of one record, as if its body were of some size."""
    cursor = Cursor(has_more=bool(next_page), next=str(next_page))
    body = Body([json.dumps(content).encode()])
    return Page(body, cursor, size, is_repaired=False)


class Memory:
    """Notes what pages take, from their request until nobody holds them."""

    def __init__(self) -> None:
        self._sizes: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self.most = 0

    def hold(self, one: Page) -> None:
        self._sizes[one.raw] = one.size
        self.most = max(self.most, sum(self._sizes.values()))


def play(
    windows: Windows, respond: Respond, seed: int, memory: Memory | None = None
) -> Iterator[tuple[Window, Page]]:
    """Read in one thread. A seed decides what happens next: a result, or a release."""
    random, memory = Random(seed), memory or Memory()  # noqa: S311
    never: Any = None
    schedule = schedule_of(windows)
    coordinator = Coordinator(schedule, never, never, Event())
    under_way: list[tuple[ActiveWindow, Page | BaseException]] = []
    emitted: list[Page] = []
    event = partial(schedule.release, 0)
    while True:
        coordinator.handle(event)
        del event
        while not coordinator.to_emit.empty():
            item = coordinator.to_emit.get()
            if item is None:
                return
            if isinstance(item, BaseException):
                raise item
            yield item
            emitted.append(item[1])
            del item
        while not coordinator.to_send.empty():
            active = coordinator.to_send.get()
            assert active
            under_way.append(_result(active, respond))
            if isinstance(one := under_way[-1][1], Page):
                memory.hold(one)
            del one
        assert under_way or emitted, "nothing is read any more"
        assert len(under_way) <= windows.concurrency
        if emitted and (not under_way or random.random() < 0.5):
            event = partial(schedule.release, emitted.pop(0).size)
        else:
            # Some results stay behind for long.
            is_any = random.random() < 0.3
            place = random.randrange(len(under_way)) if is_any else -1
            event = partial(schedule.take, *under_way.pop(place))


def _result(
    active: ActiveWindow, respond: Respond
) -> tuple[ActiveWindow, Page | BaseException]:
    window = active.chain.fields["window"]
    try:
        return active, respond(window, int(active.chain.after or 1))
    except TroubleError as error:
        return active, error


@settings(max_examples=50)
@example([], 4, 100, YEAR - 1, 0)
@given(
    CLUSTERS,
    st.integers(1, 32),
    st.sampled_from([100, ROOM // 10, ROOM // 2, 3 * ROOM]),
    st.none() | st.integers(0, YEAR - 1),
    st.integers(0, 2**16),
)
def test_each_record_is_emitted_once_in_order_within_the_memory(
    clusters: list[tuple[int, int, int]],
    readers: int,
    largest: int,
    failing: int | None,
    seed: int,
) -> None:
    times, per_page = clustered(clusters).times, 100
    memory, random = Memory(), Random(seed)  # noqa: S311

    def respond(window: Window, number: int) -> Page:
        if failing is not None and window.start <= failing < window.end:
            raise TroubleError
        inside = [time for time in times if window.start <= time < window.end]
        held = inside[(number - 1) * per_page :]
        next_page = number + 1 if len(held) > per_page else 0
        size = random.randint(100, largest)
        return page([number, *held[:per_page]], size, next_page=next_page)

    windows = Windows([(0, YEAR)], page_size=per_page, concurrency=readers)
    emitted: list[int] = []
    covered = 0
    with nullcontext() if failing is None else pytest.raises(TroubleError):
        for window, one in play(windows, respond, seed, memory):
            covered = window.end
            emitted += json.loads(one.raw[0])[1:]
            del one
    assert emitted == [time for time in times if time < covered]
    assert covered == YEAR if failing is None else covered <= failing
    # Each body under way may be larger than all before it.
    assert memory.most <= ROOM + (readers + 1) * largest


@pytest.mark.parametrize("readers", [1, 4, 32])
@pytest.mark.parametrize("quiet", [True, False])
@pytest.mark.parametrize("size", [ROOM // 20, ROOM // 2, 3 * ROOM])
def test_waiting_records_are_bounded_wherever_they_lie(
    readers: int, size: int, *, quiet: bool
) -> None:
    """All records lie in one second, in a probe that older windows come before."""
    memory, taken = Memory(), 0

    def respond(window: Window, number: int) -> Page:
        is_last = number == 500 or not window.start <= YEAR - 9 < window.end
        return page(number, size, next_page=0 if is_last else number + 1)

    windows = Windows([(0, YEAR)], page_size=100, concurrency=readers, quiet=quiet)
    for item in play(windows, respond, 1, memory):
        taken += 1
        del item
    assert taken >= 500
    # As many as are requested before the size of a page is known, and the next one.
    assert memory.most <= max(ROOM, min(readers, 8) * size) + size


def test_a_window_for_which_there_is_no_room_is_emitted_as_its_pages_arrive() -> None:
    """A part of a quiet interval is abandoned after 64 pages only."""
    memory = Memory()

    def respond(_: Window, number: int) -> Page:
        return page(number, ROOM // 2, next_page=number < 20 and number + 1)

    windows = Windows([(0, 300)], page_size=100, concurrency=1, quiet=True)
    for item in play(windows, respond, 1, memory):
        del item
    assert memory.most <= 2 * ROOM


def test_an_abandoned_window_leaves_its_room_to_others() -> None:
    windows = Windows([(0, 300)], page_size=1, concurrency=4, quiet=True)
    schedule = schedule_of(windows)
    for number in (1, 2):
        (active,) = schedule.requests_to_send()
        schedule.take(active, page(number, ROOM // 4, next_page=number + 1))
    assert len([*schedule.requests_to_send()]) == 3


def test_large_pages_are_requested_one_at_a_time() -> None:
    memory, pages = Memory(), 0

    def respond(_: Window, number: int) -> Page:
        nonlocal pages
        pages += 1
        # Those that were requested before are gone by now.
        if pages == 50:
            memory.most = 0
        return page(number, 2 * ROOM, next_page=number < 9 and number + 1)

    for item in play(seconds(9), respond, 1, memory):
        del item
    assert 0 < memory.most <= 2 * 2 * ROOM


# Threads


def fetch_by(respond: Respond) -> Any:
    return lambda fields, after, *_: respond(fields["window"], int(after or 1))


def nothing() -> None:
    """No signal has come."""


def read(respond: Respond, check: Callable[[], None] = nothing) -> Coordinator:
    """Read nine windows by four threads."""
    return Coordinator(schedule_of(seconds(9)), fetch_by(respond), check, Event())


def test_a_window_that_is_never_abandoned_is_emitted_as_its_pages_arrive() -> None:
    asked: list[int] = []

    def respond(_: Window, number: int) -> Page:
        asked.append(number)
        return page(number, 100, next_page=number < 9 and number + 1)

    windows = Windows([(0, 9)], page_size=1, widest=9, quiet=True)
    assert next(play(windows, respond, seed=0))
    assert asked == [1]


def test_so_many_windows_are_read_at_once_and_emitted_in_order() -> None:
    together = Barrier(4)

    def respond(window: Window, number: int) -> Page:
        if window.start < 8:
            together.wait(PATIENCE)
        return page(number, 100)

    assert [window.start for window, _ in read(respond)] == [*range(9)]


def test_room_for_pages_comes_back_when_they_are_taken() -> None:
    end = monotonic() + PATIENCE

    def check() -> None:
        assert monotonic() < end, "no page comes any more"

    def respond(_: Window, number: int) -> Page:
        return page(number, ROOM, next_page=number < 20 and number + 1)

    assert len([*read(respond, check)]) == 9 * 20


def test_a_signal_ends_the_wait_for_a_page_at_once() -> None:
    is_over = Event()

    def respond(_: Window, number: int) -> Page:
        assert is_over.wait(PATIENCE)
        return page(number, 100)

    def check() -> None:
        raise SystemExit(143)

    with pytest.raises(SystemExit, match="143"):
        next(iter(read(respond, check)))
    is_over.set()


def test_a_signal_is_noticed_soon_while_a_page_is_awaited() -> None:
    coordinator = read(
        lambda *_: page(1, 100), mock.Mock(side_effect=[None, SystemExit])
    )
    coordinator.to_emit = mock.Mock(**{"get.side_effect": Empty})
    with pytest.raises(SystemExit):
        next(iter(coordinator))
    ((_, waits),) = coordinator.to_emit.get.call_args_list
    assert waits["timeout"] <= 1


def test_closing_stops_the_requests_and_forgets_the_pages() -> None:
    pages: list[ReferenceType[Any]] = []
    events: list[Event] = []

    def fetch(_: Any, after: str | None, stopped: Event, *__: object) -> Page:
        one = page(after, 100, next_page=int(after or 1) + 1)
        pages.append(ref(one.raw))
        events.append(stopped)
        return one

    coordinator = Coordinator(schedule_of(seconds(9)), fetch, nothing, Event())
    items = iter(coordinator)
    assert [next(items)[0].start for _ in range(3)] == [0, 0, 0]
    items.close()
    assert all(stopped.is_set() for stopped in events)
    for thread in threading.enumerate():
        if thread.name.startswith(("coordinator", "reader")):
            thread.join(PATIENCE)
    del coordinator, items
    gc.collect()
    assert len(pages) >= 3
    assert not any(one() for one in pages)
