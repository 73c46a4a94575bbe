"""Request bodies: what they may hold, what they mean, and the page that they get."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import blake2b
from itertools import islice
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from tap_leadintent.sandbox.endpoints import ENDPOINTS, Axis
from tap_leadintent.sandbox.times import parse_time
from tap_leadintent.sandbox.world import Shelf

EVER = (-(1 << 62), 1 << 62)
"""The range of a request without one, in µs since 1970."""

# Characters that break if a client decodes, escapes, trims or re-encodes a cursor.
_HEAD = "c+"
_TAIL = "/é%2B="


class _Asked(msgspec.Struct, forbid_unknown_fields=True):
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 25
    after: str | UnsetType = UNSET


class _Range(msgspec.Struct, forbid_unknown_fields=True):
    start_time: str
    end_time: str

    def __post_init__(self) -> None:
        if parse_time(self.start_time) > parse_time(self.end_time):
            msg = "start_time is after end_time"
            raise ValueError(msg)


_BODIES = {
    stream: msgspec.defstruct(
        stream,
        [
            ("cursor", _Asked, msgspec.field(default_factory=_Asked)),
            ("sort", Literal["newest", "oldest"], "newest"),
            *((name, _Range | UnsetType, UNSET) for name in endpoint.ranges),
            *((name, list[str], []) for name in endpoint.filters),
        ],
        forbid_unknown_fields=True,
    )
    for stream, endpoint in ENDPOINTS.items()
}


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """Where a page starts.

    Attributes:
        page: Number of the page in its chain, from 1.
        after: Time and id of the record before the page; None at the very start.
        bound: Digest of these, and of the query that the cursor is for.
    """

    page: int
    after: tuple[int, str] | None
    bound: str

    def token(self) -> str:
        """Give the opaque text that clients see."""
        return f"{_HEAD}{urlsafe_b64encode(msgspec.json.encode(self)).decode()}{_TAIL}"


class Query:
    """A checked request body (API description: "Endpoints").

    Attributes:
        shelf: The stream's records.
        limit: Largest number of records wanted.
        newest: Whether the newest records come first.
        axis: Time that orders the records.
        range: Begin and end of the time range, in µs since 1970; both belong to it.
        filters: Wanted values of each list filter that restricts, by path.
        cursor: Where the page starts.
    """

    def __init__(self, shelf: Shelf, body: object) -> None:
        """Read what a body asks for.

        Raises:
            ValueError: It breaks a rule.
        """
        self.shelf, endpoint = shelf, shelf.endpoint
        asked: Any = msgspec.convert(body, _BODIES[endpoint.stream])
        self.limit = asked.cursor.limit
        self.newest = asked.sort == "newest"
        self.axis: Axis = "found"
        self.range = EVER
        ranges = [name for name in endpoint.ranges if getattr(asked, name) is not UNSET]
        if len(ranges) > 1:
            msg = f"give either {' or '.join(ranges)}, not both"
            raise ValueError(msg)
        for name in ranges:
            told = getattr(asked, name)
            self.axis = endpoint.ranges[name]
            self.range = parse_time(told.start_time), parse_time(told.end_time)
        self.filters = {
            path: {*wanted}
            for name, path in endpoint.filters.items()
            if (wanted := getattr(asked, name))
        }
        filters = sorted((path, sorted(self.filters[path])) for path in self.filters)
        self._bound = endpoint.stream, self.newest, self.axis, self.range, filters
        self.cursor = self.cursor_at(1, None)
        if asked.cursor.after is not UNSET:
            self.cursor = self._read_cursor(asked.cursor.after)

    def cursor_at(self, page: int, after: tuple[int, str] | None) -> Cursor:
        """Give a cursor, which is bound to endpoint, sort, filters and range."""
        content = msgspec.json.encode((self._bound, page, after))
        return Cursor(page, after, blake2b(content, digest_size=8).hexdigest())

    def _read_cursor(self, text: str) -> Cursor:
        payload = text.removeprefix(_HEAD).removesuffix(_TAIL)
        cursor = msgspec.json.decode(urlsafe_b64decode(payload), type=Cursor)
        if (cursor, text) != (
            self.cursor_at(cursor.page, cursor.after),
            cursor.token(),
        ):
            msg = "the cursor was changed, or is of another sort, filter or range"
            raise ValueError(msg)
        return cursor

    def page(self) -> "Page":
        """Read the page that the cursor leads to."""
        start, end = self.range
        rows = self.shelf.rows(self.axis)
        low, high = bisect_left(rows, (start,)), bisect_left(rows, (end + 1,))
        if self.cursor.after is not None:
            time, name = self.cursor.after
            if self.newest:
                high = bisect_left(rows, (time, name), low, high)
            else:
                low = bisect_left(rows, (time, name + "\0"), low, high)
        order = range(high - 1, low - 1, -1) if self.newest else range(low, high)
        shown = ((rows[place], self.shelf.body(rows[place][2])) for place in order)
        found = list(islice(filter(self._matches, shown), self.limit + 1))
        following = ""
        if len(found) > self.limit:
            (time, name, _), _ = found[self.limit - 1]
            following = self.cursor_at(self.cursor.page + 1, (time, name)).token()
        return Page([body for _, body in found[: self.limit]], following)

    def _matches(self, shown: tuple[object, bytes]) -> bool:
        if not self.filters:
            return True
        record = json.loads(shown[1])
        return all(
            wanted & set(_values(record, path.split(".")))
            for path, wanted in self.filters.items()
        )


def _values(record: object, path: list[str]) -> Iterator[str]:
    """Give the texts at a path, through lists on the way."""
    if isinstance(record, list):
        for item in record:
            yield from _values(item, path)
    elif path and isinstance(record, dict):
        yield from _values(record.get(path[0]), path[1:])
    elif not path and isinstance(record, str):
        yield record


class Page(msgspec.Struct, frozen=True):
    """A page before it is encoded.

    Attributes:
        bodies: Its records, encoded.
        next: The token of the cursor that leads to the next page, if there is one.
    """

    bodies: list[bytes]
    next: str

    def encode(self) -> bytes:
        """Give the response body (API description: "Page envelope")."""
        cursor = {"next": self.next, "has_more": bool(self.next)}
        records = [msgspec.Raw(body) for body in self.bodies]
        return msgspec.json.encode({"data": records, "cursor": cursor})
