"""Discovery that infers columns from a sample, and discovery that must not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from tests.support.helpers import STREAMS, declared_tap, entries

if TYPE_CHECKING:
    from collections.abc import Callable

    from syrupy.assertion import SnapshotAssertion

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

UNDOCUMENTED = (
    "signal_accounts",
    "monitored_accounts",
    "observations",
    "custom_signals",
    "monitored_leads",
)


def catalog_of(run: Run) -> dict[str, Any]:
    """Give the entries of a catalog by stream."""
    return entries(json.loads(run.succeeded().stdout))


@pytest.fixture
def inferring(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "infer_columns": True}


def columns_of(entry: dict[str, Any]) -> dict[str, Any]:
    return dict(entry["schema"]["properties"])


@pytest.fixture
def declared() -> dict[str, Any]:
    return entries(json.loads(declared_tap().catalog_json_text))


def test_one_page_of_each_undocumented_stream_is_read(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    inferring: dict[str, Any],
    declared: dict[str, Any],
) -> None:
    sandbox.configure(api_key=inferring["api_key"], sizes=dict.fromkeys(STREAMS, 250))
    catalog = catalog_of(tap(inferring, "--discover"))
    requests = sandbox.requests()
    assert sorted(request["stream"] for request in requests) == sorted(UNDOCUMENTED)
    for name in STREAMS:
        if name in UNDOCUMENTED:
            columns = columns_of(catalog[name])
            assert len(columns) > len(columns_of(declared[name])) + 3
            assert columns_of(declared[name]).items() <= columns.items()
        else:
            assert catalog[name] == declared[name]


def test_inferred_catalog(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    inferring: dict[str, Any],
    snapshot: SnapshotAssertion,
) -> None:
    sandbox.configure(api_key=inferring["api_key"], sizes=dict.fromkeys(STREAMS, 100))
    catalog = catalog_of(tap(inferring, "--discover"))
    for name in UNDOCUMENTED:
        file = snapshot(name=name, extension_class=JSONSnapshotExtension)
        assert catalog[name] == file


def test_an_inferred_catalog_is_obeyed(
    tap: Callable[..., Run], sandbox: Sandbox, inferring: dict[str, Any]
) -> None:
    catalog = json.loads(tap(inferring, "--discover").succeeded().stdout)
    sandbox.clear_requests()
    run = tap(inferring, catalog=catalog).succeeded()
    assert len(sandbox.requests()) == len(STREAMS)
    names = {r["id"]: r["name"] for r in sandbox.records("custom_signals")}
    records = run.records("custom_signals")
    assert {record["id"]: record["name"] for record in records} == names
    assert all("name" not in (r["additional_properties"] or {}) for r in records)


def test_a_sync_without_a_catalog_infers_too(
    tap: Callable[..., Run], inferring: dict[str, Any]
) -> None:
    run = tap(inferring).succeeded()
    assert "name" in run.schema("custom_signals")["properties"]
    assert all(record["name"] for record in run.records("custom_signals"))


@pytest.mark.parametrize("argument", ["--about", "--help", "--version"])
def test_information_makes_no_request(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    inferring: dict[str, Any],
    argument: str,
) -> None:
    assert tap(inferring, argument).code == 0
    assert sandbox.requests() == []


@pytest.mark.parametrize("without", ["infer_columns", "api_key", "base_url"])
def test_discovery_makes_no_request_without(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    inferring: dict[str, Any],
    declared: dict[str, Any],
    without: str,
) -> None:
    del inferring[without]
    assert catalog_of(tap(inferring, "--discover")) == declared
    assert sandbox.requests() == []


def test_a_forbidden_stream_keeps_its_columns_and_is_deselected(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    inferring: dict[str, Any],
    declared: dict[str, Any],
) -> None:
    sandbox.faults({"kind": "status", "status": 403, "stream": "observations"})
    run = tap(inferring, "--discover")
    entry = catalog_of(run)["observations"]
    assert columns_of(entry) == columns_of(declared["observations"])
    (root,) = (item for item in entry["metadata"] if item["breadcrumb"] == [])
    assert root["metadata"]["selected-by-default"] is False
    assert not root["metadata"].get("selected")
    (warning,) = (line for line in run.stderr.splitlines() if "HTTP 403" in line)
    assert "observations" in warning
    synced = tap(inferring).succeeded()
    assert synced.records("observations") == []
    assert synced.records("custom_signals")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["--discover"], 401), (["--discover"], 500), ([], 404), (["--test"], 404)],
)
def test_a_failing_sample_is_a_clear_error(
    tap: Callable[..., Run],
    sandbox: Sandbox,
    inferring: dict[str, Any],
    arguments: list[str],
    status: int,
) -> None:
    sandbox.faults({"kind": "status", "status": status, "stream": "observations"})
    run = tap({**inferring, "max_retries": 0}, *arguments)
    line = run.failed()
    assert "observations" in line
    assert f"HTTP {status}" in line
    assert run.stdout == ""


def test_one_warning_names_what_stays_out(
    tap: Callable[..., Run], sandbox: Sandbox, inferring: dict[str, Any]
) -> None:
    sandbox.insert("custom_signals", {"id": "x", "Name": "a", "Window_End": "b"})
    run = tap(inferring, "--discover").succeeded()
    (warning,) = (line for line in run.stderr.splitlines() if "Window_End" in line)
    assert "'Name', 'Window_End', 'name'" in warning
