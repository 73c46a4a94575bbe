"""STATE, BATCH and ACTIVATE_VERSION messages, in the order that they are sent."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest

from tap_leadintent.errors import RunError
from tap_leadintent.tap import TapLeadIntent
from tests.support.batching import batch_config, batched, deselecting
from tests.support.helpers import STREAMS, only
from tests.support.model import DAY, Api, second, steady
from tests.support.model_runs import CONFIG, catalog, run
from tests.support.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run


def test_a_version_is_activated_after_the_last_record_and_only_then() -> None:
    api, store = Api(now=2 * DAY, leads=steady(35)), Store()
    full = catalog(replication_method="FULL_TABLE")
    config = {**CONFIG, "emit_activate_version_messages": True}
    run(api, store, config, catalog=full)
    kinds = [m["type"] for m in store.messages if m["type"] != "STATE"]
    assert kinds == ["SCHEMA", *["RECORD"] * 35, "ACTIVATE_VERSION"]
    (activated,) = store.of_type("ACTIVATE_VERSION")
    assert {m["version"] for m in store.of_type("RECORD")} == {activated["version"]}


def test_a_full_table_that_fails_activates_nothing() -> None:
    api, store = Api(now=2 * DAY, leads=steady(35), refuses_cursors=99), Store()
    full = catalog(replication_method="FULL_TABLE")
    config = {**CONFIG, "emit_activate_version_messages": True}
    with pytest.raises(RunError):
        run(api, store, config, catalog=full)
    assert store.of_type("RECORD")
    assert not store.of_type("ACTIVATE_VERSION")


def test_batches_carry_every_record_once_and_state_follows_them(tmp_path: Path) -> None:
    api, store = Api(now=9 * DAY, leads=steady(200)), Store()
    config = {**CONFIG, "window_days": 1, "batch_config": batch_config(tmp_path)}
    run(api, store, config)
    ids = [record["id"] for batch in batched(store) for record in batch]
    assert sorted(ids) == [lead.id for lead in api.leads]
    assert store.messages[-1]["type"] == "STATE"
    coverage = store.state["bookmarks"]["leads"]["coverage"]
    assert {each["to"] for each in coverage} == {second(9 * DAY)}


def test_batches_are_as_large_as_asked_and_a_state_follows_each(tmp_path: Path) -> None:
    api, store = Api(now=9 * DAY, leads=steady(1500, 300)), Store()
    config = {
        **CONFIG,
        "window_days": 0.1,
        "batch_config": batch_config(tmp_path, size=400),
    }
    run(api, store, config)
    assert [len(batch) for batch in batched(store)] == [400, 400, 400, 300]
    kinds = [m["type"] for m in store.messages]
    first = kinds.index("BATCH")
    assert kinds[first : first + 8] == ["BATCH", "STATE"] * 4
    third, last = (
        store.messages[at]["value"]["bookmarks"]["leads"]["coverage"][0]["to"]
        for at in (first + 5, first + 7)
    )
    assert second(1100 * 300) < third <= second(1200 * 300)
    assert last == second(9 * DAY)


def test_a_stream_that_fails_leaves_no_state_ahead_of_its_batches(
    tmp_path: Path,
) -> None:
    api, store = Api(now=9 * DAY, leads=steady(200)), Store()
    config = {
        **CONFIG,
        "window_days": 1,
        "batch_config": batch_config(tmp_path, size=1000),
    }
    api.forbidden_at = 15
    with pytest.raises(RunError, match="403"):
        run(api, store, config, selected=("leads", "monitored_accounts"))
    assert {message["stream"] for message in store.of_type("BATCH")} == {
        "monitored_accounts"
    }
    assert store.state["bookmarks"]["leads"]["coverage"] == []


def test_batches_that_need_another_package_name_it(tmp_path: Path) -> None:
    config = {**CONFIG, "batch_config": batch_config(tmp_path)}
    missing = mock.patch(
        "singer_sdk.helpers._batch.UPath",
        side_effect=ImportError("Install s3fs to access S3"),
    )
    line = r"leads: batches cannot be written \(Install s3fs to access S3\); see batch_"
    with missing, pytest.raises(RunError, match=line):
        run(Api(now=DAY, leads=steady(5)), Store(), config)


def test_batches_carry_what_stream_maps_and_selection_leave(tmp_path: Path) -> None:
    api, store = Api(now=DAY, leads=steady(5)), Store()
    config = {
        **CONFIG,
        "batch_config": batch_config(tmp_path),
        "stream_maps": {"leads": {"full_name": "'masked'", "__alias__": "people"}},
    }
    run(api, store, config, catalog=deselecting("signal"))
    (batch,) = batched(store)
    assert {record["full_name"] for record in batch} == {"masked"}
    assert all("signal" not in record for record in batch)
    assert {message["stream"] for message in store.of_type("BATCH")} == {"people"}


def test_what_came_before_a_failure_is_written(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    sandbox.faults(
        {"kind": "status", "status": 403, "stream": "signal_agents", "skip": 2}
    )
    # With an old state there is no new one to write.
    state: dict[str, Any] = {"bookmarks": {"signal_agents": {"coverage": []}}}
    agents = only("signal_agents")
    run = tap({**config, "page_size": 1}, catalog=agents, state=state)
    assert "signal_agents: HTTP 403" in run.failed()
    assert len(run.records("signal_agents")) == 2


def test_a_test_run_gives_a_record_of_each_stream(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    run = tap({**config, "start_date": "2025-01-01"}, "--test").succeeded()
    kinds = Counter(m["stream"] for m in run.messages if m["type"] == "RECORD")
    assert kinds == Counter(STREAMS)


def test_a_last_record_leaves_though_there_is_no_new_state_to_write(
    config: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    streams = ("custom_signals", "signal_agents")
    state: dict[str, Any] = {
        "bookmarks": {stream: {"coverage": []} for stream in streams}
    }
    tap = TapLeadIntent(config=config, state=state)
    tap.run_sync_dry_run(1, [tap.streams[stream] for stream in streams])
    messages = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [m["stream"] for m in messages if m["type"] == "RECORD"] == [*streams]
    assert [m["type"] for m in messages].count("STATE") == 1
