"""Whatever an API may say of a record, for tests of properties."""

from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from tests.support.columns import ARRAY, FLAG, INTEGER, NUMBER, OBJECT, TEXT, TIME
from tests.support.helpers import Json

Values = st.SearchStrategy[Any]

MADE_BY_THE_TAP = {
    "record_key",
    "signal_observed_at",
    "window_end",
}
FIELDS = ("id", "title", "company", "score", "signal", "observed_at", "name", "x", "y")

COLUMNS: list[Json] = [
    TEXT,
    TIME,
    INTEGER,
    OBJECT,
    NUMBER,
    FLAG,
    ARRAY,
    {**ARRAY, "items": NUMBER},
    {
        **OBJECT,
        "properties": {
            "id": TEXT,
            "x": {"type": "number"},
        },
    },
    {
        **OBJECT,
        "properties": {"title": TIME, "x": INTEGER},
    },
    {"type": "string"},
    {"type": ["string", "number", "null"]},
]


def nested(
    leaves: Values,
    names: st.SearchStrategy[str],
    most: int = 3,
) -> Values:
    """Draw values that are leaves, or lists and objects of such values."""
    return st.recursive(
        leaves,
        lambda inner: (
            st.lists(inner, max_size=most)
            | st.dictionaries(names, inner, max_size=most)
        ),
        max_leaves=8,
    )


# What else a text or number may be, a page repairs.
texts = (
    st.text(
        st.characters(
            exclude_categories=["Cs"],
            exclude_characters="\0",
        )
    )
    | st.sampled_from(["2026-03-01T12:00:00+05:45", "2026-03-01T12:00:00.1234567Z"])
    | st.datetimes().map(datetime.isoformat)
)
numbers = st.integers() | st.floats(
    allow_nan=False,
    allow_infinity=False,
)
names = st.sampled_from((*FIELDS, *MADE_BY_THE_TAP, "additional_properties")) | texts
values = nested(st.none() | st.booleans() | numbers | texts, names)
records = st.builds(
    lambda identifier, others: {**others, "id": identifier},
    texts.filter(bool) | numbers,
    st.dictionaries(names, values, max_size=6),
)
catalogs = st.dictionaries(
    st.sampled_from(("name", "x", "y", "title", "observed_at")),
    st.sampled_from(COLUMNS),
)
