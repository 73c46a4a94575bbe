"""Fields that a user excludes are in no record and in no schema."""

from copy import deepcopy

from hypothesis import example, given
from hypothesis import strategies as st

from tap_leadintent.records.exclusion import Exclusion
from tests.support.arbitrary import nested
from tests.support.helpers import Json

names = st.sampled_from(["a", "b", "a.b", "b.a", "a.b.a", ""])
values = nested(st.none() | st.integers(), names)


def paths(value: object, *above: str) -> set[tuple[str, ...]]:
    """Return the path of each field of a value."""
    if isinstance(value, list):
        return {path for item in value for path in paths(item, *above)}
    if not isinstance(value, dict):
        return set()
    here = {(*above, name) for name in value}
    return here.union(*(paths(field, *above, name) for name, field in value.items()))


def schema_of(value: object) -> Json:
    if isinstance(value, dict):
        return {"properties": {name: schema_of(value[name]) for name in value}}
    return {}


@example({"a": [{"b": 1, "c": 2}]}, {"a.b"})
@given(
    st.dictionaries(names, values, max_size=4),
    st.sets(names | st.just("a.b.c")),
)
def test_only_the_excluded_fields_are_removed(record: Json, excluded: set[str]) -> None:
    exclusion = Exclusion(excluded)
    before = deepcopy(record)
    remaining = exclusion.apply(record)
    kept = {
        path
        for path in paths(record)
        if excluded.isdisjoint(".".join(path[:n]) for n in range(1, len(path) + 1))
    }
    assert paths(remaining) == kept
    assert record == before
    assert exclusion.prune(schema_of(record)) == schema_of(remaining)


def test_a_name_of_many_levels_is_found_quickly() -> None:
    """Each dot may be a part of a name: all ways to read forty are too many."""
    levels = 40
    value: Json = {"x": 1, "kept": 2}
    for _ in range(levels):
        value = {"x": value}
    remaining = Exclusion([".".join("x" * (levels + 1))]).apply(value)
    for _ in range(levels):
        remaining = remaining["x"]
    assert remaining == {"kept": 2}
