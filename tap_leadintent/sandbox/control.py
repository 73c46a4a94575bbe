"""Routes under `/_sandbox/` that steer the sandbox; they need no key."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.records import Entry
from tap_leadintent.sandbox.times import SECOND, format_time, parse_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tap_leadintent.sandbox.app import App
    from tap_leadintent.sandbox.world import Shelf

_NUMBERS = count()


class Control:
    """What the routes do, each in the method of its name; arguments are JSON.

    Each method gives what is answered, and raises ValueError if it cannot be done.
    """

    def __init__(self, app: App) -> None:
        """Steer the given application."""
        self._app = app
        self._base = app.options

    def get_clock(self) -> object:
        """Give the clock."""
        return {"now": format_time(self._app.world.now)}

    def post_clock(self, advance_seconds: float) -> object:
        """Move the clock forward."""
        self._app.world.advance(msgspec.convert(advance_seconds, float) * SECOND)
        return self.get_clock()

    def post_configure(self, **options: Any) -> object:
        """Start anew."""
        self._app.configure(self._base.changed(options))
        return self.get_clock()

    def get_records(self, stream: str) -> object:
        """Give all records of a stream with their times."""
        shelf = self._shelf(stream)
        entries = [entry for _, _, entry in shelf.rows(shelf.endpoint.order)]
        records = [msgspec.Raw(shelf.body(entry)) for entry in entries]
        return {"records": records, "times": [_times(shelf, e) for e in entries]}

    def post_records(
        self,
        stream: str,
        records: Sequence[Any] = (),
        texts: Sequence[str] = (),
        **times: str,
    ) -> object:
        """Insert or replace records, given as any JSON or as texts of JSON.

        A record replaces the one that has its `id` (an id that is not a string counts
        by its JSON text); one without an id is always added. Times are `found_at`,
        `observed_at` and `activity_at` (ISO 8601): when they appear, and the time of
        their latest signal or activity. By default, that is what a record says of
        itself, else what the replaced one had, else the clock.
        """
        shelf = self._shelf(stream)
        if unknown := times.keys() - shelf.endpoint.times.values():
            msg = f"records of {stream} have no {min(unknown)}"
            raise ValueError(msg)
        texts = [*map(json.dumps, records), *texts]
        return {"ids": [self._insert(shelf, text, times) for text in texts]}

    def delete_records(self, stream: str, ids: Sequence[str]) -> object:
        """Remove records."""
        shelf = self._shelf(stream)
        return {"removed": [name for name in ids if shelf.remove(name)]}

    def get_requests(self) -> object:
        """Give the log of requests."""
        return {"requests": list(self._app.log)}

    def delete_requests(self) -> object:
        """Empty the log."""
        self._app.log.clear()
        return {}

    def post_faults(self, faults: Sequence[Any]) -> object:
        """Put faults in force instead of all others."""
        self._app.arm(faults)
        return {}

    def _shelf(self, stream: str) -> Shelf:
        if stream not in ENDPOINTS:
            msg = f"unknown stream {stream!r}, known are {', '.join(ENDPOINTS)}"
            raise ValueError(msg)
        return self._app.world.shelves[stream]

    def _insert(self, shelf: Shelf, text: str, told: dict[str, str]) -> str:
        """Put a record into a stream; give the id that it can be removed by."""
        record = json.loads(text)
        fields = record if isinstance(record, dict) else {}
        own = fields.get("id")
        name = own if isinstance(own, str) else json.dumps(own)
        if own is None:
            name = f"without-id-{next(_NUMBERS)}"
        times = {
            "observed_at": _said(fields.get("signal"), "observed_at")
            or _said(fields, "observed_at"),
            "activity_at": _said(fields, "latest_activity_at"),
            **{key: parse_time(time) for key, time in told.items()},
        }
        named = shelf.endpoint.times
        known = shelf.entries.get(name)
        found = times.get(named["found"]) or (
            known.found if known else self._app.world.now
        )
        latest = times.get(named.get("latest", "")) or found
        shelf.put(Entry(name, -1, found, latest, body=text.encode()))
        return name


def _times(shelf: Shelf, entry: Entry) -> dict[str, str]:
    times = {"found": entry.found, "latest": entry.latest}
    named = shelf.endpoint.times.items()
    return {"id": entry.id} | {name: format_time(times[axis]) for axis, name in named}


def _said(record: object, field: str) -> int | None:
    """Give a time that a record has of its own, if it is one."""
    try:
        return parse_time(record[field]) if isinstance(record, dict) else None
    except (KeyError, TypeError, ValueError):
        return None
