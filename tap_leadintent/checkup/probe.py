"""Sends the requests of the check-up, and remembers the answers."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Event
from typing import Any, NamedTuple

import requests
from requests.adapters import HTTPAdapter
from typing_extensions import override

from tap_leadintent import times
from tap_leadintent.api.endpoint import range_fields
from tap_leadintent.api.failures import SUCCESS
from tap_leadintent.api.page import Page
from tap_leadintent.errors import Action, StreamError
from tap_leadintent.replication.protocol import OVERLAP_SECONDS
from tap_leadintent.run import AnyStream, read_each
from tap_leadintent.singer.errors import RunError
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.tap import TapLeadIntent

Record = dict[str, Any]
Path = Sequence[str]

Found = tuple[str, dict[str, Any]]
"""The case that a question has found, and the values for its text."""

DAY = 86_400
PAGE = 100
"""Records to ask for, the most that the API's description allows."""

_LIMIT_REFUSALS = {400, 413, 416, 422}
"""The statuses of a limit that is refused."""

ROUND = 50
"""An API that ends queries early likely does so after a multiple of so many records."""
_FOLLOWED = 3
"""Pages of a range in which a record is looked for."""
_RETRIES = 2
"""Retries of a question. An API may answer 500 to a range that it does not like."""


_REFUSED = "the API refuses a time range that this question needs"


class UnsettledError(Exception):
    """A question cannot be settled; the text says why, or is empty if it is obvious."""


class TooFewError(UnsettledError):
    """A question cannot be settled for want of records."""


class Answer(NamedTuple):
    """A page of the API."""

    keys: list[str]
    """What identifies each record: its `id`, or all that it holds."""
    records: list[Record]
    page: Page
    seconds: float
    fields: Mapping[str, Any]
    """The request fields."""
    limit: int
    """How many records were asked for."""

    def times(self, path: Path) -> list[str]:
        """Return the time in a field of each record, empty where there is none."""
        return [times.time_at(path, record) or "" for record in self.records]

    @property
    def time_paths(self) -> list[Path]:
        """The paths of the fields that hold a time in all records."""
        if not self.records:
            return []
        return [path for path, _ in walk(self.records[0]) if all(self.times(path))]


class Api(HTTPAdapter):
    """Counts the requests of a tap, and hears what the responses say."""

    def __init__(
        self,
        tap: TapLeadIntent,
        most: int,
    ) -> None:
        """Listen to a tap, which may send so many requests at most."""
        super().__init__()
        self.left = most
        """How many requests may still be sent."""
        self.reserved = 0
        """How many of them questions leave for the estimate."""
        self.limit = PAGE
        """How many records a request may ask for."""
        self.heard: list[requests.Response] = []
        self.now = int(time.time())
        """The server's time at the first response."""
        self.ahead: int | None = None
        """By how many seconds the server's clock was ahead of ours then."""
        session = next(iter(tap.streams.values())).run_context.session
        session.mount("https://", self)
        session.mount("http://", self)

    @override
    def send(self, *args: Any, **kwargs: Any) -> requests.Response:
        self.left -= 1
        response = super().send(*args, **kwargs)
        date = times.parse_http_date(response.headers.get("Date", ""))
        if date and not self.heard:
            self.now = date
            self.ahead = date - int(time.time())
        self.heard.append(response)
        return response


@dataclass(eq=False)
class Probe:
    """Asks for the records of one stream, and of one of its time ranges."""

    stream: LeadIntentStream
    api: Api
    range: str = ""
    """The time range; empty where a question is about the endpoint."""
    answers: dict[str, Answer | StreamError] = field(default_factory=dict)
    """What was answered to each request of the stream."""

    @cached_property
    def ranges(self) -> list["Probe"]:
        """The probes of the stream's time ranges, which share its answers."""
        return [replace(self, range=name) for name in self.stream.ranges]

    def settle_limit(self) -> None:
        """Find out how many records a request may ask for, if a page is refused.

        Raises:
            StreamError: A page with one record is refused, too.
        """
        try:
            self.pages()
        except StreamError as error:
            if error.status not in _LIMIT_REFUSALS or not self._accepts(1):
                raise
        else:
            return
        accepted = 1
        refused = self.api.limit
        while refused - accepted > 1:
            middle = (accepted + refused) // 2
            if self._accepts(middle):
                accepted = middle
            else:
                refused = middle
        self.api.limit = accepted

    def _accepts(self, limit: int) -> bool:
        """Return whether a request may ask for so many records."""
        if self.try_to_ask({}, limit):
            return True
        if not self.ranges:
            return False
        return self.try_to_ask(self._last_month(), limit) is not None

    def ask(
        self,
        fields: Mapping[str, Any],
        after: str | None = None,
        limit: int | None = None,
    ) -> Answer:
        """Ask for a page, unless it is known.

        Args:
            fields: The request fields.
            after: The cursor, None for the first page.
            limit: Records to ask for; None for as many as the API allows.

        Raises:
            StreamError: The API refuses it.
            UnsettledError: No more requests may be sent.
        """
        limit = limit or self.api.limit
        request = repr((fields, after, limit))
        if request not in self.answers:
            if self.api.left <= self.api.reserved:
                raise UnsettledError("no requests are left; see --max-requests")
            try:
                self.answers[request] = self._send(
                    fields,
                    after,
                    limit,
                )
            except StreamError as error:
                self.answers[request] = error
        answer = self.answers[request]
        if isinstance(answer, StreamError):
            raise answer
        return answer

    def _send(
        self,
        fields: Mapping[str, Any],
        after: str | None,
        limit: int,
    ) -> Answer:
        client = replace(self.stream.client, page_size=limit)
        retries = min(self.api.left - 1, _RETRIES)
        page = client.fetch(
            fields,
            after,
            Event(),
            retries,
        )
        decoded = page.decode()
        records = self.stream.exclusion.apply(decoded.records)
        keys = list[str]()
        for record, raw in zip(
            records,
            decoded.raw,
            strict=True,
        ):
            keys.append(str(record.get("id") or bytes(raw)))
        seconds = self.api.heard[-1].elapsed.total_seconds()
        return Answer(
            keys,
            records,
            page,
            seconds,
            fields,
            limit,
        )

    def try_to_ask(
        self,
        fields: Mapping[str, Any],
        limit: int | None = None,
    ) -> Answer | None:
        """Ask for a first page; return None if the API may refuse these fields."""
        try:
            return self.ask(fields, limit=limit)
        except StreamError as error:
            # What the tap cannot read, the API has not refused.
            is_refused = error.status is not None and error.status not in SUCCESS
            if is_refused and error.actions & (Action.CHANGE_RANGE | Action.CUT):
                return None
            raise

    def fields_of(
        self,
        start: int,
        end: int,
    ) -> dict[str, Any]:
        """Return the request fields of an interval, in seconds since 1970."""
        return range_fields(self.range, (start + OVERLAP_SECONDS, end))

    def between(
        self,
        start: int,
        end: int,
    ) -> Answer | None:
        """Return the first page of an interval; None if the API refuses it."""
        return self.try_to_ask(self.fields_of(start, end))

    def keys(
        self,
        start: int,
        end: int,
    ) -> set[str]:
        """Return what identifies the first records of an interval.

        Raises:
            UnsettledError: The API refuses it.
        """
        page = self.between(start, end)
        if page is None:
            raise UnsettledError(_REFUSED)
        return {*page.keys}

    def holds(
        self,
        key: str,
        start: int,
        end: int,
        most: int = _FOLLOWED,
    ) -> bool:
        """Return whether an interval has a record.

        Args:
            key: What identifies the record.
            start: Where the interval begins, in UTC seconds since 1970.
            end: Where it ends.
            most: How many pages it is looked for in.

        Raises:
            UnsettledError: The API refuses it. Or the record is on none of the first
                pages, and there are more, or the API may have ended the query early.
        """
        if not self.between(start, end):
            raise UnsettledError(_REFUSED)
        records = 0
        pages = self.follow(self.fields_of(start, end), most)
        for page in pages:
            if key in page.keys:
                return True
            records += len(page.keys)
        if pages[-1].page.has_more:
            raise UnsettledError("a range returns too many records")
        if records and records % ROUND == 0:
            raise UnsettledError("a query may have been ended early")
        return False

    @property
    def list_fields(self) -> Mapping[str, Any]:
        """The request fields of a list; of the last month if the API wants a range."""
        if not self.ranges or self.try_to_ask({}):
            return {}
        return self._last_month()

    def _last_month(self) -> Mapping[str, Any]:
        """Return the request fields of the last month, by the first time range."""
        return self.ranges[0].fields_of(self.api.now - 30 * DAY, self.api.now)

    def pages(
        self,
        most: int = 1,
        limit: int | None = None,
    ) -> list[Answer]:
        """Return pages of the list, as far as their cursors lead."""
        return self.follow(
            self.list_fields,
            most,
            limit,
        )

    def follow(
        self,
        fields: Mapping[str, Any],
        most: int,
        limit: int | None = None,
    ) -> list[Answer]:
        """Return pages of a query, as far as their cursors lead.

        Args:
            fields: The request fields.
            most: How many pages are read at most.
            limit: Records to ask for; None for as many as the API allows.
        """
        pages = [self.ask(fields, limit=limit)]
        while len(pages) < most:
            following = self.after(pages[-1])
            if not following:
                break
            pages.append(following)
        return pages

    def after(self, answer: Answer) -> Answer | None:
        """Return the page that follows another one; None if none does."""
        cursor = answer.page.cursor
        if not (cursor.has_more and cursor.next):
            return None
        return self.ask(
            answer.fields,
            cursor.next,
            answer.limit,
        )

    @property
    def known(self) -> list[Answer]:
        """The pages of the stream that have been answered."""
        return [each for each in self.answers.values() if isinstance(each, Answer)]

    @property
    def records(self) -> dict[str, Record]:
        """The records of these pages, each once."""
        records = dict[str, Record]()
        for page in self.known:
            records.update(
                zip(
                    page.keys,
                    page.records,
                    strict=True,
                )
            )
        return records


def walk(
    fields: Mapping[str, Any], inside: str | None = None
) -> Iterator[tuple[Path, Any]]:
    """Yield the fields of a record or a schema, and those within them, by path.

    Args:
        fields: The fields by name.
        inside: The key of the inner fields, None if a field holds them itself.
    """
    for name, value in fields.items():
        yield (name,), value
        within = value.get(inside, {}) if inside else value
        if isinstance(within, dict):
            for inner, each in within.items():
                yield (name, inner), each


def readable(probes: Sequence[Probe], pages: int = 1) -> list[Probe]:
    """Return the probes that get their first pages, and log why the others do not.

    Args:
        probes: The probes of some streams.
        pages: How many pages of each stream are read.

    Raises:
        RunError: No stream can be read.
    """
    by_stream: dict[AnyStream, Probe] = {probe.stream: probe for probe in probes}
    can_read = list[Probe]()

    def read(stream: AnyStream) -> None:
        probe = by_stream[stream]
        with suppress(UnsettledError):
            probe.settle_limit()
            probe.pages(pages)
            can_read.append(probe)

    try:
        read_each([*by_stream], read)
    except RunError:
        if not can_read:
            raise
    return can_read
