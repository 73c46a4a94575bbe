"""A warehouse in memory, which an upsert target fills, and that answers SQL."""

import re
import sqlite3
from collections import defaultdict
from collections.abc import Collection
from contextlib import closing
from typing import Any, NamedTuple

from typing_extensions import override

from tap_leadintent.times import utc_timestamp
from tests.support.pages import ROOT, section
from tests.support.store import KilledError, Store, written

(QUERY,) = re.findall(
    r"```sql\n(.*?);\n```",
    section(ROOT / "docs/missing-rows.md", "## Has everything arrived?"),
    re.DOTALL,
)
"""The query of the page that compares the tables with the newest run."""

KEYS = {
    "leads": "id",
    "signal_agents": "id",
    "loads": "run_id, stream, time_range",
}
"""The keys of tables whose key is not `record_key`."""

TABLES = (
    "leads",
    "observations",
    "signal_agents",
    "signal_accounts",
    "monitored_accounts",
    "custom_signals",
    "monitored_leads",
    "loads",
)

_COLUMNS = (
    "id",
    "record_key",
    "signal_observed_at",
    "observed_at",
    "_sdc_extracted_at",
    "run_id",
    "stream",
    "time_range",
    "run_began_at",
    "ended_at",
    "checked_from",
    "checked_to",
    "checked_records",
)
"""The columns that the query needs, which each table has here."""


class Result(NamedTuple):
    """What the query says about a time range of a stream."""

    checked_from: str | None
    checked_to: str | None
    checked_records: int | None
    arrived: int
    not_returned: int
    result: str


class Warehouse(Store):
    """The tables of all streams. A batch ends at a STATE, and can be lost."""

    def __init__(self) -> None:
        super().__init__()
        self._database = sqlite3.connect(":memory:")
        self._database.execute("ATTACH ':memory:' AS tap_leadintent")
        for table in TABLES:
            key = KEYS.get(table, "record_key")
            self.ask(
                f"CREATE TABLE tap_leadintent.{table} "
                f"({', '.join(_COLUMNS)}, PRIMARY KEY ({key}))"
            )
        self.written: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        """What the run has written of each stream: the last record of each key."""
        self.lost_batches: Collection[int] = ()
        """The numbers of the batches that the loader loses and confirms."""
        self._batch: list[dict[str, Any]] = []
        self._batches = 0

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def ask(self, query: str) -> list[Any]:
        """Return the rows of a query, or change tables."""
        with closing(self._database.execute(query)) as cursor:
            return cursor.fetchall()

    def results(self) -> dict[tuple[str, str], Result]:
        """Return what the query of the page says, by stream and time range."""
        return {(row[0], row[1]): Result(*row[2:]) for row in self.ask(QUERY)}

    @override
    def begin(self, killed_after: int | None) -> None:
        super().begin(killed_after)
        self.written.clear()
        self._batch = []
        self._batches = 0

    @override
    def write_message(self, message: Any) -> None:
        if self._remaining is not None:
            if self._remaining == 0:
                raise KilledError
            self._remaining -= 1
        content = written(message)
        self.messages.append(content)
        if content["type"] == "RECORD":
            record = {**content["record"]}
            record["_sdc_extracted_at"] = content["time_extracted"]
            key = record.get("record_key") or record.get("id") or ""
            self.written[content["stream"]][key] = record
            self._batch.append({**record, "": content["stream"]})
        elif content["type"] == "STATE":
            self._load()
            self.state = content["value"]

    @override
    def end(self) -> None:
        self._load()

    def _load(self) -> None:
        """Load the rows of a batch, or lose them."""
        if self._batch:
            self._batches += 1
        if self._batches not in self.lost_batches:
            for record in self._batch:
                values = [_value(record.get(name)) for name in _COLUMNS]
                marks = ", ".join("?" * len(_COLUMNS))
                table = f"tap_leadintent.{record['']}"
                self._database.execute(
                    f"INSERT OR REPLACE INTO {table} VALUES ({marks})", values
                )
        self._batch = []


def _value(value: Any) -> Any:
    """Return a value as SQLite keeps it; times are compared as text."""
    return utc_timestamp(value) or value
