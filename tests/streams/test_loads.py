"""What the stream `loads` says about the fields and the rows of a run."""

from operator import itemgetter
from typing import Any

import pytest

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import Json, Run, RunTap, entries, only, status

fields_of = itemgetter("new_fields", "absent_fields", "contradicting_fields")


def test_fields_that_came_went_or_changed_their_type_are_named(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
) -> None:
    config = {**config, "load_receipts": True, "lookback_days": 0}
    with_loads = TapLeadIntent(config=config).catalog_dict
    state: Json | None = None
    found = []
    run = tap(config, catalog=only("leads"))
    complete = run.records("leads")[0]
    del complete["signal_observed_at"], complete["additional_properties"]
    contradicting = {
        **complete,
        "fullname": "A",
        "score": "high",
    }
    less = {**complete, "fullname": "B"}
    del less["title"]
    for changes in (complete, contradicting, less):
        changed = {**changes, "id": "changed"}
        sandbox.insert("leads", changed, found_at=sandbox.now())
        sandbox.advance(60)
        run = tap(
            config,
            catalog=only("leads", "loads", of=with_loads),
            state=state,
        )
        state = run.succeeded().state
        row, *_ = run.records("loads")
        found.append(fields_of(row))
    assert found == [
        (None, None, None),
        ("fullname", None, "score"),
        (None, "title", None),
    ]


ERASED = "erased-person"
WAYS: dict[str, Json] = {
    "as it is": {},
    "flat": {"flattening_enabled": True, "flattening_max_depth": 2},
    "history beside it": {
        "stream_maps": {
            "leads_history": {
                "__source__": "leads",
                "signal_key": 'signal_observed_at or "none"',
                "__key_properties__": ["id", "signal_key"],
            }
        }
    },
    "erased": {"stream_maps": {"leads": {"__filter__": f"id != '{ERASED}'"}}},
    "masked": {"stream_maps": {"leads": {"id": "md5(id)", "full_name": None}}},
    "one key": {"stream_maps": {"leads": {"id": "'same'"}}},
    "no key": {"stream_maps": {"leads": {"__key_properties__": None}}},
    "another name": {"stream_maps": {"leads": {"__alias__": "people"}}},
    "removed": {"stream_maps": {"leads": None}},
    "without names": {"exclude_fields": {"leads": ["full_name", "company.name"]}},
    "without a signal": {"exclude_fields": {"leads": ["signal"]}},
}
checked = itemgetter("checked_from", "checked_to", "checked_records")
Stopped = tuple[Json, list[Json]]


@pytest.fixture
def catalog(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
) -> Json:
    """Add a new lead, and one without a signal; return a catalog of leads."""
    run = tap(config, catalog=only("leads"))
    record = run.records("leads")[0]
    del record["signal_observed_at"], record["additional_properties"]
    now = sandbox.now()
    signal = {**record["signal"], "observed_at": now}
    new = {**record, "id": ERASED, "signal": signal}
    without_signal = {**record, "id": "odd", "signal": None}
    sandbox.insert(
        "leads",
        new,
        without_signal,
        found_at=now,
    )
    sandbox.advance(60)
    with_loads = TapLeadIntent(config={**config, "load_receipts": True}).catalog_dict
    return only("leads", "loads", of=with_loads)


def rows_of(run: Run, table: str) -> dict[Any, str | None]:
    """Return the time of each row that a table then has, by its key."""
    keys: list[str] = []
    rows: dict[Any, str | None] = {}
    for message in run.messages:
        if message.get("stream") != table:
            continue
        if message["type"] == "SCHEMA":
            keys = message.get("key_properties") or []
        elif message["type"] == "RECORD":
            record = message["record"]
            key = tuple(record[name] for name in keys) or len(rows)
            rows[key] = record.get("signal_observed_at")
    return rows


@pytest.mark.parametrize("way", WAYS)
def test_rows_count_as_the_loader_gets_them(
    config: Json,
    tap: RunTap,
    catalog: Json,
    way: str,
) -> None:
    config = {**config, "load_receipts": True, **WAYS[way]}
    run = tap(config, catalog=catalog).succeeded()
    rows = rows_of(run, "people" if way == "another name" else "leads")
    found, latest = run.records("loads")
    assert found["time_range"] == "date_found"
    assert found["checked_records"] == len(rows)
    inside = 0
    for time in rows.values():
        if time:
            inside += latest["checked_from"] <= time < latest["checked_to"]
    assert latest["time_range"] == "latest_signal"
    assert latest["checked_records"] == inside
    assert bool(rows) == (way != "removed")


def test_without_a_column_for_the_time_only_all_rows_are_counted(
    config: Json,
    tap: RunTap,
    catalog: Json,
) -> None:
    no_time = {"stream_maps": {"leads": {"signal_observed_at": None}}}
    config = {**config, "load_receipts": True, **no_time}
    run = tap(config, catalog=catalog).succeeded()
    found, latest = run.records("loads")
    assert found["checked_records"] == len(rows_of(run, "leads"))
    assert latest["checked_records"] is None


def test_a_complete_list_has_no_interval(
    config: Json,
    tap: RunTap,
    catalog: Json,
) -> None:
    entries(catalog)["leads"]["replication_method"] = "FULL_TABLE"
    run = tap({**config, "load_receipts": True}, catalog=catalog).succeeded()
    (row,) = run.records("loads")
    assert checked(row) == (None, None, len(rows_of(run, "leads")))


@pytest.mark.parametrize(
    "stopped",
    [
        ({"max_requests_per_run": 2, "page_size": 1}, []),
        ({}, [status(403)]),
    ],
)
def test_a_run_that_has_not_read_everything_counts_nothing(
    sandbox: Sandbox,
    config: Json,
    tap: RunTap,
    catalog: Json,
    stopped: Stopped,
) -> None:
    settings, faults = stopped
    sandbox.faults(*faults)
    run = tap({**config, "load_receipts": True, **settings}, catalog=catalog)
    rows = run.records("loads")
    assert len(rows) == 2
    for row in rows:
        assert checked(row) == (None, None, None)
