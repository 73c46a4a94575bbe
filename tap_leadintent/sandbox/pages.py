"""One page of a query's records."""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.sandbox.cursor import Cursor, write_cursor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tap_leadintent.sandbox.data.shelf import Row, Shelf
    from tap_leadintent.sandbox.options import Options
    from tap_leadintent.sandbox.query import Query


class Page(msgspec.Struct, frozen=True):
    """A page before it is encoded.

    Attributes:
        bodies: Its records, encoded.
        start: The cursor that leads to this page.
        following: The cursor that leads to the next page, if there is one.
    """

    bodies: list[bytes]
    start: Cursor
    following: Cursor | None

    def encode(self) -> bytes:
        """Give the response body (API description: "Page envelope")."""
        token = "" if self.following is None else write_cursor(self.following)
        return encode_page(self.bodies, {"next": token, "has_more": bool(token)})


def encode_page(bodies: list[bytes], cursor: dict[str, Any]) -> bytes:
    """Put encoded records and a cursor object into the page envelope."""
    tail = msgspec.json.encode(cursor)
    return b'{"data":[%b],"cursor":%b}' % (b",".join(bodies), tail)


def read_page(shelf: Shelf, query: Query, start: Cursor, options: Options) -> Page:
    """Read the page of a query that a cursor leads to."""
    rows = shelf.rows(query.axis)
    low, high = _bounds(rows, query, options)
    if start.after is not None:
        if query.newest:
            high = bisect_left(rows, start.after, low, high)
        else:
            time, name = start.after
            low = bisect_left(rows, (time, name + "\0"), low, high)
    skip = start.offset
    order = range(high - 1, low - 1, -1) if query.newest else range(low, high)
    if query.filters or options.signals == "each":
        matching = _matching(shelf, rows, query, order, _end(query, options))
        found = list(islice(matching, skip, skip + query.limit + 1))
    else:
        found = [rows[position] for position in order[skip : skip + query.limit + 1]]
    bodies = [shelf.body(entry) for _, _, entry in found[: query.limit]]
    following = None
    if len(found) > query.limit:
        time, name, _ = found[query.limit - 1]
        by_offset = options.cursor_mode == "offset"
        following = Cursor(
            page=start.page + 1,
            after=None if by_offset else (time, name),
            offset=skip + query.limit if by_offset else 0,
            binding=start.binding,
        )
    return Page(bodies, start, following)


def _bounds(rows: list[Row], query: Query, options: Options) -> tuple[int, int]:
    if query.start is None or query.end is None:
        return 0, len(rows)
    low = bisect_left(rows, (query.start,))
    return low, max(low, bisect_left(rows, (_end(query, options),)))


def _end(query: Query, options: Options) -> float:
    """Give the first instant after a query's range."""
    if query.end is None:
        return math.inf
    return query.end + 1 if options.range_end == "inclusive" else query.end


def _matching(
    shelf: Shelf, rows: list[Row], query: Query, order: range, end: float
) -> Iterator[Row]:
    wanted = [
        (query.endpoint.filters[name], values) for name, values in query.filters.items()
    ]
    for position in order:
        row = rows[position]
        if (replaced := row[2].replaced) is not None and replaced < end:
            continue  # A chain shows a record once, at the latest signal in its range.
        record = shelf.record(row[2])
        if all(values & set(_values(record, path)) for path, values in wanted):
            yield row


def _values(record: object, path: tuple[str, ...]) -> Iterator[str]:
    """Give the texts at a path, through lists on the way."""
    if isinstance(record, list):
        for item in record:
            yield from _values(item, path)
    elif path and isinstance(record, dict):
        yield from _values(record.get(path[0]), path[1:])
    elif not path and isinstance(record, str):
        yield record
