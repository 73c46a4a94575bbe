"""Request bodies: what they may hold, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from tap_leadintent.sandbox.times import parse_time

if TYPE_CHECKING:
    from tap_leadintent.sandbox.endpoints import Axis, Endpoint

DEFAULT_LIMIT = 25
MAXIMUM_LIMIT = 100

_RANGE = ("start_time", "end_time")


class RefusedError(Exception):
    """A request that the API refuses.

    Attributes:
        status: Status code of the response.
        code: Machine-readable reason.
        headers: Headers of the response.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Name status, reason and explanation."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers or {}


@dataclass(frozen=True, slots=True)
class Query:
    """A checked request body.

    Attributes:
        endpoint: The endpoint asked.
        limit: Largest number of records wanted.
        after: Cursor to continue from, as it was sent.
        newest: Whether the newest records come first.
        axis: Time that orders the records.
        start: Begin of the time range, in µs since 1970; None without a range.
        end: End of the time range.
        filters: Wanted values of each list filter that restricts.
    """

    endpoint: Endpoint
    limit: int
    after: str | None
    newest: bool
    axis: Axis
    start: int | None
    end: int | None
    filters: dict[str, frozenset[str]]


def read_query(endpoint: Endpoint, body: object, order: str) -> Query:
    """Check a request body (API description: "Endpoints") and say what it asks for.

    Args:
        endpoint: The endpoint asked.
        body: The decoded body.
        order: Sort to use when the body names none, `newest` or `oldest`.

    Raises:
        RefusedError: The body breaks a rule.
    """
    if not isinstance(body, dict):
        _refuse("the body must be a JSON object")
    known = {"cursor", "sort", *endpoint.filters, *endpoint.ranges}
    if unknown := body.keys() - known:
        _refuse(f"unknown field {min(unknown)!r}")
    sort = body.get("sort", order)
    if sort not in ("newest", "oldest"):
        _refuse("sort must be 'newest' or 'oldest'")
    limit, after = _read_cursor(body.get("cursor", {}))
    ranges = [name for name in endpoint.ranges if name in body]
    if len(ranges) > 1:
        _refuse(f"give either {' or '.join(ranges)}, not both")
    start = end = None
    axis = endpoint.order
    for name in ranges:
        start, end = _read_range(name, body[name])
        axis = endpoint.ranges[name]
    filters = {
        name: _read_values(name, body[name])
        for name in endpoint.filters
        if name in body
    }
    return Query(
        endpoint=endpoint,
        limit=limit,
        after=after,
        newest=sort == "newest",
        axis=axis,
        start=start,
        end=end,
        filters={name: values for name, values in filters.items() if values},
    )


def _refuse(message: str) -> NoReturn:
    raise RefusedError(400, "invalid_request", message)


def _read_cursor(cursor: object) -> tuple[int, str | None]:
    if not isinstance(cursor, dict):
        _refuse("cursor must be an object")
    if unknown := cursor.keys() - {"limit", "after"}:
        _refuse(f"unknown field 'cursor.{min(unknown)}'")
    limit = cursor.get("limit", DEFAULT_LIMIT)
    if type(limit) is not int or not 1 <= limit <= MAXIMUM_LIMIT:
        _refuse(f"cursor.limit must be an integer from 1 to {MAXIMUM_LIMIT}")
    after = cursor.get("after")
    if "after" in cursor and not isinstance(after, str):
        _refuse("cursor.after must be a string")
    return limit, after


def _read_range(name: str, value: object) -> tuple[int, int]:
    if not isinstance(value, dict) or value.keys() != set(_RANGE):
        _refuse(f"{name} must be an object with start_time and end_time")
    instants = []
    for key in _RANGE:
        if not isinstance(value[key], str):
            _refuse(f"{name}.{key} must be a string")
        try:
            instants.append(parse_time(value[key]))
        except ValueError as error:
            _refuse(f"{name}.{key} is {error}")
    start, end = instants
    if start > end:
        _refuse(f"{name}.start_time is after end_time")
    return start, end


def _read_values(name: str, value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        _refuse(f"{name} must be a list of strings")
    return frozenset(value)
