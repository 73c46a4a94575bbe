"""What is read again and what is not, from run to run, as real processes."""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.demo.processes import DemoError
from tests.helpers import STREAMS, raw_records

from .helpers import (
    CLOCK,
    DAY,
    SINCE,
    Pipeline,
    TapProcess,
    asked,
    catalog,
    checkpoints,
    column,
    covered,
    fill,
    ids_between,
    instant,
    last_state,
    running_warehouse,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.helpers import Run

    from .helpers import Warehouse

LOOKBACK = timedelta(days=1)
OVERLAP = timedelta(seconds=1)

RANGES = {
    "leads": ("date_found", "latest_signal"),
    "signal_accounts": ("date_found", "latest_signal"),
    "observations": ("observed_at",),
    "monitored_leads": ("latest_activity",),
}

LATER = "2024-11-01T00:00:00Z"
LATEST = "2025-02-01T12:30:00Z"


class Series:
    """Runs of the tap, each with the state that the one before it left."""

    def __init__(
        self, folder: Path, sandbox: Sandbox, config: Mapping[str, Any], *streams: str
    ) -> None:
        self._folder = folder
        self._sandbox = sandbox
        self._config = config
        self._catalog = catalog(*streams)
        self.state: Any = None

    def start(self, **settings: Any) -> TapProcess:
        """Start a run; the sandbox then logs its requests only."""
        self._sandbox.clear_requests()
        config = {**self._config, **settings}
        state = self.state
        return TapProcess(self._folder, config, catalog=self._catalog, state=state)

    def run(self, **settings: Any) -> Run:
        """Run to the end."""
        run = self.start(**settings).finish().succeeded()
        self.state = last_state(run)
        return run


@pytest.fixture
def leads(sandbox: Sandbox, config: dict[str, Any], tmp_path: Path) -> Series:
    """Read 3,000 leads, and nothing else."""
    fill(sandbox, leads=3000)
    return Series(tmp_path, sandbox, config, "leads")


def ids(run: Run) -> Counter[str]:
    """Count the leads of a run by their ids."""
    return Counter(record["id"] for record in run.records("leads"))


def settled(times: Mapping[str, Mapping[str, str]], *edges: datetime) -> set[str]:
    """Give the leads that no lookback touches.

    Args:
        times: The leads' times.
        edges: Newest covered instants of `date_found`, and last the present, which
            is also that of `latest_signal`.
    """
    touched = ids_between(
        times, "observed_at", edges[-1] - LOOKBACK - OVERLAP, edges[-1] + OVERLAP
    )
    for edge in edges:
        touched |= ids_between(
            times, "found_at", edge - LOOKBACK - OVERLAP, edge + OVERLAP
        )
    return times.keys() - touched


# The clock moves


@pytest.mark.parametrize("stream", ["leads", "signal_accounts"])
def test_old_signals_found_now_and_new_signals_of_what_is_known_arrive(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path, stream: str
) -> None:
    fill(sandbox, **{stream: 500})
    series = Series(tmp_path, sandbox, config, stream)
    series.run(start_date=SINCE)
    times = sandbox.times(stream)
    known = min(times, key=lambda key: times[key]["found_at"])
    record = next(r for r in sandbox.records(stream) if r["id"] == known)
    now = instant(sandbox.advance(3 * DAY))
    an_hour_ago = (now - timedelta(hours=1)).isoformat()
    long_ago = (now - timedelta(days=40)).isoformat()
    moved = {**record, "signal": {**record["signal"], "observed_at": an_hour_ago}}
    late = {"id": "late", "signal": {**record["signal"], "observed_at": long_ago}}
    sandbox.insert(stream, moved)
    sandbox.insert(stream, late, found_at=an_hour_ago)

    run = series.run(start_date=SINCE)

    signals = {
        row["id"]: (row.get("signal") or row["additional_properties"]["signal"])
        for row in run.records(stream)
    }
    assert instant(signals["late"]["observed_at"]) == instant(long_ago)
    assert instant(signals[known]["observed_at"]) == instant(an_hour_ago)
    assert len(signals) < 100


@pytest.mark.parametrize(("size", "days"), [(500, 0), (0, 365)])
def test_a_run_that_finds_nothing_new_makes_at_most_two_requests_for_each_range(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path, size: int, days: int
) -> None:
    # Leads would appear as time passes, however few there are.
    streams = [name for name in RANGES if size or name != "leads"]
    fill(sandbox, **dict.fromkeys(streams, size))
    series = Series(tmp_path, sandbox, config, *streams)
    for _ in range(2):
        series.run(start_date=SINCE)
    sandbox.advance(days * DAY)
    run = series.run(start_date=SINCE)

    for stream in streams:
        for name in RANGES[stream]:
            assert 1 <= len(asked(sandbox, stream, name)) <= 2
            ((_, end),) = covered(last_state(run), stream, name)
            assert end == instant(sandbox.now())
    assert len(sandbox.requests()) <= 2 * sum(len(RANGES[name]) for name in streams)
    assert size or not any(run.records(stream) for stream in streams)


# Settings change


@pytest.mark.parametrize("lines", [None, 700], ids=["at once", "interrupted"])
def test_an_earlier_start_date_reads_the_older_stretch_once(
    sandbox: Sandbox, leads: Series, lines: int | None
) -> None:
    leads.run(start_date=LATER)
    times = sandbox.times("leads")
    rows: Counter[str] = Counter()
    log = []
    if lines is not None:
        process = leads.start(start_date=SINCE)
        process.read(lines)
        killed = process.kill()
        *_, sealed = checkpoints(killed, "leads")
        assert sealed.written
        rows.update(sealed.written)
        leads.state = sealed.state
        log = asked(sandbox, "leads", "date_found")
    rows.update(ids(leads.run(start_date=SINCE)))
    log += asked(sandbox, "leads", "date_found")

    now = instant(CLOCK)
    older = ids_between(times, "found_at", instant(SINCE), instant(LATER))
    assert len(older) > 1000
    calm = settled(times, now)
    assert all(rows[lead] == (lead in older) for lead in calm)
    assert rows.keys() >= older
    assert all(
        end <= instant(LATER) or start >= now - LOOKBACK - OVERLAP for start, end in log
    )
    assert covered(leads.state, "leads", "date_found") == [(instant(SINCE), now)]


def test_moving_the_start_date_on_and_back_reads_the_hole_once(
    sandbox: Sandbox, leads: Series
) -> None:
    leads.run(start_date=SINCE)
    now = instant(sandbox.advance(30 * DAY))
    times = sandbox.times("leads")
    first_end, moved = instant(CLOCK), now - timedelta(days=10)

    leads.run(start_date=moved.isoformat())
    assert all(
        start >= moved - OVERLAP for start, _ in asked(sandbox, "leads", "date_found")
    )
    before, after = covered(leads.state, "leads", "date_found")
    assert before == (instant(SINCE), first_end - LOOKBACK)
    assert after == (moved, now)

    rows = ids(leads.run(start_date=SINCE))
    hole = ids_between(times, "found_at", first_end, moved)
    assert len(hole) > 100
    calm = settled(times, first_end, now)
    assert all(rows[lead] == (lead in hole) for lead in calm)
    assert rows.keys() >= hole
    assert covered(leads.state, "leads", "date_found") == [(instant(SINCE), now)]


@pytest.mark.parametrize("shards", [(0, 1), (1, 0)], ids=["in order", "newer first"])
def test_shards_and_then_an_unbounded_run_read_each_stretch_once(
    sandbox: Sandbox, leads: Series, shards: tuple[int, ...]
) -> None:
    times = sandbox.times("leads")
    edges = [SINCE, LATER, LATEST]
    rows: Counter[str] = Counter()
    for shard in shards:
        start, end = edges[shard : shard + 2]
        run = leads.run(start_date=start, end_date=end)
        found = ids_between(times, "found_at", instant(start), instant(end))
        assert ids(run).keys() >= found
        assert all(
            instant(start) - OVERLAP <= a < b <= instant(end)
            for a, b in asked(sandbox, "leads", "date_found")
        )
        rows.update(ids(run))
    rows.update(ids(leads.run(start_date=SINCE)))

    calm = settled(times, instant(LATER), instant(LATEST), instant(CLOCK))
    assert len(calm) > 2500
    assert all(rows[lead] == 1 for lead in calm)
    assert rows.keys() == times.keys()
    span = (instant(SINCE), instant(CLOCK))
    assert covered(leads.state, "leads", "date_found") == [span]


def test_changed_filters_start_anew_with_a_warning(
    sandbox: Sandbox, leads: Series
) -> None:
    warning = "starts anew: its filters have changed"
    kinds = Counter(record["signal"]["type"] for record in sandbox.records("leads"))
    wanted, count = kinds.most_common(1)[0]
    filters = {"leads": {"signals": [wanted]}}
    first = leads.run(start_date=SINCE)
    second = leads.run(start_date=SINCE, filters=filters)
    again = leads.run(start_date=SINCE, filters=filters)
    without = leads.run(start_date=SINCE)

    assert [warning in run.stderr for run in (first, second, again, without)] == [
        *(False, True, False, True)
    ]
    assert ids(second).total() == len(ids(second)) == count
    assert ids(again).total() < count / 10
    assert ids(without) == ids(first)


# Keys and whole tables


def test_a_lead_without_a_signals_time_cannot_have_it_as_key(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, leads=10)
    sandbox.insert("leads", {"id": "unobserved"}, found_at=CLOCK)
    key = {"key_properties": ["id", "signal_observed_at"]}
    process = TapProcess(tmp_path, config, catalog=catalog("leads", leads=key))
    assert "leads: page 1: a record has no signal_observed_at" in (
        process.finish().failed()
    )


@pytest.mark.parametrize("versions", [True, False])
def test_a_full_table_is_one_chain_and_its_version_comes_last(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path, *, versions: bool
) -> None:
    fill(sandbox, leads=250, observations=250, monitored_accounts=250)
    full = {"replication_method": "FULL_TABLE"}
    config |= {"start_date": SINCE, "emit_activate_version_messages": versions}
    streams = ("leads", "observations", "monitored_accounts")
    process = TapProcess(tmp_path, config, catalog=catalog(*streams, leads=full))
    run = process.finish().succeeded()

    for stream in streams:
        kinds = [
            message["type"]
            for message in run.messages
            if message.get("stream") == stream
        ]
        activated = versions and stream != "observations"
        assert kinds == [
            *("SCHEMA", *(250 * ["RECORD"])),
            *(["ACTIVATE_VERSION"] if activated else []),
        ]
        recorded = {
            message.get("version")
            for message in run.messages
            if message["type"] in {"RECORD", "ACTIVATE_VERSION"}
            and message["stream"] == stream
        }
        assert len(recorded) == 1
        assert (recorded == {None}) is not activated
    bodies = [r["body"] for r in sandbox.requests() if r["stream"] == "leads"]
    assert [body.keys() for body in bodies] == 3 * [{"cursor"}]
    assert not last_state(run)["bookmarks"]["leads"]


def test_a_full_table_that_fails_midway_activates_nothing(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, monitored_accounts=250)
    sandbox.faults({"kind": "status", "status": 400, "skip": 2})
    config["emit_activate_version_messages"] = True
    process = TapProcess(tmp_path, config, catalog=catalog("monitored_accounts"))
    run = process.finish()
    run.failed()
    assert len(run.records("monitored_accounts")) == 200
    assert "ACTIVATE_VERSION" not in run.stdout


# Meltano and PostgreSQL


@pytest.fixture(scope="module")
def warehouse() -> Iterator[Warehouse]:
    with running_warehouse() as warehouse:
        yield warehouse


def test_a_key_with_the_signals_time_keeps_every_signal_seen(
    sandbox: Sandbox, warehouse: Warehouse
) -> None:
    fill(sandbox, leads=300)
    key = {"leads": {"key-properties": ["id", "signal_observed_at"]}}
    pipeline = Pipeline(
        warehouse,
        sandbox,
        "signals",
        TAP_LEADINTENT__METADATA=json.dumps(key),
        TAP_LEADINTENT__SELECT='["leads.*"]',
    )
    seen = set()
    for days in (0, 5, 20):
        sandbox.advance(days * DAY)
        seen |= {
            (record["id"], instant(record["signal"]["observed_at"]))
            for record in sandbox.records("leads")
        }
        pipeline.run()

    with warehouse.postgres.connect() as connection:
        rows = column(connection, "signals", "leads", "id", "signal_observed_at")
    held = [(lead, observed.replace(tzinfo=UTC)) for lead, observed in rows]
    assert Counter(held) == Counter(seen)
    assert len(seen) > len({lead for lead, _ in seen}) + 5


@pytest.mark.parametrize("hard", [False, True], ids=["marked", "deleted"])
def test_accounts_that_left_the_queue_are_retired_by_a_whole_read_only(
    sandbox: Sandbox, warehouse: Warehouse, *, hard: bool
) -> None:
    fill(sandbox, monitored_accounts=250)
    schema = f"queue_{hard}".lower()
    pipeline = Pipeline(
        warehouse,
        sandbox,
        schema,
        TAP_LEADINTENT__SELECT='["monitored_accounts.*"]',
        TAP_LEADINTENT_EMIT_ACTIVATE_VERSION_MESSAGES="true",
        TARGET_POSTGRES_HARD_DELETE=str(hard).lower(),
    )

    def held() -> dict[str, bool]:
        """Give the accounts of the table, and whether they are marked deleted."""
        columns = ("record_key", "_sdc_deleted_at")
        with warehouse.postgres.connect() as connection:
            rows = column(connection, schema, "monitored_accounts", *columns)
        return {key: deleted is not None for key, deleted in rows}

    pipeline.run()
    everything = held()
    accounts = raw_records(sandbox, "monitored_accounts")
    assert everything == {account["id"]: False for account in accounts}

    gone = {account["id"]: account for account in accounts[:3]}
    sandbox.remove("monitored_accounts", *gone)
    sandbox.faults({"kind": "status", "status": 400, "skip": 2})
    with pytest.raises(DemoError, match="HTTP 400"):
        pipeline.run()
    assert held() == everything

    sandbox.faults()
    pipeline.run()
    assert held() == {
        key: key in gone for key in everything if not (hard and key in gone)
    }
    if not hard:
        sandbox.insert("monitored_accounts", *gone.values())
        pipeline.run()
        assert held() == everything


def test_batches_and_versions_together_retire_nothing_that_is_there(
    sandbox: Sandbox, warehouse: Warehouse, tmp_path: Path
) -> None:
    fill(sandbox, monitored_accounts=250)
    pipeline = Pipeline(
        warehouse,
        sandbox,
        "batches",
        TAP_LEADINTENT__SELECT='["monitored_accounts.*"]',
        TAP_LEADINTENT_EMIT_ACTIVATE_VERSION_MESSAGES="true",
        TAP_LEADINTENT_BATCH_CONFIG_ENCODING_FORMAT="jsonl",
        TAP_LEADINTENT_BATCH_CONFIG_ENCODING_COMPRESSION="gzip",
        TAP_LEADINTENT_BATCH_CONFIG_STORAGE_ROOT=tmp_path.as_uri(),
    )
    pipeline.run()
    columns = ("record_key", "_sdc_deleted_at")
    with warehouse.postgres.connect() as connection:
        rows = column(connection, "batches", "monitored_accounts", *columns)
    assert len(rows) == 250
    assert all(deleted is None for _, deleted in rows)


def test_the_state_of_a_project_reads_well(
    sandbox: Sandbox, warehouse: Warehouse
) -> None:
    fill(sandbox, **dict.fromkeys(STREAMS, 120))
    pipeline = Pipeline(warehouse, sandbox, "state")
    pipeline.run()

    bookmarks = pipeline.state()["singer_state"]["bookmarks"]
    assert bookmarks.keys() == set(STREAMS)
    for stream, bookmark in bookmarks.items():
        assert len(json.dumps(bookmark, indent=2)) < 1000, stream
        entries = bookmark.get("coverage", [])
        assert [entry.keys() for entry in entries] == len(entries) * [
            {"range", "from", "to"}
        ]
        ranges = {entry["range"] for entry in entries}
        assert ranges == set(RANGES.get(stream, ()))
    assert bookmarks["observations"]["coverage"] == [
        {"range": "observed_at", "from": SINCE, "to": CLOCK}
    ]
