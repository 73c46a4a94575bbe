"""Notices records that a request did not ask for.

Such records show that the API understands the request in another way, so other records
may be missing.

API description: "POST /v1/signals/leads", "POST /v1/monitor/signals".
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.times import (
    EARLIEST,
    LATEST,
    field_at,
    format_instant,
    time_at,
    utc_timestamp,
)

Paths = Mapping[str, Sequence[str]]
"""For the name of a request field, the path of the record's field that it restricts."""

_Filter: TypeAlias = tuple[str, Sequence[str], set[str]]
"""The name of a filter, the path of its field, and the values that it lets through."""

_FAR = 2 * 86_400
"""A record may lie this many seconds outside the requested interval if the API uses
another time zone, and whole days."""


class Contradictions:
    """Compares the records of a stream with the requests that they came for."""

    def __init__(
        self,
        time_fields: Paths,
        filtered_fields: Paths,
        filters: Mapping[str, Any],
    ) -> None:
        """Take the requests of a stream.

        Args:
            time_fields: The time ranges that records can be compared with.
            filtered_fields: The filters that records can be compared with.
            filters: The request fields that the setting `filters` holds.
        """
        self.far_outside: set[str] = set()
        """The time ranges with a record far outside the interval that was requested."""
        self._time_fields = time_fields
        self._filters: list[_Filter] = []
        for name, path in filtered_fields.items():
            accepted = set[str]()
            for value in filters.get(name) or ():
                accepted.add(str(value).casefold())
            if accepted:
                restriction = (name, path, accepted)
                self._filters.append(restriction)

    def check(
        self,
        records: Sequence[dict[str, Any]],
        range_name: str,
        interval: tuple[int, int],
        findings: Findings,
    ) -> None:
        """Warn of records that a request should have left out.

        Args:
            records: Records of a page, as the API gave them.
            range_name: The requested time range, empty without one.
            interval: The requested interval, in UTC seconds since 1970.
            findings: Learns of them.
        """
        for name, path, accepted in self._filters:
            if _has_other_value(records, path, accepted):
                findings.note(Finding.OUTSIDE_FILTER, [name])
        path = self._time_fields.get(range_name, ())
        if not path or not _has_other_time(records, path, interval):
            return
        findings.note(Finding.OUTSIDE_RANGE, [range_name])
        start, end = interval
        near = (max(EARLIEST, start - _FAR), min(LATEST, end + _FAR))
        if _has_other_time(records, path, near):
            self.far_outside.add(range_name)


def _has_other_value(
    records: Iterable[dict[str, Any]],
    path: Sequence[str],
    accepted: set[str],
) -> bool:
    """Return whether a record has a text in a field that is not accepted there."""
    for record in records:
        value = field_at(path, record)
        if not isinstance(value, str):
            continue
        if value.casefold() not in accepted:
            return True
    return False


def _has_other_time(
    records: Iterable[dict[str, Any]],
    path: Sequence[str],
    interval: tuple[int, int],
) -> bool:
    """Return whether a record has a time outside an interval."""
    start, end = interval
    first = utc_timestamp(format_instant(start)) or ""
    # An API may round times to seconds.
    last_second = format_instant(end).removesuffix("Z")
    last = f"{last_second}.999999Z"
    for record in records:
        time = time_at(path, record)
        if time and not first <= time <= last:
            return True
    return False
