"""Whatever an API may say of a record, for tests of properties."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime
from typing import Any

from hypothesis import strategies as st

MADE_BY_THE_TAP = {"record_key", "signal_observed_at", "window_end"}
FIELDS = (
    "id",
    "title",
    "company",
    "score",
    "signal",
    "observed_at",
    "name",
    "x",
    "y_at",
)

TEXT = {"type": ["string", "null"]}
TIME = {**TEXT, "format": "date-time"}
INTEGER = {"type": ["integer", "null"]}
OBJECT = {"type": ["object", "null"], "additionalProperties": True}
COLUMNS: list[dict[str, Any]] = [
    TEXT,
    TIME,
    INTEGER,
    OBJECT,
    {"type": ["number", "null"]},
    {"type": ["boolean", "null"]},
    {"type": ["array", "null"]},
    {"type": ["array", "null"], "items": {"type": ["number", "null"]}},
    {**OBJECT, "properties": {"id": TEXT, "x": {"type": "number"}}},
    {**OBJECT, "properties": {"title": TIME, "x": INTEGER}},
    {"type": "string"},
    {"type": ["string", "number", "null"]},
]


class Number(str):
    """A number as it is spelled."""

    __slots__ = ()


digits = st.integers(0, 10**25).map(str)
numbers = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-"]),
    digits,
    st.just("") | digits.map(".{}".format),
    st.just("") | st.integers(-500, 500).map("e{:+}".format),
).map(Number)
texts = (
    st.text(st.characters(exclude_categories=()), max_size=5)
    | st.sampled_from(["2026-03-01T12:00:00+05:45", "2026-03-01T12:00:00.1234567Z"])
    | st.datetimes().map(datetime.isoformat)
)
scalars = st.none() | st.booleans() | numbers | texts
# Of names that a page repairs, two may become the same.
fine = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
names = st.sampled_from((*FIELDS, *MADE_BY_THE_TAP, "additional_properties")) | fine
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)
    ),
    max_leaves=6,
)
records = st.builds(
    lambda identifier, rest: {**rest, "id": identifier},
    texts.filter(bool) | numbers,
    st.dictionaries(names, values, max_size=6),
)
catalogs = st.dictionaries(
    st.sampled_from(("name", "x", "y_at", "title", "observed_at")),
    st.sampled_from(COLUMNS),
)


def spelled(value: Any) -> str:
    """Write JSON, numbers as they are spelled."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        fields = (f"{json.dumps(k)}: {spelled(v)}" for k, v in value.items())
        return f"{{{', '.join(fields)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(spelled, value))}]"
    return json.dumps(value)


def told(value: Any) -> Any:
    """Give what a target can be told: the same, but for what it would refuse."""
    if isinstance(value, Number):
        number = json.loads(value)
        return str(value) if number in {math.inf, -math.inf} else number
    if isinstance(value, str):
        return re.sub("[\0\ud800-\udfff]", "\ufffd", value)
    if isinstance(value, list):
        return [told(item) for item in value]
    if isinstance(value, dict):
        return {key: told(item) for key, item in value.items()}
    return value
