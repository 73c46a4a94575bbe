"""Records put in by hand, with any content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.sandbox.data.shelf import Entry
from tap_leadintent.sandbox.times import parse_time

if TYPE_CHECKING:
    from tap_leadintent.sandbox.data.shelf import Shelf


class Insert(msgspec.Struct, forbid_unknown_fields=True):
    """Records to put into a stream; times are ISO 8601.

    Attributes:
        stream: The stream.
        records: Any JSON. A record replaces the one that has its `id` (an id that
            is not a string counts by its JSON text); one without an id is always added.
        texts: More records, as JSON text that is served byte for byte.
        found_at: When they appear. The default is what the replaced record has,
            else the clock.
        observed_at: Time of their signal; of `observations` their only time.
            The default is what the record says of itself, else when it appears.
        activity_at: Time of their latest activity, likewise.
    """

    stream: str
    records: list[Any] = []
    texts: list[str] = []
    found_at: str | None = None
    observed_at: str | None = None
    activity_at: str | None = None


def insert(shelf: Shelf, wanted: Insert, now: int) -> list[str]:
    """Put records into a stream.

    Returns:
        The ids that they can be removed by.

    Raises:
        ValueError: A time is malformed, or one that the stream's records lack.
    """
    for name in ("found_at", "observed_at", "activity_at"):
        if getattr(wanted, name) and name not in shelf.endpoint.times.values():
            msg = f"records of {wanted.stream} have no {name}"
            raise ValueError(msg)
    texts = [*map(json.dumps, wanted.records), *wanted.texts]
    return [_insert(shelf, text, wanted, now) for text in texts]


def read_insert(body: bytes) -> Insert:
    """Decode an insert.

    Raises:
        ValueError: It is not an insert.
    """
    # The standard decoder also takes what stricter ones refuse: lone surrogates.
    return msgspec.convert(json.loads(body), Insert)


def _insert(shelf: Shelf, text: str, wanted: Insert, now: int) -> str:
    record = json.loads(text)
    own = record.get("id") if isinstance(record, dict) else None
    name = own if isinstance(own, str) else json.dumps(own)
    if own is None:
        name = f"without-id-{shelf.ticket()}"
    known = shelf.entries.get(name)
    times = shelf.endpoint.times
    given = {
        "found_at": wanted.found_at,
        "observed_at": wanted.observed_at or _said(record, "observed_at"),
        "activity_at": wanted.activity_at or _said(record, "latest_activity_at"),
    }
    told = given[times["found"]]
    if told is not None:
        found = parse_time(told)
    else:
        found = now if known is None else known.found
    latest = given.get(times.get("latest", ""))
    entry = Entry(name, -1, found, found if latest is None else parse_time(latest))
    entry.body = text.encode()
    shelf.put(entry)
    return name


def _said(record: object, field: str) -> str | None:
    """Give a record's or its signal's own valid time, if it has one."""
    if not isinstance(record, dict):
        return None
    for place in (record, record.get("signal")):
        text = place.get(field) if isinstance(place, dict) else None
        if isinstance(text, str):
            try:
                parse_time(text)
            except ValueError:
                continue
            return text
    return None
