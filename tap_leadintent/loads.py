"""The stream `loads`: what a run did for each of the other streams.

The tap has it with the setting `load_receipts`. It makes no requests.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from itertools import starmap
from typing import Any
from uuid import uuid4

from singer_sdk import typing as th
from singer_sdk.helpers.types import Context
from singer_sdk.singerlib.catalog import REPLICATION_INCREMENTAL
from typing_extensions import override

from tap_leadintent.findings import Finding, Findings
from tap_leadintent.openapi import Record
from tap_leadintent.progress import StreamStats
from tap_leadintent.run_stream import RunStream
from tap_leadintent.singer.log import summarize
from tap_leadintent.stream import LeadIntentStream
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
        if stats.is_complete:
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
                "complete_from": None,
                "complete_to": None,
            }
            intervals = covered.get(name)
            if intervals:
                start, end = intervals[-1]
                row["complete_from"] = format_instant(start)
                row["complete_to"] = format_instant(end)
            for figure in _FIGURES:
                row[figure] = round(figures[name][figure], 3)
            yield row


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
    return "succeeded" if stats.is_complete else "failed"
