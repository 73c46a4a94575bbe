"""A warehouse that an upsert target fills, and that answers SQL."""

import re
import sqlite3
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Collection
from contextlib import closing
from typing import Any, NamedTuple

from typing_extensions import override

from tap_leadintent.times import utc_timestamp
from tests.support.helpers import Json
from tests.support.pages import ROOT, section
from tests.support.store import KilledError, Store, written

TABLES = ("leads", "observations", "signal_agents", "loads")

TIMES = {"leads": "signal_observed_at", "observations": "observed_at"}
"""The columns with the time of a row."""


(PAGE_QUERY,) = re.findall(
    r"```sql\n(.*?);\n```",
    section(ROOT / "docs/missing-rows.md", "## Has everything arrived?"),
    re.DOTALL,
)
"""The query of the page."""


def _query() -> str:
    """Return the query without the lines of streams that have no table here."""
    lines = []
    for line in PAGE_QUERY.splitlines():
        selected = re.search(r"UNION ALL SELECT '(\w+)'", line)
        if not selected or selected[1] in TABLES:
            lines.append(line)
    return "\n".join(lines)


QUERY = _query()


class Result(NamedTuple):
    """What the query says about a time range of a stream. Times are text."""

    checked_from: str | None
    checked_to: str | None
    checked_records: int | None
    arrived: int
    not_returned: int
    result: str


class Warehouse(Store):
    """The tables of some streams. A batch ends at a STATE, and can be lost."""

    def __init__(self) -> None:
        super().__init__()
        self.written: defaultdict[str, dict[str, Json]] = defaultdict(dict)
        """What the run has written of each stream: the last record of each key."""
        self.lost_batches: Collection[int] = ()
        """The numbers of the batches that the loader loses and confirms."""
        self.has_copy = False
        """Whether there is a backup."""
        self._batch: list[Json] = []
        self._batches = 0

    @abstractmethod
    def ask(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, with times as text, or change tables."""

    @abstractmethod
    def load(self, messages: list[Json]) -> None:
        """Load the records of a batch."""

    def results(self) -> dict[tuple[str, str], Result]:
        """Return what the query of the page says, by stream and time range."""
        results: dict[tuple[str, str], Result] = {}
        for stream, time_range, *values in self.ask(QUERY):
            results[stream, time_range] = Result(*values)
        return results

    def table(self, stream: str) -> dict[str, tuple[str, str]]:
        """Return the time and the load time of each row of a table, by id."""
        time = TIMES.get(stream, "NULL")
        query = f"SELECT id, {time}, _sdc_extracted_at FROM tap_leadintent.{stream}"
        rows = self.ask(query)
        return {name: (at, loaded_at) for name, at, loaded_at in rows}

    def delete(
        self,
        stream: str,
        name: str,
    ) -> None:
        """Delete a row by hand."""
        self.ask(f"DELETE FROM tap_leadintent.{stream} WHERE id = '{name}'")

    def save(self, *tables: str) -> None:
        """Keep a copy of tables."""
        self.has_copy = True
        for table in tables:
            copy = f"tap_leadintent.copy_of_{table}"
            self.ask(f"DROP TABLE IF EXISTS {copy}")
            self.ask(f"CREATE TABLE {copy} AS SELECT * FROM tap_leadintent.{table}")

    def restore(self, *tables: str) -> None:
        """Bring the copies back."""
        for table in tables:
            place = f"tap_leadintent.{table}"
            self.ask(f"DELETE FROM {place}")
            self.ask(
                f"INSERT INTO {place} SELECT * FROM tap_leadintent.copy_of_{table}"
            )

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
        if content["type"] == "STATE":
            self.end()
            self.state = content["value"]
            return
        self._batch.append(content)
        if content["type"] == "RECORD":
            record = content["record"]
            key = record.get("record_key") or record.get("id") or str(record)
            load_time = {"_sdc_extracted_at": content["time_extracted"]}
            self.written[content["stream"]][key] = {**record, **load_time}

    @override
    def end(self) -> None:
        """Load the rows of a batch, or lose them."""
        if any(message["type"] == "RECORD" for message in self._batch):
            self._batches += 1
        if self._batches in self.lost_batches:
            self._batch = [each for each in self._batch if each["type"] != "RECORD"]
        self.load(self._batch)
        self._batch = []


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
"""The columns that the query needs; each table in memory has all of them."""


class MemoryWarehouse(Warehouse):
    """Tables of SQLite in memory."""

    def __init__(self) -> None:
        super().__init__()
        self._database = sqlite3.connect(":memory:")
        self._database.execute("ATTACH ':memory:' AS tap_leadintent")
        columns = ", ".join(_COLUMNS)
        keys = dict.fromkeys(TABLES, "id")
        keys |= {"observations": "record_key", "loads": "run_id, stream, time_range"}
        for table, key in keys.items():
            place = f"tap_leadintent.{table}"
            self.ask(f"CREATE TABLE {place} ({columns}, PRIMARY KEY ({key}))")

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    @override
    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with closing(self._database.execute(query)) as cursor:
            return cursor.fetchall()

    @override
    def load(self, messages: list[Json]) -> None:
        marks = ", ".join("?" * len(_COLUMNS))
        for message in messages:
            if message["type"] != "RECORD":
                continue
            record = {
                **message["record"],
                "_sdc_extracted_at": message["time_extracted"],
            }
            # Times are compared as text.
            values = []
            for name in _COLUMNS:
                value = record.get(name)
                values.append(utc_timestamp(value) or value)
            place = f"tap_leadintent.{message['stream']}"
            statement = f"INSERT OR REPLACE INTO {place} VALUES ({marks})"
            self._database.execute(statement, values)
