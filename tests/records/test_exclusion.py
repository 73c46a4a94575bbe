"""Fields that a user excludes are in no record and in no schema."""

from copy import deepcopy

from hypothesis import example, given
from hypothesis import strategies as st

from tap_leadintent.records.exclusion import Exclusion
from tests.support.arbitrary import nested
from tests.support.helpers import Json

names = st.sampled_from(["a", "b", "a.b", "b.a", "a.b.a", ""])
values = nested(st.none() | st.integers(), names)


Path = tuple[str, ...]
"""The names of a field and of those that contain it, from the outside in."""


def paths(value: object, *above: str) -> set[Path]:
    """Return the path of each field of a value."""
    found: set[Path] = set()
    if isinstance(value, list):
        for item in value:
            found |= paths(item, *above)
    elif isinstance(value, dict):
        for name, field in value.items():
            found.add((*above, name))
            found |= paths(field, *above, name)
    return found


def is_below(path: Path, excluded: set[str]) -> bool:
    """Return whether a field, or one that contains it, is excluded."""
    for length in range(1, len(path) + 1):
        name = ".".join(path[:length])
        if name in excluded:
            return True
    return False


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
    kept = set()
    for path in paths(record):
        if not is_below(path, excluded):
            kept.add(path)
    assert paths(remaining) == kept
    assert record == before
    assert exclusion.prune(schema_of(record)) == schema_of(remaining)


def test_a_name_of_many_levels_is_found_quickly() -> None:
    """Each dot may be a part of a name: all ways to read forty are too many."""
    levels = 40
    value: Json = {"x": 1, "kept": 2}
    for _ in range(levels):
        value = {"x": value}
    name = ".".join("x" * (levels + 1))
    remaining = Exclusion([name]).apply(value)
    for _ in range(levels):
        remaining = remaining["x"]
    assert remaining == {"kept": 2}
