"""The key of a record whose fields are not documented."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.helpers import exact_json
from tests.support.shaping import shaper

shapers = cache(shaper)


def record_key(record: dict[str, Any], stream: str = "custom_signals") -> str:
    """Give the key that a record of a stream gets."""
    (shaped,) = shapers(stream).shape([record])
    key: str = shaped["record_key"]
    return key


@pytest.mark.parametrize(
    ("record", "key"),
    [
        ({"id": "a", "lead_id": "b"}, "a"),
        ({"id": None, "lead_id": "b"}, "b"),
        ({"id": "", "lead_id": "b"}, "b"),
        ({"id": 7}, "7"),
        ({"id": 12345678901234567890123}, "12345678901234567890123"),
        ({"id": Decimal("7.50")}, "7.5"),
        ({"id": 7.0}, "7"),
        ({"id": 1e22}, "1e22"),
        ({"id": False}, "false"),
        ({"id": {"b": 1, "a": ["é"]}}, '{"a":["é"],"b":1}'),
    ],
    ids=repr,
)
def test_record_key_from_an_id(record: dict[str, Any], key: str) -> None:
    assert record_key(record, "monitored_leads") == key


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (
            "{}",
            "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        ),
        (
            '{"account_id": "acc_1", "count": 10}',
            "fc216145c49491f18d3b31b2653942ced1e8545b6bdd21705aec53c153951349",
        ),
        (
            '{"name": "Łukasz 佐藤 🚀", "tags": [true, null, 0.5], "n": -1200}',
            "819b5a749deb085066b80f18a1d2001d50d29448576100964e04eb0048354848",
        ),
    ],
)
def test_record_key_without_an_id_is_this_digest(text: str, digest: str) -> None:
    """Other digests would duplicate every such row in the users' warehouses."""
    assert record_key(exact_json(text), "observations") == digest


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ('{"a": 1}', '{"a": "1"}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": null}', "{}"),
        ('{"a": 0.1}', '{"a": 0.1000000000000000055511151231257827}'),
        ('{"a": 1e400}', '{"a": 1e401}'),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
    ],
)
def test_another_value_changes_the_digest(text: str, other: str) -> None:
    assert record_key(exact_json(text)) != record_key(exact_json(other))


floats = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.integers() | floats.map(lambda number: Decimal(repr(number)))


def records_of(numbers: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Give records without an id, of any shape."""
    values = st.recursive(
        st.none() | st.booleans() | numbers | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.text(max_size=5), inner, max_size=4)
        ),
        max_leaves=8,
    )
    # Without the prefix, a field could be an id.
    names = st.text(max_size=5).map("_{}".format)
    return st.dictionaries(names, values, max_size=5)


def respelled(value: Any) -> Any:
    """Give the same value with its numbers and objects written differently."""
    if isinstance(value, dict):
        return {key: respelled(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [respelled(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return value
    sign, digits, exponent = Decimal(value).as_tuple()
    return Decimal((sign, (*digits, 0, 0), int(exponent) - 2))


@given(records_of(numbers))
def test_spelling_never_changes_the_digest(record: dict[str, Any]) -> None:
    assert record_key(respelled(record)) == record_key(record)


@given(records_of(st.integers(-(10**20), 10**20)))
def test_the_digest_can_be_computed_elsewhere(record: dict[str, Any]) -> None:
    """It is that of the compact JSON with sorted keys, in UTF-8."""
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    assert record_key(record) == sha256(text.encode()).hexdigest()
