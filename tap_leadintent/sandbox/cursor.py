"""Opaque cursors: where a page starts, bound to the query that it belongs to."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

import msgspec

from tap_leadintent.sandbox.query import Query, RefusedError

# Characters that break if a client decodes, escapes, trims or re-encodes a cursor.
_HEAD = "c+"
_TAIL = "/é%2B="


class Cursor(msgspec.Struct, frozen=True, array_like=True):
    """Where a page starts.

    Attributes:
        page: Number of the page in its chain, from 1.
        after: Time and id of the record before the page; None at the very start,
            and with offsets.
        offset: Number of records before the page; 0 unless offsets are used.
        binding: Digest of the query that the cursor was issued for.
    """

    page: int = 1
    after: tuple[int, str] | None = None
    offset: int = 0
    binding: str = ""


def bind(query: Query) -> str:
    """Digest what a cursor is bound to: endpoint, sort, filters and range."""
    parts = (
        query.endpoint.stream,
        query.newest,
        query.axis,
        query.start,
        query.end,
        sorted((name, sorted(values)) for name, values in query.filters.items()),
    )
    return blake2b(msgspec.json.encode(parts), digest_size=8).hexdigest()


def write_cursor(cursor: Cursor) -> str:
    """Give a cursor as the opaque text that clients see."""
    payload = urlsafe_b64encode(msgspec.json.encode(cursor)).decode()
    return f"{_HEAD}{payload}.{_seal(payload)}{_TAIL}"


def read_cursor(text: str, binding: str) -> Cursor:
    """Read a cursor back.

    Raises:
        RefusedError: It was changed, or belongs to another query.
    """
    payload, _, seal = text.removeprefix(_HEAD).removesuffix(_TAIL).partition(".")
    if f"{_HEAD}{payload}.{seal}{_TAIL}" != text or seal != _seal(payload):
        message = "the cursor cannot be read"
        raise RefusedError(400, "invalid_cursor", message)
    cursor = msgspec.json.decode(urlsafe_b64decode(payload), type=Cursor)
    if cursor.binding != binding:
        message = "the cursor was issued for another sort, filter, range or endpoint"
        raise RefusedError(400, "cursor_mismatch", message)
    return cursor


def _seal(payload: str) -> str:
    return blake2b(payload.encode(), key=b"sandbox", digest_size=6).hexdigest()
