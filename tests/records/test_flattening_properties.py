"""Flattening loses nothing, whatever the schema and the record are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.flattening import OBJECT, TEXT, flattening, opened

names = st.sampled_from(["a", "b", "a_b", "b_a", "c"])
schemas = st.recursive(
    st.sampled_from([TEXT, {"type": ["array", "null"]}, OBJECT]),
    lambda inner: st.dictionaries(names, inner, max_size=3).map(lambda f: opened(**f)),
    max_leaves=8,
)
values = st.recursive(
    st.none() | st.sampled_from(["x", ""]),
    lambda inner: st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


def leaves(value: object, *above: str) -> set[tuple[Any, ...]]:
    """Give what a value says, with the path to it."""
    if isinstance(value, dict) and value:
        return set().union(*(leaves(v, *above, n) for n, v in value.items()))
    return set() if value in (None, {}) else {(*above, value)}


def columns_hold(flat: dict[str, Any], separator: str, leaf: tuple[Any, ...]) -> bool:
    """Tell whether a leaf is in the column of its path or of an object above it."""
    *path, value = leaf
    for count in range(1, len(leaf)):
        held = flat.get(separator.join(path[:count]))
        if count == len(path) and held == value:
            return True
        # An object in place of a text may be in a column of the same name.
        inside = leaves(json.loads(held)) if held and held.startswith("{") else ()
        if leaf[count:] in inside:
            return True
    return False


@example(
    {"b_a": opened(c=TEXT), "b": opened(a=TEXT)},
    {"b": {"a": {}}, "b_a": {"c": "x"}},
    1,
    "_",
)
@given(
    st.dictionaries(names, schemas, max_size=4),
    st.dictionaries(names, values, max_size=4),
    st.integers(1, 3),
    st.sampled_from(["_", "__"]),
)
def test_nothing_is_lost_and_nothing_is_undeclared(
    fields: dict[str, Any], record: dict[str, Any], depth: int, separator: str
) -> None:
    try:
        made, _ = flattening(fields, depth, separator=separator)
    except ValueError:
        return
    found = made.record(record)
    assert found.keys() == made.schema["properties"].keys()
    rest = json.loads(found.pop("additional_properties") or "{}")
    for leaf in leaves(record):
        assert leaf in leaves(rest) or columns_hold(found, separator, leaf)
