"""Discovery that infers columns from a sample, and discovery that must not."""

import json

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import (
    STREAMS,
    UNDOCUMENTED,
    Json,
    Run,
    RunTap,
    declared_tap,
    entries,
    only,
)


def catalog_of(run: Run) -> Json:
    """Return the entries of a catalog by stream."""
    return entries(json.loads(run.succeeded().stdout))


@pytest.fixture
def inferring(config: Json) -> Json:
    return {**config, "infer_columns": True}


@pytest.fixture
def declared() -> Json:
    return entries(json.loads(declared_tap().catalog_json_text))


def test_one_page_of_each_undocumented_stream_is_read(
    tap: RunTap, sandbox: Sandbox, inferring: Json, declared: Json
) -> None:
    """Whatever a catalog says that is given."""
    sandbox.configure(api_key=inferring["api_key"], sizes=dict.fromkeys(STREAMS, 250))
    catalog = catalog_of(tap(inferring, "--discover", catalog=only("leads")))
    requests = [request["stream"] for request in sandbox.requests()]
    assert sorted(requests) == sorted(UNDOCUMENTED)
    for name in STREAMS:
        assert (catalog[name] == declared[name]) is (name not in UNDOCUMENTED)


def test_inferred_catalog(
    tap: RunTap, sandbox: Sandbox, inferring: Json, snapshot: SnapshotAssertion
) -> None:
    sandbox.configure(api_key=inferring["api_key"], sizes=dict.fromkeys(STREAMS, 100))
    catalog = catalog_of(tap(inferring, "--discover"))
    for name in UNDOCUMENTED:
        file = snapshot(name=name, extension_class=JSONSnapshotExtension)
        assert catalog[name] == file


def test_an_inferred_catalog_is_obeyed(
    tap: RunTap, sandbox: Sandbox, inferring: Json
) -> None:
    catalog = json.loads(tap(inferring, "--discover").succeeded().stdout)
    sandbox.clear_requests()
    run = tap(inferring, catalog=only("custom_signals", of=catalog)).succeeded()
    assert len(sandbox.requests()) == 1
    names = {r["id"]: r["name"] for r in sandbox.records("custom_signals")}
    records = run.records("custom_signals")
    assert {record["id"]: record["name"] for record in records} == names
    assert all("name" not in (r["additional_properties"] or {}) for r in records)


@pytest.mark.parametrize("without", ["infer_columns", "api_key", "base_url"])
def test_discovery_makes_no_request_without(
    tap: RunTap, sandbox: Sandbox, inferring: Json, declared: Json, without: str
) -> None:
    del inferring[without]
    assert catalog_of(tap(inferring, "--discover")) == declared
    assert sandbox.requests() == []


def test_a_forbidden_stream_keeps_its_columns_and_is_deselected(
    tap: RunTap, sandbox: Sandbox, inferring: Json, declared: Json
) -> None:
    sandbox.faults({"kind": "status", "status": 403, "stream": "observations"})
    run = tap(inferring, "--discover")
    entry = catalog_of(run)["observations"]
    assert entry["schema"] == declared["observations"]["schema"]
    assert " | observations: deselect this stream, or ask for access: " in run.stderr
    assert "; the stream is deselected, and its columns are not inferred" in run.stderr
    synced = tap(inferring).succeeded()
    assert synced.records("observations") == []
    assert all(record["name"] for record in synced.records("custom_signals"))


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--discover"], 401), ([], 404), (["--test"], 404)],
)
def test_a_failing_sample_is_a_clear_error(
    tap: RunTap, sandbox: Sandbox, inferring: Json, arguments: list[str], status: int
) -> None:
    sandbox.faults({"kind": "status", "status": status, "stream": "observations"})
    run = tap({**inferring, "max_retries": 0}, *arguments)
    line = run.failed()
    assert "observations" in line
    assert f"HTTP {status}" in line
    assert run.stdout == ""
