"""What is said of stream maps and excluded fields."""

from __future__ import annotations

from typing import Any

from tests.support.helpers import entries, only
from tests.support.messages.kinds import failed, leads
from tests.support.messages.message import Message


def _with_time_as_key() -> dict[str, Any]:
    catalog = only("leads")
    entries(catalog)["leads"]["replication_key"] = "title"
    return catalog


def _excluded(text: str, field: str, cause: str, cure: str, **how: Any) -> Message:
    config = {"exclude_fields": {"leads": [field]}}
    return Message(text=text, config=config, cause=cause, cure=cure, **how)


MAPS = (
    Message(
        text="stream_maps: an expression is nested too deeply",
        config={"stream_maps": {"leads": {"x": f"{'-' * 10_000}1"}}},
        catalog=leads,
        cause="Python does not read an expression with so many parts.",
        cure="Simplify it, or compute it after the load.",
    ),
    Message(
        text="stream_maps.leads.__fliter__: there is no such option; did you mean __filter__?",
        config={"stream_maps": {"leads": {"__fliter__": "True"}}},
        cause="An option of a map is misspelt.",
        cure="Write it as the message suggests.",
    ),
    failed(
        "the map expression 'md5(revenue)' failed on a record (…); a value may be null there or of another type; if a field has no column, make it a column (`schema`) or name it in `exclude_fields`",
        config={"stream_maps": {"leads": {"revenue": "md5(revenue)"}}},
        cause="The expression does not work on every record, or names what is no column.",
        cure="Provide for null and for other types: `title + '!' if title else None`; add a column with the `schema` extra; or name the field in `exclude_fields`.",
    ),
    _excluded(
        "exclude_fields.leads: title cannot be left out: it is the replication key",
        "title",
        "The stream goes on from this field in the next run.",
        "Keep it, or choose another replication key in the catalog.",
        catalog=_with_time_as_key,
    ),
    Message(
        text="exclude_fields.…: id cannot be left out: the stream's key record_key is made from it",
        config={"exclude_fields": {"observations": ["id"]}},
        cause="Rows could not be told apart without the field.",
        cure="Keep it.",
    ),
    _excluded(
        "leads: exclude_fields leaves out title",
        "title",
        "These fields are not loaded; rows that were loaded before keep them.",
        "[Columns](columns.md#rows-that-were-loaded-before) says how to remove them.",
        level="INFO",
        code=0,
        catalog=leads,
    ),
)
