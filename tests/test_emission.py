"""STATE, BATCH and ACTIVATE_VERSION messages, in the order that they are sent."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tap_leadintent.errors import RunError

from .model import DAY, Api, Store, catalog, iso, run, second, steady

CONFIG = {"start_date": iso(0), "page_size": 10}


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


def batch_config(folder: Path, size: int = 10) -> dict[str, Any]:
    return {
        "encoding": {"format": "jsonl", "compression": "gzip"},
        "storage": {"root": folder.as_uri(), "prefix": ""},
        "batch_size": size,
    }


def batched(store: Store) -> list[list[dict[str, Any]]]:
    """Read the files of each BATCH message."""
    return [
        [
            json.loads(line)
            for url in message["manifest"]
            for line in gzip.decompress(
                Path(urlsplit(url).path).read_bytes()
            ).splitlines()
        ]
        for message in store.of_type("BATCH")
    ]


def test_batches_carry_every_record_once_and_state_follows_them(tmp_path: Path) -> None:
    api, store = Api(now=9 * DAY, leads=steady(200)), Store()
    config = {**CONFIG, "window_days": 1, "batch_config": batch_config(tmp_path)}
    run(api, store, config)
    ids = [record["id"] for batch in batched(store) for record in batch]
    assert sorted(ids) == [lead.id for lead in api.leads]
    assert [m["type"] for m in store.messages][-2:] == ["BATCH", "STATE"]
    coverage = store.state["bookmarks"]["leads"]["coverage"]
    assert coverage[1]["to"] == second(9 * DAY)


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
    coverage = store.state["bookmarks"]["leads"]["coverage"]
    assert [entry["range"] for entry in coverage] == ["latest_signal"]


def test_batches_carry_what_stream_maps_and_selection_leave(tmp_path: Path) -> None:
    api, store = Api(now=DAY, leads=steady(5)), Store()
    config = {
        **CONFIG,
        "batch_config": batch_config(tmp_path),
        "stream_maps": {"leads": {"full_name": "'masked'", "__alias__": "people"}},
    }
    deselected = catalog()
    for stream in deselected["streams"]:
        for entry in stream["metadata"]:
            if entry["breadcrumb"] == ["properties", "signal"]:
                entry["metadata"]["selected"] = False
    run(api, store, config, catalog=deselected)
    (batch,) = batched(store)
    assert {record["full_name"] for record in batch} == {"masked"}
    assert all("signal" not in record for record in batch)
    assert {message["stream"] for message in store.of_type("BATCH")} == {"people"}
