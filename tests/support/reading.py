"""Windows whose pages a test makes up, and reading in one thread, as a seed decides."""

import json
import logging
from collections.abc import Callable, Iterator
from random import Random
from threading import Event
from typing import TypeVar

from tap_leadintent.api.page import Page
from tap_leadintent.api.pagination import Chain
from tap_leadintent.replication.coordinator import Fetch
from tap_leadintent.replication.schedule import Reading, Schedule
from tap_leadintent.replication.windows import Window, Windows

Send = Callable[[Window, int], Page]

T = TypeVar("T")
LOGGER = logging.getLogger()


def page(number: int, *, has_more: bool = False, padding: int = 0) -> Page:
    """Make a page with one record."""
    record = {"n": number, "x": "x" * padding}
    cursor = {"has_more": has_more, "next": str(number + 1)}
    return Page.of(json.dumps({"data": [record], "cursor": cursor}).encode())


def number_of(one: Page) -> int:
    """Tell which page of its window it is, from 1."""
    number: int = one.decode().data[0]["n"]
    return number


def seconds(count: int) -> Windows:
    """Make windows of one second each."""
    return Windows([(0, count)], page_size=1, readers=4, widest=1, quiet=True)


def schedule_of(windows: Windows) -> Schedule:
    """Plan to read windows."""
    return Schedule(windows, lambda window: Chain({"window": window}, LOGGER))


def fetch_by(send: Send) -> Fetch:
    """Answer a request by its window and the number of its page."""
    return lambda fields, after, _: send(fields["window"], int(after or 1))


def in_one_thread(
    windows: Windows, send: Send, seed: int = 0
) -> Iterator[tuple[Window, Page]]:
    """Read as a `Coordinator` does; which answer comes next, a seed decides."""
    random, schedule, fetch = Random(seed), schedule_of(windows), fetch_by(send)  # noqa: S311
    asking: list[Reading] = []
    answers: list[tuple[Reading, Page | BaseException]] = []

    def one_of(waiting: list[T]) -> T:
        is_any = random.random() < 0.3
        return waiting.pop(random.randrange(len(waiting)) if is_any else -1)

    def answer(chain: Chain) -> Page | BaseException:
        try:
            return fetch(chain.fields, chain.current_value, Event())
        except Exception as error:  # noqa: BLE001 - raised at its place
            return error

    while True:
        for window, one in schedule.handed_over():
            yield window, one
            schedule.make_room(one.size)
        asking += schedule.requests()
        if schedule.is_finished:
            return
        assert asking or answers, "nothing is read any more"
        # Some requests, and some answers, stay behind for long.
        if asking and (not answers or random.random() < 0.5):
            reading = one_of(asking)
            answers.append((reading, answer(reading.chain)))
        else:
            schedule.take(*one_of(answers))
