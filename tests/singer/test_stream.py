"""STATE, BATCH and ACTIVATE_VERSION messages, in the order that they are sent."""

import json
from pathlib import Path
from typing import Any

import pytest

from tap_leadintent.singer.errors import RunError
from tests.support.batching import FORMATS, batch_config, batched, deselecting
from tests.support.helpers import Json, RunTap, leads_with, only
from tests.support.model import DAY, EPOCH, Api, second, steady
from tests.support.model_runs import CONFIG, asked, run
from tests.support.store import Store, written


def test_without_a_bookmark_no_empty_state_is_written() -> None:
    store = Store()
    run(Api(now=DAY), store, CONFIG, selected=("custom_signals",))
    assert store.messages[0]["type"] == "SCHEMA"
    assert all(message["value"] for message in store.of_type("STATE"))


def test_a_state_follows_every_three_hundred_windows_that_hold_nothing() -> None:
    api, store = Api(now=10 * DAY), Store()
    run(api, store, {**CONFIG, "window_days": 0.01})
    starts = [start for name, start, _ in asked(api) if name == "date_found"]
    assert 1002 <= len(starts) <= 1020
    assert min(starts) >= second(-1), "empty pages need no look at another time"
    states = [state["value"]["bookmarks"]["leads"] for state in store.of_type("STATE")]
    assert 7 <= len({*map(json.dumps, states)}) <= len(states) <= 9


def leads_in(coverage: list[Json], api: Api) -> set[str]:
    """Return the leads that a coverage says have been read."""
    return {
        lead.id
        for lead in api.leads
        for entry in coverage
        if entry["from"] <= second(lead.found_at) < entry["to"]
    }


@pytest.mark.parametrize("kind", [None, *FORMATS])
def test_no_state_is_ahead_of_its_records(kind: str | None, tmp_path: Path) -> None:
    api, store = Api(now=9 * DAY, leads=steady(1500, 300)), Store()
    config = {**CONFIG, "window_days": 0.1}
    if kind:
        config["batch_config"] = batch_config(tmp_path, 400, kind)
    run(api, store, config)
    sizes = [len(batch) for batch in batched(store)]
    assert sizes == [400, 400, 400, 300] * bool(kind)
    batches, seen = iter(batched(store)), set[str]()
    covered = []
    for message in store.messages:
        if message["type"] == "RECORD":
            seen.add(message["record"]["id"])
        elif message["type"] == "BATCH":
            seen |= {row["id"] for row in next(batches)}
        elif message["type"] == "STATE":
            covered.append(message["value"]["bookmarks"]["leads"]["coverage"])
            assert leads_in(covered[-1], api) <= seen
    # Without it, older coverage would survive a full refresh that is interrupted.
    assert covered[0] == []
    assert len(covered) > 4
    assert {entry["to"] for entry in covered[-1]} == {second(9 * DAY)}
    assert seen == {lead.id for lead in api.leads}


@pytest.mark.parametrize("kind", FORMATS)
def test_a_stream_that_fails_writes_its_batch_and_then_its_state(
    tmp_path: Path, kind: str
) -> None:
    api, store = Api(now=9 * DAY, leads=steady(200), forbidden_at=15), Store()
    batches = batch_config(tmp_path, 1000, kind)
    config = {**CONFIG, "window_days": 1, "batch_config": batches, "concurrency": 1}
    with pytest.raises(RunError, match="401"):
        run(api, store, config)
    (rows,) = batched(store)
    assert [m["type"] for m in store.messages[-2:]] == ["BATCH", "STATE"]
    read = {row["id"] for row in rows}
    assert 0 < len(read) < 200
    coverage = store.state["bookmarks"]["leads"]["coverage"]
    assert coverage
    assert leads_in(coverage, api) <= read


def test_a_batch_that_cannot_be_written_is_not_covered(tmp_path: Path) -> None:
    api, store = Api(now=9 * DAY, leads=steady(200)), Store()
    config = {**CONFIG, "batch_config": batch_config(tmp_path / "file", 100)}
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"batches cannot be written to file:.*/file \("):
        run(api, store, config)
    assert not store.of_type("BATCH")
    assert store.state["bookmarks"]["leads"]["coverage"] == []


def test_the_last_records_are_written_also_if_the_state_says_nothing_new(
    tap: RunTap, config: Json
) -> None:
    config |= {"load_receipts": True}
    streams = ("custom_signals", "loads")
    # With an old state there is no new one to write.
    state: Json = {"bookmarks": {name: {"coverage": []} for name in streams}}
    catalog = only(*streams, of=json.loads(tap(config, "--discover").stdout))
    run = tap(config, catalog=catalog, state=state).succeeded()
    assert len(run.records("custom_signals")) == 3
    assert [row["stream"] for row in run.records("loads")] == ["custom_signals"]


@pytest.mark.parametrize("wildcard", [True, False])
def test_receipts_of_earlier_runs_are_never_deleted(
    tap: RunTap, config: Json, *, wildcard: bool
) -> None:
    config |= {"load_receipts": True, "emit_activate_version_messages": True}
    catalog = json.loads(tap(config, "--discover").stdout)
    for entry in catalog["streams"]:
        if wildcard:
            entry["replication_method"] = "FULL_TABLE"
        entry["metadata"][-1]["metadata"]["selected"] = True
    run = tap(config, catalog=catalog).succeeded()
    activated = {m["stream"] for m in run.messages if m["type"] == "ACTIVATE_VERSION"}
    assert "custom_signals" in activated
    assert "loads" not in activated
    assert run.records("loads")


def test_an_empty_list_does_not_delete_the_rows_of_a_full_table(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = Store()
    config = {**CONFIG, "emit_activate_version_messages": True}
    run(Api(now=DAY), store, config, selected=("custom_signals",))
    assert not store.of_type("ACTIVATE_VERSION")
    assert "custom_signals: Delete rows in the warehouse if " in caplog.text


class Recorder(Store):
    """Keeps messages of any form."""

    def write_message(self, message: Any) -> None:
        self.messages.append(written(message))


SETTINGS: dict[str, Json] = {
    "plain": {},
    "whole": {"emit_activate_version_messages": True},
    "alias": {"stream_maps": {"leads": {"id": "id + '!'", "__alias__": "people"}}},
    "filter": {"stream_maps": {"leads": {"__filter__": "id > 'lead-0010'"}}},
    "copy": {"stream_maps": {"copies": {"__source__": "leads", "id": "id"}}},
    "removal": {"stream_maps": {"leads": None}},
    "flattening": {"flattening_enabled": True, "flattening_max_depth": 1},
    "deselected part": {},
}
CATALOGS = {
    "whole": leads_with(replication_method="FULL_TABLE"),
    "deselected part": deselecting("signal", "observed_at"),
}


@pytest.mark.parametrize("case", SETTINGS)
def test_a_row_is_the_same_as_the_sdk_makes_it_and_in_a_batch(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records that nothing changes go past the SDK's passes over each."""

    def outcome(**more: Any) -> Store:
        api, store = Api(now=2 * DAY, leads=steady(35)), Recorder()
        config = {**CONFIG, "concurrency": 1, **SETTINGS[case], **more}
        run(api, store, config, catalog=CATALOGS.get(case))
        return store

    def without_times(store: Store) -> list[dict[str, Any]]:
        for message in store.of_type("RECORD"):
            assert message.pop("time_extracted") > second(-EPOCH)
        return store.messages

    ours, rows = outcome(), dict[str, list[dict[str, Any]]]()
    for message in ours.of_type("RECORD"):
        rows.setdefault(message["stream"], []).append(message["record"])
    for kind in FORMATS:
        in_batches = outcome(batch_config=batch_config(tmp_path, 1000, kind))
        assert [m["stream"] for m in in_batches.of_type("BATCH")] == [*rows]
        assert batched(in_batches) == [*rows.values()]
        # Rows in files have no version: a target would take all of them for deleted.
        assert not in_batches.of_type("ACTIVATE_VERSION")
    monkeypatch.setattr("tap_leadintent.run_stream.SingerStream._emits_as_is", False)
    assert without_times(ours) == without_times(outcome())


@pytest.mark.parametrize(
    ("maps", "streams"),
    [
        (
            {
                "custom_signals": {"__alias__": "conditions"},
                "copy": {"__source__": "custom_signals"},
            },
            ["conditions", "copy"],
        ),
        ({"custom_signals": None}, []),
    ],
    ids=["alias and copy", "removal"],
)
def test_each_table_of_a_full_table_gets_its_version_after_its_rows(
    maps: Json, streams: list[str]
) -> None:
    store = Store()
    config = {**CONFIG, "stream_maps": maps, "emit_activate_version_messages": True}
    run(Api(now=DAY, leads=steady(3)), store, config, selected=("custom_signals",))
    versions = store.of_type("ACTIVATE_VERSION")
    assert [message["stream"] for message in versions] == streams
    kinds = [message["type"] for message in store.messages]
    assert kinds.count("RECORD") == 3 * len(streams)
    assert "RECORD" not in kinds[kinds.index("ACTIVATE_VERSION") if streams else 0 :]
