"""The stream `loads`: what a run did for each of the other streams.

The tap has it with the setting `load_receipts`. It makes no requests.
"""

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from uuid import uuid4

from singer_sdk import typing as th
from singer_sdk.helpers.types import Context
from singer_sdk.singerlib.catalog import REPLICATION_INCREMENTAL
from typing_extensions import override

from tap_leadintent.findings import Finding
from tap_leadintent.openapi import Record
from tap_leadintent.run_stream import RunStream
from tap_leadintent.singer.log import summarize
from tap_leadintent.stream import LeadIntentStream
from tap_leadintent.times import format_instant

_ALL = "all"
"""The time range of a stream that is read without one."""

_TEXTS = ("run_id", "stream", "time_range", "status", "reason", "tap_version")
_FIELDS = {
    "new_fields": Finding.UNKNOWN_FIELDS,
    "absent_fields": Finding.ABSENT_FIELDS,
    "contradicting_fields": Finding.MISMATCH,
}
"""Columns that name fields: those without a column that no earlier run has found, those
that no record of the run had, and those with values that do not match their column."""

_TIMES = ("run_began_at", "ended_at", "complete_from", "complete_to")
_COUNTS = ("records", "requests", "retries")


class Loads(RunStream):
    """A row for each stream and time range of the run, made at its end."""

    name = "loads"
    primary_keys = ("run_id", "stream", "time_range")
    replication_key = "run_began_at"
    schema = th.PropertiesList(
        *(th.Property(name, th.StringType) for name in (*_TEXTS, *_FIELDS)),
        *(th.Property(name, th.DateTimeType) for name in _TIMES),
        *(th.Property(name, th.IntegerType) for name in _COUNTS),
        th.Property("seconds", th.NumberType),
    ).to_dict()

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
        run = {"run_id": str(uuid4()), "tap_version": version(self.tap_name)}
        run["run_began_at"] = format_instant(self.run_began)
        tried = [each for each in self.reported if each.stats.ended_at]
        rows = [{**run, **row} for stream in tried for row in self._rows(stream)]
        self.stats.records += len(rows)
        yield from self.shaper_for(self.effective_schema["properties"])(rows)

    def _rows(self, stream: LeadIntentStream) -> Iterator[Record]:
        stats, failure = stream.stats, stream.stats.failure
        ranges = stream.ranges if stream.is_incremental else (_ALL,)
        figures = stats.figures_by_range(default=ranges[0])
        covered = {**stream.bookmark.coverage}
        if stats.is_complete:
            covered[_ALL] = [(0, self.complete_to())]
        fields = {
            name: summarize(", ".join(stream.findings.news(finding))) or None
            for name, finding in _FIELDS.items()
        }
        status = "succeeded" if stats.is_complete else "failed"
        if stats.is_stopped and not failure:
            status = "stopped"
        for name in ranges:
            intervals = covered.get(name)
            start, end = intervals[-1] if intervals else (None, None)
            yield {
                **{
                    each: round(figures[name][each], 3)
                    for each in (*_COUNTS, "seconds")
                },
                **fields,
                "stream": stream.name,
                "time_range": name,
                "status": status,
                "reason": failure and summarize(failure),
                "ended_at": stats.ended_at,
                "complete_from": None if start is None else format_instant(start),
                "complete_to": None if end is None else format_instant(end),
            }
