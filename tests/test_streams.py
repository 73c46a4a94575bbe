"""The streams as a catalog shows them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from syrupy.extensions.json import JSONSnapshotExtension

from tap_leadintent.openapi import request_fields
from tests.support.helpers import STREAMS, declared_stream, declared_tap, entries

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

FULL, NEW = "FULL_TABLE", "INCREMENTAL"


@pytest.fixture(scope="module")
def catalog() -> dict[str, Any]:
    return entries(json.loads(declared_tap().catalog_json_text))


def test_names(catalog: dict[str, Any]) -> None:
    assert sorted(catalog) == sorted(STREAMS)


@pytest.mark.parametrize(
    ("name", "path", "key", "method", "replication_key"),
    [
        ("signal_agents", "/v1/signals/agents", "id", FULL, None),
        ("leads", "/v1/signals/leads", "id", NEW, "signal_observed_at"),
        ("signal_accounts", "/v1/signals/accounts", "record_key", NEW, "window_end"),
        ("monitored_accounts", "/v1/monitor/accounts", "record_key", FULL, None),
        ("observations", "/v1/monitor/signals", "record_key", NEW, "observed_at"),
        ("custom_signals", "/v1/monitor/custom-signals", "record_key", FULL, None),
        ("monitored_leads", "/v1/monitor/leads", "record_key", NEW, "window_end"),
    ],
)
def test_declaration(  # noqa: PLR0913, PLR0917 - a row of the table
    catalog: dict[str, Any],
    name: str,
    path: str,
    key: str,
    method: str,
    replication_key: str | None,
) -> None:
    entry = catalog[name]
    assert declared_stream(name).path == path
    assert entry["key_properties"] == [key]
    assert entry["replication_method"] == method
    assert entry.get("replication_key") == replication_key


@pytest.mark.parametrize("name", STREAMS)
def test_catalog_entry(
    catalog: dict[str, Any], name: str, snapshot: SnapshotAssertion
) -> None:
    """A change here changes tables: see the diff, then `--snapshot-update`."""
    assert catalog[name] == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_declares_the_time_ranges_of_its_endpoint(name: str) -> None:
    documented = {
        field
        for field, schema in request_fields(name).items()
        if "start_time" in schema.get("properties", {})
    }
    assert {*declared_stream(name).ranges} == documented
