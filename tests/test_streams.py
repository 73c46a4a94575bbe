"""The streams as a catalog shows them."""

import json
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tap_leadintent.openapi import request_fields
from tests.support.helpers import STREAMS, declared_stream, declared_tap, entries


@pytest.fixture(scope="module")
def catalog() -> dict[str, Any]:
    return entries(json.loads(declared_tap().catalog_json_text))


@pytest.mark.parametrize("name", STREAMS)
def test_catalog_entry(
    catalog: dict[str, Any], name: str, snapshot: SnapshotAssertion
) -> None:
    """A change here changes tables: see the diff, then `--snapshot-update`."""
    assert catalog[name] == snapshot(extension_class=JSONSnapshotExtension)


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_has_the_time_ranges_of_its_endpoint(
    catalog: dict[str, Any], name: str
) -> None:
    assert catalog.keys() == {*STREAMS}
    stream = declared_stream(name)
    documented = {
        field
        for field, schema in request_fields(name).items()
        if "start_time" in schema.get("properties", {})
    }
    assert {*stream.ranges} == documented
