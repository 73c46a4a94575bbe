"""Windows whose pages a test makes up, and reading in one thread, as a seed decides."""

from __future__ import annotations

import json
import logging
from contextlib import closing, contextmanager
from random import Random
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar
from unittest import mock

from tap_leadintent.api.chain import Chain
from tap_leadintent.api.page import Page
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.coordinator import Coordinator
from tap_leadintent.replication.schedule import Reading, Schedule
from tap_leadintent.replication.windows import Window, Windows

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

DAY = 86400
PATIENCE = 60
Told = list[tuple[int, int]]
"""The starts of windows, and the numbers of their pages."""


T = TypeVar("T")


class TroubleError(Exception):
    """What a request may run into."""


def number_of(reading: Reading) -> int:
    """Tell which page is asked for, from 1."""
    return int(reading.chain.after or 1)


def page(number: int, *, has_more: bool, padding: int = 0) -> Page:
    """Make a page with one record."""
    record = {"n": number, "x": "x" * padding}
    cursor = {"has_more": has_more, "next": str(number + 1)}
    return Page.of(json.dumps({"data": [record], "cursor": cursor}).encode())


def seconds(count: int) -> Windows:
    """Make windows of one second each."""
    return Windows([(0, count)], page_size=1, readers=4, widest=1, quiet=True)


def schedule_of(windows: Windows, readers: int = 4) -> Schedule:
    """Plan to read windows."""
    chain = Chain({}, logging.getLogger())
    return Schedule(
        windows, lambda _: type(chain)({}, logging.getLogger()), readers=readers
    )


def read(
    windows: Windows, send: Callable[[Reading], Page], readers: int = 4, **options: Any
) -> Coordinator:
    """Read windows by threads."""
    schedule = schedule_of(windows, readers)
    return Coordinator(schedule, lambda r, _: send(r), readers=readers, **options)


def tell(pages: Any, told: Told) -> None:
    """Take everything."""
    with closing(iter(pages)) as items:
        for window, one in items:
            if one is not None:
                told.append((window.start, one.decode().data[0]["n"]))


class OneThread:
    """Stands in for a `Coordinator`: which answer comes next, a seed decides."""

    seed = 0

    def __init__(
        self,
        schedule: Schedule,
        send: Callable[[Reading, Event], Page],
        *,
        readers: int,
        **_: Any,
    ) -> None:
        self.readers = readers
        self._schedule = schedule
        self._send = send

    def __iter__(self) -> Generator[tuple[Window, Page | None]]:
        random, schedule = Random(self.seed), self._schedule  # noqa: S311
        asking: list[Reading] = []
        answers: list[tuple[Reading, Page | Exception]] = []
        while True:
            for window, one in schedule.handed_over():
                yield window, one
                if one is not None:
                    schedule.make_room(one.size)
            asking += schedule.requests()
            if schedule.is_finished:
                return
            assert asking or answers, "nothing is read any more"
            # Some requests, and some answers, stay behind for long.
            if asking and (not answers or random.random() < 0.5):
                reading = _take(asking, random)
                answers.append((reading, self._answer(reading)))
                continue
            reading, answer = _take(answers, random)
            if isinstance(answer, Exception):
                schedule.fail(reading, answer)
            else:
                schedule.take(reading, answer)

    def _answer(self, reading: Reading) -> Page | Exception:
        try:
            return self._send(reading, Event())
        except Exception as error:  # noqa: BLE001 - raised at its place
            return error


def _take(waiting: list[T], random: Random) -> T:
    at = random.randrange(len(waiting)) if random.random() < 0.3 else -1
    return waiting.pop(at)


@contextmanager
def in_one_thread(seed: int) -> Iterator[None]:
    """Let the tap read in one thread, in the order of a seed."""

    class Seeded(OneThread):
        pass

    Seeded.seed = seed
    with mock.patch("tap_leadintent.replication.reader.Coordinator", Seeded):
        yield


def read_chain(stream: Any, stopped: Any = None) -> Generator[Page]:
    """Read all records of a stream in this thread, page by page."""
    chain = Chain({}, stream.logger)
    while True:
        try:
            one = stream.client.fetch(chain.fields, chain.after, stopped or Event())
        except StreamError as error:
            chain.refuse(error)
            continue
        yield one
        chain.take(one)
        if not one.cursor.has_more:
            return
