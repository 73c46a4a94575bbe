"""The stream `loads`: what a run did for each of the other streams.

The tap has it with the setting `load_receipts`. It makes no requests.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import starmap
from typing import Any, NamedTuple
from uuid import uuid4

from singer_sdk import typing as th
from singer_sdk.helpers.types import Context
from singer_sdk.singerlib.catalog import REPLICATION_INCREMENTAL
from typing_extensions import override

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import Record
from tap_leadintent.progress import StreamStats
from tap_leadintent.replication.intervals import Interval
from tap_leadintent.singer.log import summarize
from tap_leadintent.streams.base import RunStream
from tap_leadintent.streams.stream import LeadIntentStream
from tap_leadintent.times import format_instant

_ALL = "all"
"""The time range of a stream that is read without one."""

_FIELDS = {
    "new_fields": Finding.UNKNOWN_FIELDS,
    "absent_fields": Finding.ABSENT_FIELDS,
    "contradicting_fields": Finding.MISMATCH,
}
"""Columns that name fields: those without a column that no earlier run has found, those
that no record of the run had, and those with values that do not match their column."""

_COLUMNS: dict[str, type[th.JSONTypeHelper[Any]]] = {
    "run_id": th.StringType,
    "stream": th.StringType,
    "time_range": th.StringType,
    "status": th.StringType,
    "reason": th.StringType,
    "tap_version": th.StringType,
    "new_fields": th.StringType,
    "absent_fields": th.StringType,
    "contradicting_fields": th.StringType,
    "run_began_at": th.DateTimeType,
    "ended_at": th.DateTimeType,
    "complete_from": th.DateTimeType,
    "complete_to": th.DateTimeType,
    "checked_from": th.DateTimeType,
    "checked_to": th.DateTimeType,
    "checked_records": th.IntegerType,
    "records": th.IntegerType,
    "requests": th.IntegerType,
    "retries": th.IntegerType,
    "seconds": th.NumberType,
}

_FIGURES = ("records", "requests", "retries", "seconds")
"""The columns that hold the figures of a stream."""


class Loads(RunStream):
    """A row for each stream and time range of the run, made at its end."""

    name = "loads"
    primary_keys = ("run_id", "stream", "time_range")
    replication_key = "run_began_at"
    schema = th.PropertiesList(*starmap(th.Property, _COLUMNS.items())).to_dict()

    reported: Sequence[LeadIntentStream] = ()
    """The other streams of the run."""

    @property
    @override
    def replication_method(self) -> str:
        # As a full table, it would lose the rows of earlier runs with ACTIVATE_VERSION.
        # A catalog that sets one for all streams means those of the API.
        return REPLICATION_INCREMENTAL

    def check(self) -> None:
        """Log "ok", for `--test`, as there is nothing to read."""
        self.logger.info("ok")

    @override
    def get_records(self, context: Context | None) -> Iterable[Record]:
        run = {
            "run_id": str(uuid4()),
            "tap_version": version(self.tap_name),
            "run_began_at": format_instant(self.run_began),
        }
        rows: list[Record] = []
        for stream in self.reported:
            if stream.stats.ended_at:
                rows += self._rows(stream, run)
        self.stats.records += len(rows)
        shape = self.shaper_for(self.effective_schema["properties"])
        yield from shape(rows)

    def _rows(
        self,
        stream: LeadIntentStream,
        run: Record,
    ) -> Iterator[Record]:
        """Yield a row for each time range of a stream."""
        stats = stream.stats
        ranges = stream.ranges if stream.is_incremental else (_ALL,)
        figures = stats.figures_by_range(default=ranges[0])
        covered = dict(stream.bookmark.coverage)
        if stats.has_succeeded:
            covered[_ALL] = [(0, self.complete_to())]
        for name in ranges:
            row = {
                **run,
                **_fields_named(stream.findings),
                "stream": stream.name,
                "time_range": name,
                "status": _status_of(stats),
                "reason": stats.failure and summarize(stats.failure),
                "ended_at": stats.ended_at,
            }
            intervals = covered.get(name)
            checked = _checked(stream, name)
            row |= _ends("complete", intervals[-1] if intervals else None)
            row |= _ends("checked", checked.interval)
            row["checked_records"] = checked.records
            for figure in _FIGURES:
                row[figure] = round(figures[name][figure], 3)
            yield row


class _Checked(NamedTuple):
    """What the table of a stream can be compared with after a run."""

    interval: Interval | None = None
    """In UTC seconds since 1970, without its end."""

    records: int | None = None
    """How many rows the table must have."""


def _checked(stream: LeadIntentStream, range_name: str) -> _Checked:
    """Return what a table can be compared with.

    Args:
        stream: The stream of the table.
        range_name: One of its time ranges, or another text for the complete list.

    Returns:
        An interval and a number of rows. If records carry the time of the range, it is
        the newest interval that the run has read completely, and the rows are those
        that lie in it. Otherwise it holds everything that the run has read of the
        range, and the rows are all that the run has written. What is not known is None.
    """
    written = stream.written
    if written is None or not stream.has_read_all:
        return _Checked()
    if range_name not in stream.time_fields:
        completed = stream.replication.completed.get(range_name)
        around = (completed[0][0], completed[-1][1]) if completed else None
        return _Checked(around, written.count())
    interval = stream.replication.newest_completed(range_name)
    if interval is None or not written.has_times:
        return _Checked(interval)
    return _Checked(interval, written.count(interval))


def _ends(name: str, interval: Interval | None) -> Record:
    """Return the columns for the ends of an interval, null without one."""
    if interval is None:
        return {f"{name}_from": None, f"{name}_to": None}
    start, end = interval
    return {
        f"{name}_from": format_instant(start),
        f"{name}_to": format_instant(end),
    }


def _fields_named(findings: Findings) -> Record:
    """Return the columns that name fields, null where there is no such field."""
    named: Record = {}
    for column, finding in _FIELDS.items():
        names = ", ".join(findings.unreported(finding))
        named[column] = summarize(names) or None
    return named


def _status_of(stats: StreamStats) -> str:
    if stats.is_stopped and not stats.failure:
        return "stopped"
    return "succeeded" if stats.has_succeeded else "failed"
