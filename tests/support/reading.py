"""Windows whose pages a test makes up, and reading in one thread, as a seed decides."""

import json
import logging
from collections.abc import Callable, Generator
from random import Random
from threading import Event
from typing import Any, TypeVar

from tap_leadintent.api.page import Page
from tap_leadintent.api.pagination import Chain
from tap_leadintent.errors import StreamError
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


class OneThread:
    """Stands in for a `Coordinator`: which answer comes next, a seed decides."""

    def __init__(self, seed: int, schedule: Schedule, fetch: Fetch, *_: Any) -> None:
        self._random = Random(seed)  # noqa: S311
        self._schedule = schedule
        self._fetch = fetch

    def __iter__(self) -> Generator[tuple[Window, Page]]:
        random, schedule = self._random, self._schedule
        asking: list[Reading] = []
        answers: list[tuple[Reading, Page | BaseException]] = []
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
                reading = self._one_of(asking)
                answers.append((reading, self._answer(reading.chain)))
            else:
                schedule.take(*self._one_of(answers))

    def _one_of(self, waiting: list[T]) -> T:
        is_any = self._random.random() < 0.3
        return waiting.pop(self._random.randrange(len(waiting)) if is_any else -1)

    def _answer(self, chain: Chain) -> Page | BaseException:
        try:
            return self._fetch(chain.fields, chain.current_value, Event())
        except Exception as error:  # noqa: BLE001 - raised at its place
            return error


def read_chain(stream: Any, stopped: Any = None) -> Generator[Page]:
    """Read all records of a stream in this thread, page by page."""
    chain = Chain({}, stream.logger)
    while True:
        try:
            after = chain.current_value
            one = stream.client.fetch(chain.fields, after, stopped or Event())
        except StreamError as error:
            chain.refuse(error)
            continue
        yield one
        chain.take(one)
        if not one.cursor.has_more:
            return
