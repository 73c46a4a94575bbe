"""The stream `loads`, and the queries of the page, on PostgreSQL."""

import re
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from typing import Any

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.streams.stream import LeadIntentStream
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    Json,
    Run,
    RunTap,
    declared_tap,
    status,
    where,
)
from tests.support.pages import ROOT, section
from tests.support.rows import instant
from tests.support.schemas import Schema

BEHIND, SILENT = re.findall(
    r"```sql\n(.*?);\n```",
    section(ROOT / "docs/runs.md", "## Runs as rows in the warehouse"),
    re.DOTALL,
)
LATER = """
    UPDATE tap_leadintent.loads SET run_began_at = run_began_at - INTERVAL '8 days',
    complete_to = complete_to - INTERVAL '8 days'
"""
TIMES = {"loads": "run_began_at", "leads": "signal_observed_at"}
TIMES["observations"] = "observed_at"


def streams_and_ranges() -> list[tuple[str, str]]:
    """Return the key of each row that a run leaves: one for each range of a stream."""
    keys = []
    for stream in declared_tap().discover_streams():
        if isinstance(stream, LeadIntentStream):
            ranges = stream.ranges if stream.is_incremental else ("all",)
            for time_range in ranges:
                key = (stream.name, time_range)
                keys.append(key)
    return sorted(keys)


ROWS = streams_and_ranges()
key_of = itemgetter("stream", "time_range")


def values(name: str, rows: list[Json]) -> set[Any]:
    """Return the different values of a column."""
    return {row[name] for row in rows}


def test_each_run_leaves_rows_that_show_what_is_behind_and_what_failed(
    tap: RunTap,
    sandbox: Sandbox,
    schema: Schema,
    config: Json,
) -> None:
    config |= {"load_receipts": True, "max_retries": 0}

    def load(run: Run) -> list[Json]:
        """Load a run; return its rows, the newest ones."""
        schema.load(run)
        rows = schema.rows("loads")
        newest = max(values("run_began_at", rows))
        found = where(rows, run_began_at=newest)
        assert sorted(map(key_of, found)) == ROWS
        return found

    def configure(hours_ago: int, size: int) -> datetime:
        clock = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=hours_ago)
        sizes = dict.fromkeys(STREAMS, size)
        sandbox.configure(
            api_key=API_KEY,
            clock=clock.isoformat(),
            sizes=sizes,
        )
        return clock

    configure(3, 12)
    good = tap(config).succeeded()
    rows = load(good)
    assert values("status", rows) == {"succeeded"}
    assert len(values("run_id", rows)) == 1
    for stream in STREAMS:
        records = 0
        requests = 0
        for row in where(rows, stream=stream):
            records += row["records"]
            requests += row["requests"]
        assert records == len(good.records(stream))
        assert requests == len(where(sandbox.requests(), stream=stream))
    assert schema.ask(BEHIND) == []

    clock = configure(2, 0)
    empty = tap(config, state=good.state).succeeded()
    rows = load(empty)
    assert values("records", rows) == {0}
    assert values("complete_to", rows) == {instant(clock)}
    begun = values("complete_from", where(rows, time_range="all"))
    assert begun == {instant(datetime(1970, 1, 1, tzinfo=UTC))}
    assert schema.ask(BEHIND) == []

    schema.ask(LATER)
    assert sorted(row[:2] for row in schema.ask(BEHIND)) == ROWS
    configure(1, 12)
    sandbox.faults(
        status(
            403,
            body=f"not for {API_KEY}",
            stream="leads",
        ),
        status(403, stream="signal_agents"),
    )
    run = tap(config, state=empty.state)
    rows = load(run)
    failed = where(rows, status="failed")
    assert values("stream", failed) == {"leads", "signal_agents"}
    complete_to = {}
    for row in failed:
        assert "(HTTP 403 " in row["reason"]
        assert API_KEY not in row["reason"]
        complete_to[row["time_range"]] = row["complete_to"]
    assert complete_to.pop("all") is None
    # The state, which the test did not age, says how far leads are complete: up to what
    # the run was to read again.
    _head, *covered = run.state["bookmarks"]["leads"]["coverage"]
    assert complete_to == {each["range"]: instant(each["to"]) for each in covered}
    assert max(complete_to.values()) < clock
    assert [row[:2] for row in schema.ask(BEHIND)] == [("signal_agents", "all")]


def test_streams_that_bring_nothing_new_for_days_are_found(
    tap: RunTap,
    sandbox: Sandbox,
    schema: Schema,
    config: Json,
) -> None:
    config |= {"load_receipts": True}
    state = None
    # The API then answers with empty lists.
    for size, silent in (
        (100, []),
        (0, sorted(STREAMS)),
    ):
        clock = datetime.now(UTC).isoformat()
        sizes = dict.fromkeys(STREAMS, size)
        sandbox.configure(
            api_key=API_KEY,
            clock=clock,
            sizes=sizes,
        )
        run = tap(config, state=state).succeeded()
        state = run.state
        schema.load(run)
        assert [stream for stream, _ in schema.ask(SILENT)] == silent
        for table, column in TIMES.items():
            sooner = f"SET {column} = {column} - INTERVAL '5 days'"
            schema.ask(f"UPDATE tap_leadintent.{table} {sooner}")


def test_without_the_setting_there_is_no_such_stream(tap: RunTap, config: Json) -> None:
    messages = tap(config, "--test=schema").messages
    assert values("stream", messages) == set(STREAMS)
    config |= {
        "load_receipts": True,
        "stream_maps": {"loads": {"__alias__": "runs"}},
    }
    messages = tap(config, "--test=schema").succeeded().messages
    assert values("stream", messages) == {*STREAMS, "runs"}
    assert "loads: ok" in tap(config, "--test").succeeded().stderr
