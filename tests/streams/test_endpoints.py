"""The streams as a catalog shows them."""

import json

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

from tests.support.helpers import STREAMS, Json, declared_tap, entries


@pytest.fixture(scope="module")
def catalog() -> Json:
    return entries(json.loads(declared_tap().catalog_json_text))


def test_each_endpoint_of_openapi_json_has_a_class(catalog: Json) -> None:
    assert catalog.keys() == {*STREAMS}


@pytest.mark.parametrize("name", STREAMS)
def test_catalog_entry(
    catalog: Json,
    name: str,
    snapshot: SnapshotAssertion,
) -> None:
    """A change here changes tables: see the diff, then `--snapshot-update`."""
    assert catalog[name] == snapshot(extension_class=JSONSnapshotExtension)
