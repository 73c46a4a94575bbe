"""Checks request bodies and finds the page of records that they ask for."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from tap_leadintent.sandbox.endpoints import ENDPOINTS, Axis, Endpoint
from tap_leadintent.sandbox.records import Entry
from tap_leadintent.sandbox.times import parse_time
from tap_leadintent.sandbox.world import Row, StreamRecords

_FAR = 1 << 62
EVER = (-_FAR, _FAR)
"""The time range of a request without one, in microseconds since 1970."""

# These characters change if a client decodes, escapes, trims or encodes a cursor.
_HEAD = "c+"
_TAIL = "/é%2B="


# JSON Schema also calls 25.0 an integer.
_Limit = Annotated[float, msgspec.Meta(ge=1, le=100, multiple_of=1)]


class _CursorField(msgspec.Struct, forbid_unknown_fields=True):
    limit: _Limit = 25
    after: str | UnsetType = UNSET


class _Range(msgspec.Struct, forbid_unknown_fields=True):
    start_time: str
    end_time: str

    def __post_init__(self) -> None:
        start = parse_time(self.start_time)
        end = parse_time(self.end_time)
        if start > end:
            raise ValueError("start_time is after end_time")


def _body_type(endpoint: Endpoint) -> type[msgspec.Struct]:
    """Return the type of an endpoint's request body."""
    cursor = msgspec.field(default_factory=_CursorField)
    fields: list[tuple[str, Any, Any]] = [
        ("cursor", _CursorField, cursor),
        ("sort", Literal["newest", "oldest"], "newest"),
    ]
    fields += ((name, _Range | UnsetType, UNSET) for name in endpoint.ranges)
    fields += ((name, list[str], []) for name in endpoint.filters)
    return msgspec.defstruct(endpoint.stream, fields)


_BODIES = {name: _body_type(endpoint) for name, endpoint in ENDPOINTS.items()}
"""The type of the request body of each stream."""


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """The beginning of a page.

    Attributes:
        page: Number of the page in its cursor chain, counted from 1.
        after: Time and id of the record before the page; None for the first page.
        digest: Hash of both, and of the query that the cursor was issued for.
    """

    page: int
    after: tuple[int, str] | None
    digest: str

    def token(self) -> str:
        """Return the opaque text that clients receive."""
        content = msgspec.json.encode(self)
        payload = urlsafe_b64encode(content).decode()
        return f"{_HEAD}{payload}{_TAIL}"


class Query:
    """A checked request body (API description: "Endpoints").

    Attributes:
        records: The records of the stream.
        limit: Largest number of records of the page.
        newest: Whether the newest records come first.
        axis: The time by which the records are ordered.
        range: Start and end of the time range in microseconds since 1970, inclusive.
        filters: The accepted values of each list filter, by the path of its field.
        cursor: The beginning of the page.
        entries: The records of the page that was found last.
    """

    def __init__(
        self,
        records: StreamRecords,
        body: object,
    ) -> None:
        """Check a request body and read it.

        Raises:
            ValueError: The body breaks a rule of the API.
        """
        self.records = records
        endpoint = records.endpoint
        body_type = _BODIES[endpoint.stream]
        given: Any = msgspec.convert(body, body_type)
        self.limit = int(given.cursor.limit)
        self.newest = given.sort == "newest"
        self.axis: Axis = "found"
        self.range = EVER
        self._read_range(given)
        self.filters: dict[str, set[str]] = {}
        self._read_filters(given)
        # A set has another order in each process.
        filters: list[tuple[str, list[str]]] = []
        for path, accepted in sorted(self.filters.items()):
            values = sorted(accepted)
            filters.append((path, values))
        self._bound_to = (
            endpoint.stream,
            self.newest,
            self.axis,
            self.range,
            filters,
        )
        self.entries: list[Entry] = []
        self.cursor = self.cursor_at(1, None)
        after = given.cursor.after
        if after is not UNSET:
            self.cursor = self._read_cursor(after)

    def cursor_at(
        self,
        page: int,
        after: tuple[int, str] | None,
    ) -> Cursor:
        """Return a cursor, which is bound to endpoint, sort, filters and time range."""
        bound = (self._bound_to, page, after)
        content = msgspec.json.encode(bound)
        digest = blake2b(content, digest_size=8).hexdigest()
        return Cursor(page, after, digest)

    def _read_range(self, given: Any) -> None:  # noqa: ANN401 - the type is made above
        """Read the time range of a body."""
        ranges = self.records.endpoint.ranges
        bounds_by_name: dict[str, _Range] = {}
        for name in ranges:
            bounds = getattr(given, name)
            if bounds is not UNSET:
                bounds_by_name[name] = bounds
        if len(bounds_by_name) > 1:
            choice = " or ".join(bounds_by_name)
            raise ValueError(f"give either {choice}, not both")
        for name, bounds in bounds_by_name.items():
            start = parse_time(bounds.start_time)
            end = parse_time(bounds.end_time)
            self.axis = ranges[name]
            self.range = (start, end)

    def _read_filters(self, given: Any) -> None:  # noqa: ANN401 - the type is made above
        """Read the list filters of a body. An empty one restricts nothing."""
        for name, path in self.records.endpoint.filters.items():
            accepted = set(getattr(given, name))
            if accepted:
                self.filters[path] = accepted

    def _read_cursor(self, text: str) -> Cursor:
        payload = text.removeprefix(_HEAD).removesuffix(_TAIL)
        content = urlsafe_b64decode(payload)
        cursor = msgspec.json.decode(content, type=Cursor)
        issued = self.cursor_at(cursor.page, cursor.after)
        if cursor != issued or text != issued.token():
            raise ValueError(
                "the cursor was changed, or is of another sort, filter or range"
            )
        return cursor

    def page(self) -> "Page":
        """Return the page that begins at the cursor."""
        rows = self.records.rows(self.axis)
        order = self._places_after_cursor(rows)
        self.entries = []
        bodies: list[bytes] = []
        last = self.cursor.after
        for place in order:
            time, name, entry = rows[place]
            body = self.records.body(entry)
            if not self._matches(body):
                continue
            if len(bodies) == self.limit:
                number = self.cursor.page + 1
                following = self.cursor_at(number, last)
                return Page(bodies, following.token())
            self.entries.append(entry)
            bodies.append(body)
            last = (time, name)
        return Page(bodies, "")

    def _places_after_cursor(self, rows: list[Row]) -> Sequence[int]:
        """Return where the records after the cursor are in rows, in their order."""
        start, end = self.range
        low = bisect_left(rows, (start,))
        high = bisect_left(rows, (end + 1,))
        if self.cursor.after is not None:
            time, name = self.cursor.after
            if self.newest:
                last = (time, name)
                high = bisect_left(rows, last, low, high)
            else:
                just_after = (time, f"{name}\0")
                low = bisect_left(rows, just_after, low, high)
        places = range(low, high)
        if self.newest:
            return places[::-1]
        return places

    def _matches(self, body: bytes) -> bool:
        """Return whether a record, given as JSON, passes all filters."""
        if not self.filters:
            return True
        record = json.loads(body)
        for path, accepted in self.filters.items():
            values = _values(record, path.split("."))
            if accepted.isdisjoint(values):
                return False
        return True


def _values(
    record: object,
    path: list[str],
) -> Iterator[str]:
    """Yield the texts at a path. Lists on the way are searched item by item."""
    if isinstance(record, list):
        for item in record:
            yield from _values(item, path)
    elif path and isinstance(record, dict):
        name, *below = path
        yield from _values(record.get(name), below)
    elif not path and isinstance(record, str):
        yield record


class Page(msgspec.Struct, frozen=True):
    """A page before it is encoded.

    Attributes:
        bodies: The encoded records.
        next: The token of the next page's cursor, empty if there is no next page.
        fields: What else the envelope holds.
    """

    bodies: list[bytes]
    next: str
    fields: dict[str, Any] = {}

    def encode(self) -> bytes:
        """Return the response body (API description: "Page envelope")."""
        records = list(map(msgspec.Raw, self.bodies))
        envelope = {
            "data": records,
            "cursor": {
                "next": self.next,
                "has_more": bool(self.next),
            },
            **self.fields,
        }
        return msgspec.json.encode(envelope)
