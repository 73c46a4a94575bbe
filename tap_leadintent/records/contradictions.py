"""Notices records that a request did not ask for.

Such records show that the API understands the request in another way, so other records
may be missing.

API description: "POST /v1/signals/leads", "POST /v1/monitor/signals".
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.times import field_at, format_instant, time_at, utc_timestamp

Paths = Mapping[str, Sequence[str]]
"""For the name of a request field, the path of the record's field that it restricts."""


class Contradictions:
    """Compares the records of a stream with the requests that they came for."""

    def __init__(
        self, time_fields: Paths, filtered_fields: Paths, filters: Mapping[str, Any]
    ) -> None:
        """Take the requests of a stream.

        Args:
            time_fields: The time ranges that records can be compared with.
            filtered_fields: The filters that records can be compared with.
            filters: The request fields that the setting `filters` holds.
        """
        self._time_fields = time_fields
        self._filters = [
            (name, path, {str(each).casefold() for each in filters[name]})
            for name, path in filtered_fields.items()
            if filters.get(name)
        ]

    def check(
        self,
        records: Iterable[dict[str, Any]],
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
            values = (field_at(path, record) for record in records)
            if any(isinstance(v, str) and v.casefold() not in accepted for v in values):
                findings.note(Finding.OUTSIDE_FILTER, [name])
        if path := self._time_fields.get(range_name, ()):
            # An API may round times to seconds.
            start, end = (format_instant(each) for each in interval)
            first, last = utc_timestamp(start) or "", f"{end[:-1]}.999999Z"
            times = (time_at(path, record) for record in records)
            if any(time and not first <= time <= last for time in times):
                findings.note(Finding.OUTSIDE_RANGE, [range_name])
