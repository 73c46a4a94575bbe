"""Sends the requests of the check-up, and remembers the answers."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Event
from typing import Any, NamedTuple

import msgspec
import requests
from requests.adapters import BaseAdapter
from typing_extensions import override

from tap_leadintent import times
from tap_leadintent.api.page import Page
from tap_leadintent.client import LeadIntentStream
from tap_leadintent.errors import StreamError
from tap_leadintent.tap import TapLeadIntent

Record = dict[str, Any]
Path = Sequence[str]
Found = tuple[str, dict[str, Any]]
"""The case that a question has found, and the values for its text."""

DAY = 86_400
PAGE = 100
"""Records to ask for, the most that the API allows."""
_RETRIES = 2
"""Retries of a question. An API may answer 500 to a range that it does not like."""
_PINNED = 600
"""Seconds to which a search narrows the time of a record."""


class UnsettledError(Exception):
    """A question cannot be settled; the text says why, or is empty if it is obvious."""


class Answer(NamedTuple):
    """A page of the API."""

    records: list[Record]
    keys: list[str]
    """What identifies each record."""
    page: Page
    seconds: float

    def times(self, path: Path | None) -> list[str | None]:
        """Return the time in a field of each record, None where there is none."""
        return [times.time_at(path or (), record) for record in self.records]


class Pin(NamedTuple):
    """A record that a time range returns, and where in the range it lies."""

    key: str
    start: int
    end: int
    is_whole: bool
    """Whether its time is known to be a whole second."""


class Api(BaseAdapter):
    """Counts the requests of a tap, and hears what the responses say."""

    def __init__(self, tap: TapLeadIntent, most: int) -> None:
        """Listen to a tap, which may send so many requests at most."""
        super().__init__()
        self.tap, self._most, self.now = tap, most, int(time.time())
        """`now` is the server's time when it was asked for first."""
        self.heard: list[tuple[requests.Response, float | None]] = []
        """The responses, and how many seconds the server's clock is ahead of ours."""
        self.reach = 0
        """For how many days a time range was last found to reach back, if not ever."""
        session = next(iter(tap.streams.values())).run_context.session
        self._adapter = session.get_adapter("https://")
        session.mount("https://", self)
        session.mount("http://", self)

    @property
    def left(self) -> int:
        """How many requests may still be sent."""
        return self._most - self.sent

    @property
    def sent(self) -> int:
        """How many requests have been sent."""
        return sum(stream.stats.requests for stream in self.tap.streams.values())

    @override
    def send(self, *args: Any, **kwargs: Any) -> requests.Response:
        sent_at = time.time()
        response = self._adapter.send(*args, **kwargs)
        date = times.parse_http_date(response.headers.get("Date", ""))
        ahead = None if date is None else date - (sent_at + time.time()) / 2
        self.now = self.now if self.heard else self.now + int(ahead or 0)
        self.heard.append((response, ahead))
        return response

    @override
    def close(self) -> None:
        self._adapter.close()


@dataclass(eq=False)
class Probe:
    """Asks for the records of one stream, and of one of its time ranges."""

    stream: LeadIntentStream
    api: Api
    range: str = ""
    """The time range; empty where a question is about the endpoint."""
    answers: dict[bytes, Answer | StreamError] = field(default_factory=dict)
    """What was answered to each request of the stream."""

    @cached_property
    def ranges(self) -> list["Probe"]:
        """The probes of the stream's time ranges, which share its answers."""
        return [replace(self, range=name) for name in self.stream.ranges]

    def ask(
        self, fields: Mapping[str, Any], after: str | None = None, limit: int = PAGE
    ) -> Answer:
        """Ask for a page, unless it is known.

        Args:
            fields: The request fields.
            after: The cursor, None for the first page.
            limit: Records to ask for.

        Raises:
            StreamError: The API refuses it.
            UnsettledError: No more requests may be sent.
        """
        request = msgspec.json.encode((fields, after, limit))
        if request not in self.answers:
            self.answers[request] = self._send(fields, after, limit)
        if isinstance(answer := self.answers[request], StreamError):
            raise answer
        return answer

    def _send(
        self, fields: Mapping[str, Any], after: str | None, limit: int
    ) -> Answer | StreamError:
        if (left := self.api.left) <= 0:
            raise UnsettledError("no requests are left; see --max-requests")
        client, stats = replace(self.stream.client, page_size=limit), self.stream.stats
        began = time.monotonic() - stats.waited_seconds
        has_succeeded = self.stream.run_context.health.has_succeeded
        # Another request of the stream is then sent although the first one has failed.
        retries = _RETRIES if has_succeeded or not self.answers else 0
        try:
            page = client.fetch(fields, after, Event(), min(left - 1, retries))
            records = page.decode().data
        except StreamError as error:
            return error
        seconds = time.monotonic() - began - stats.waited_seconds
        pairs = zip(records, page.raw, strict=True)
        keys = [str(record.get("id", bytes(raw))) for record, raw in pairs]
        return Answer(self.stream.exclusion.apply(records), keys, page, seconds)

    @cached_property
    def list_fields(self) -> Mapping[str, Any]:
        """The request fields of a list; of the last month if the API wants a range."""
        try:
            self.ask({})
        except StreamError as error:
            if not (self.ranges and error.may_be_range and error.may_be_split):
                raise
            return self.ranges[0].fields_of(self.api.now - 30 * DAY, self.api.now)
        return {}

    def pages(self, most: int = 1, limit: int = PAGE) -> list[Answer]:
        """Return pages of the list, as far as their cursors lead."""
        pages = [self.ask(self.list_fields, limit=limit)]
        while len(pages) < most and (cursor := pages[-1].page.cursor).has_more:
            if not cursor.next:
                break
            pages.append(self.ask(self.list_fields, cursor.next, limit))
        return pages

    @property
    def known(self) -> list[Answer]:
        """The pages of the stream that have been answered."""
        return [each for each in self.answers.values() if isinstance(each, Answer)]

    @property
    def records(self) -> dict[str, Record]:
        """The records of these pages, each once."""
        pairs = (zip(each.keys, each.records, strict=True) for each in self.known)
        return {key: record for pair in pairs for key, record in pair}

    def fields_of(self, start: int, end: int) -> dict[str, Any]:
        """Return the request fields of an interval, in seconds since 1970."""
        ends = {"start_time": start, "end_time": end}
        return {self.range: {n: times.format_instant(at) for n, at in ends.items()}}

    def between(self, start: int, end: int) -> Answer | None:
        """Return the first page of an interval; None if the API refuses it."""
        try:
            return self.ask(self.fields_of(start, end))
        except StreamError as error:
            if error.may_be_range or error.may_be_split:
                return None
            raise

    def keys(self, start: int, end: int) -> list[str]:
        """Return what identifies the first records of an interval."""
        return page.keys if (page := self.between(start, end)) else []

    @cached_property
    def sample(self) -> tuple[int, Answer]:
        """The start of an interval that ends now, and its first page, with records."""
        for days in (30, 365, 3650, 7, 1):
            start = self.api.now - days * DAY
            if (answer := self.between(start, self.api.now)) and answer.keys:
                return start, answer
        raise UnsettledError("it returns no record of the last ten years")

    @cached_property
    def path(self) -> Path | None:
        """The path of the field that the range is about, if records have one."""
        (start, answer), end = self.sample, self.api.now + 1
        low, high = times.format_instant(start), times.format_instant(end)
        inside = (
            path
            for path in time_paths(answer)
            if all(low <= (at or "") < high for at in answer.times(path))
        )
        return self.stream.time_fields.get(self.range) or next(inside, None)

    @cached_property
    def timed_pin(self) -> Pin | None:
        """A record that the range returns where its own time is."""
        _, answer = self.sample
        pins = [
            Pin(key, second := times.parse_instant(at), second, at.endswith(".000000Z"))
            for at, key in zip(answer.times(self.path), answer.keys, strict=True)
            if at
        ]
        for pin in sorted(pins, key=lambda pin: (pin.is_whole, pin.start))[-1:]:
            for near in (0, 1):
                keys = self.keys(pin.start - near, pin.end + near)
                if pin.key in keys and keys != answer.keys:
                    return pin
        return None

    @cached_property
    def is_ignored(self) -> bool:
        """Whether a second's interval returns what that of a month does."""
        start, answer = self.sample
        return not self.timed_pin and self.keys(start, start + 1) == answer.keys

    @cached_property
    def pin(self) -> Pin:
        """A record, and where in the range it lies, by its own time or by a search."""
        (start, _), end = self.sample, self.api.now
        if self.timed_pin:
            return self.timed_pin
        if self.is_ignored:
            raise UnsettledError
        while end - start > _PINNED:
            middle = (start + end) // 2
            start, end = (middle, end) if self.keys(middle, end) else (start, middle)
        if not (found := self.keys(start, end)):
            raise UnsettledError("a short range does not return what a longer one does")
        return Pin(found[0], start, end, is_whole=False)


def time_paths(answer: Answer) -> Iterator[Path]:
    """Yield the paths of the fields that hold a time in all records."""
    for name, value in answer.records[0].items() if answer.records else ():
        inner = value if isinstance(value, dict) else ()
        paths = [(name,), *((name, each) for each in inner)]
        yield from (path for path in paths if all(answer.times(path)))
