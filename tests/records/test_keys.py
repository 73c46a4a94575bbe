"""The key of a record whose fields are not documented."""

from functools import cache
from typing import Any

import pytest

from tests.support.helpers import Json
from tests.support.shaping import shaper

shapers = cache(shaper)


def record_key(record: Json, stream: str = "custom_signals") -> str:
    """Return the key that a record of a stream gets."""
    (shaped,) = shapers(stream).shape([record])
    key: str = shaped["record_key"]
    return key


@pytest.mark.parametrize(
    ("record", "key"),
    [
        ({"id": "a", "lead_id": "b"}, "a"),
        ({"id": None, "lead_id": "b"}, "b"),
        ({"id": "", "lead_id": "b"}, "b"),
        ({"id": 12345678901234567890123}, "12345678901234567890123"),
        ({"id": 10**21}, "1000000000000000000000"),
        ({"id": 7.5}, "7.5"),
        ({"id": False}, "false"),
        ({"id": {"b": 1, "a": ["é"]}}, '{"a":["é"],"b":1}'),
    ],
    ids=repr,
)
def test_record_key_from_an_id(record: Json, key: str) -> None:
    assert record_key(record, "monitored_leads") == key


def reordered(value: Any) -> Any:
    """Return the same value with the fields of its objects in another order."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return list(map(reordered, value))
    return value


@pytest.mark.parametrize(
    ("record", "digest"),
    [
        ({}, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (
            {"account_id": "acc_1", "count": 10},
            "fc216145c49491f18d3b31b2653942ced1e8545b6bdd21705aec53c153951349",
        ),
        (
            {
                "name": "Łukasz 佐藤 🚀",
                "tags": [True, None, 0.5],
                "n": -1200,
            },
            "819b5a749deb085066b80f18a1d2001d50d29448576100964e04eb0048354848",
        ),
    ],
)
def test_record_key_without_an_id_is_this_digest(record: Json, digest: str) -> None:
    """Other digests would duplicate every such row in the users' warehouses."""
    assert record_key(record, "observations") == digest
    assert record_key(reordered(record), "observations") == digest
