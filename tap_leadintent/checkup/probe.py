"""Sends the requests of the check-up, and remembers the answers."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Event
from typing import Any, NamedTuple

import msgspec
import requests
from requests.adapters import HTTPAdapter
from typing_extensions import override

from tap_leadintent import times
from tap_leadintent.api.page import Page
from tap_leadintent.client import LeadIntentStream
from tap_leadintent.errors import StreamError
from tap_leadintent.singer.errors import RunError
from tap_leadintent.tap import TapLeadIntent

Record = dict[str, Any]
Path = Sequence[str]

DAY = 86_400
PAGE = 100
"""Records to ask for, the most that the API allows."""
_WHOLE = ".000000Z"
_RETRIES = 2
"""Retries of a question. An API may answer 500 to a range that it does not like."""


class UnsettledError(Exception):
    """A question cannot be settled; the text says why, or is empty if it is obvious."""


class Answer(NamedTuple):
    """A page of the API."""

    records: list[Record]
    keys: list[str]
    """What identifies each record."""
    page: Page
    seconds: float

    def times(self, path: Path) -> list[str | None]:
        """Return the time in a field of each record, None where there is none."""
        return [times.time_at(path, record) for record in self.records]

    @property
    def time_paths(self) -> Iterator[Path]:
        """The paths of the fields that hold a time in all records."""
        for name, value in self.records[0].items() if self.records else ():
            inner = value if isinstance(value, dict) else ()
            for path in ((name,), *((name, each) for each in inner)):
                if all(self.times(path)):
                    yield path


class Pin(NamedTuple):
    """A record that a time range returns where its own time is, a whole second."""

    key: str
    second: int
    path: Path


class Api(HTTPAdapter):
    """Counts the requests of a tap, and hears what the responses say."""

    def __init__(self, tap: TapLeadIntent, most: int) -> None:
        """Listen to a tap, which may send so many requests at most."""
        super().__init__()
        self.tap, self._most = tap, most
        self.heard: list[requests.Response] = []
        self.now = int(time.time())
        """The server's time at the first response."""
        self.ahead: int | None = None
        """By how many seconds the server's clock was ahead of ours then."""
        session = next(iter(tap.streams.values())).run_context.session
        session.mount("https://", self)
        session.mount("http://", self)

    @property
    def sent(self) -> int:
        """How many requests have been sent."""
        return sum(stream.stats.requests for stream in self.tap.streams.values())

    @property
    def left(self) -> int:
        """How many requests may still be sent."""
        return self._most - self.sent

    @override
    def send(self, *args: Any, **kwargs: Any) -> requests.Response:
        response = super().send(*args, **kwargs)
        date = times.parse_http_date(response.headers.get("Date", ""))
        if date and not self.heard:
            self.now, self.ahead = date, date - int(time.time())
        self.heard.append(response)
        return response


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
            try:
                self.answers[request] = self._send(fields, after, limit)
            except StreamError as error:
                self.answers[request] = error
        if isinstance(answer := self.answers[request], StreamError):
            raise answer
        return answer

    def _send(self, fields: Mapping[str, Any], after: str | None, limit: int) -> Answer:
        if (left := self.api.left) <= 0:
            raise UnsettledError("no requests are left; see --max-requests")
        has_succeeded = self.stream.run_context.health.has_succeeded
        # Another request of the stream is then sent although the first one has failed.
        retries = _RETRIES if has_succeeded or not self.answers else 0
        client = replace(self.stream.client, page_size=limit)
        page = client.fetch(fields, after, Event(), min(left - 1, retries))
        records = page.decode().data
        keys = [
            str(record.get("id", bytes(raw)))
            for record, raw in zip(records, page.raw, strict=True)
        ]
        seconds = self.api.heard[-1].elapsed.total_seconds()
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

    def keys(self, start: int, end: int) -> set[str]:
        """Return what identifies the first records of an interval."""
        return {*page.keys} if (page := self.between(start, end)) else set()

    @cached_property
    def sample(self) -> tuple[int, Answer]:
        """The start of an interval that ends now and holds records, and its page."""
        for days in (30, 365, 3_650, 7, 1):
            start = self.api.now - days * DAY
            if (page := self.between(start, self.api.now)) and page.keys:
                return start, page
        raise UnsettledError("it returns no record of the last ten years")

    @cached_property
    def pin(self) -> Pin | None:
        """A record of which it is known where in the range it lies, if there is one."""
        _, page = self.sample
        documented = self.stream.time_fields.get(self.range)
        for path in [documented] if documented else page.time_paths:
            shown = zip(page.times(path), page.keys, strict=True)
            whole = [(at, key) for at, key in shown if at and at.endswith(_WHOLE)]
            for at, key in whole[:1]:
                second = times.parse_instant(at)
                near = self.between(second - 1, second + 1)
                since = times.format_instant(second - 2 * DAY)
                if (
                    near
                    and key in near.keys
                    and min(map(str, near.times(path))) > since
                ):
                    return Pin(key, second, path)
        return None

    @cached_property
    def is_ignored(self) -> bool:
        """Whether the range returns records of next year."""
        later = self.api.now + 365 * DAY
        return not self.pin and bool(self.keys(later, later + 1))

    @property
    def path(self) -> Path | None:
        """The path of a time that one of the stream's ranges is about."""
        for each in reversed(self.ranges):
            with suppress(UnsettledError):
                if each.pin:
                    return each.pin.path
        return None

    @cached_property
    def day(self) -> tuple[int, int]:
        """An interval of at most a day that holds records."""
        if self.is_ignored:
            raise UnsettledError
        if self.pin:
            return self.pin.second - 1, self.pin.second + 1
        start, end = self.sample[0], self.api.now
        while end - start > DAY:
            middle = (start + end) // 2
            is_first = self.keys(start, middle)
            start, end = (start, middle) if is_first else (middle, end)
        return start, end


def readable(
    probes: Iterable[Probe],
    pages: int = 1,
    warn: Callable[[str], None] = lambda _: None,
) -> Iterator[Probe]:
    """Yield the probes that get their first pages.

    Args:
        probes: The probes of some streams.
        pages: How many pages of each stream are read.
        warn: Gets a line for each stream that cannot be read.

    Raises:
        RunError: No stream can be read.
    """
    has_read, problem = False, ""
    for probe in probes:
        try:
            probe.pages(pages)
        except StreamError as error:
            problem = error.message
            warn(f"{probe.stream.name}: {problem}")
            if probe.stream.run_context.health.note_failure(error):
                break
        except UnsettledError:
            break
        else:
            has_read = True
            yield probe
    if not has_read:
        raise RunError(problem)
