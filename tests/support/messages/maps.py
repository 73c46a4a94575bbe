"""What is said of stream maps, excluded fields, and values of settings."""

from __future__ import annotations

import math
from typing import Any

from tests.support.helpers import entries, only
from tests.support.messages.kinds import failed, leads
from tests.support.messages.message import Message


def _with_time_as_key() -> dict[str, Any]:
    catalog = only("leads")
    entries(catalog)["leads"]["replication_key"] = "title"
    return catalog


def _map(text: str, expression: object, cause: str, cure: str, **maps: Any) -> Message:
    config = {"stream_maps": {"leads": {"x": expression}, **maps}}
    return Message(text=text, config=config, catalog=leads, cause=cause, cure=cure)


def _excluded(text: str, field: str, cause: str, cure: str, **how: Any) -> Message:
    config = {"exclude_fields": {"leads": [field]}}
    return Message(text=text, config=config, cause=cause, cure=cure, **how)


def _value(text: str, cause: str, cure: str, **config: Any) -> Message:
    return Message(text=text, config=config, cause=cause, cure=cure)


MAPS = (
    _map(
        "stream_maps.leads.x: …1; 2… is not an expression: it must be one expression",
        "1; 2",
        "A map's value is one Python expression, not a program.",
        "Write one expression.",
    ),
    _map(
        "stream_maps.leads.x: … is not an expression: it is nested too deeply",
        f"{'-' * 10_000}1",
        "Python does not read an expression with so many parts.",
        "Simplify it, or compute it after the load.",
    ),
    _map(
        "stream_maps.leads.x: … uses Lambda, which map expressions cannot use",
        "(lambda: 1)()",
        "Map expressions know only a part of Python.",
        "Write it without that part; the SDK's page on stream maps lists what there is.",
    ),
    _map(
        "stream_maps.leads.x: … needs salt in stream_map_config",
        "md5(config['salt'] + id)",
        "The map reads a value that `stream_map_config` does not hold.",
        "Set it there.",
    ),
    _map(
        "stream_maps.leads.x: … names full_nam, which leads does not have; did you mean full_name?",
        "full_nam",
        "The map reads a field that has no column.",
        "Correct the name, or give the field a column with the `schema` extra.",
    ),
    Message(
        text="stream_maps.leads.x: … names title, which is deselected or excluded",
        config={
            "stream_maps": {"leads": {"x": "title"}},
            "exclude_fields": {"leads": ["title"]},
        },
        catalog=leads,
        cause="The map reads a field that the settings take out.",
        cure="Keep the field, or drop the map.",
    ),
    Message(
        text="stream_maps.leads.revenue: …: leads has no column revenue, so the field itself would stay in additional_properties; name it in exclude_fields to keep it out, or make it a column (`schema` in meltano.yml) to map it",
        config={"stream_maps": {"leads": {"revenue": "md5(record['revenue'])"}}},
        catalog=leads,
        cause="A map masks a field that has no column: its value would still be loaded.",
        cure="Name it in `exclude_fields`, or give it a column with the `schema` extra.",
    ),
    Message(
        text="stream_maps.leads.__fliter__: there is no such option; did you mean __filter__?",
        config={"stream_maps": {"leads": {"__fliter__": "True"}}},
        cause="An option of a map is misspelt.",
        cure="Write it as the message suggests.",
    ),
    failed(
        "the map expression 'title + 1' failed on a record (…); a value may be null there, or of another type than expected",
        config={"stream_maps": {"leads": {"x": "title + 1"}}},
        cause="The expression works on some records and not on all.",
        cure="Provide for null and for other types: `title + '!' if title else None`.",
    ),
    _excluded(
        "exclude_fields.leads: profile.*: takes names, not patterns",
        "profile.*",
        "`exclude_fields` knows no wildcards.",
        "Name the field that holds them all, such as `profile`.",
    ),
    _excluded(
        "exclude_fields.leads: additional_properties.title: additional_properties is made by the tap; did you mean title?",
        "additional_properties.title",
        "Fields are named as in the API's record, not as in the table.",
        "Write the field's own name.",
    ),
    _excluded(
        "exclude_fields.leads: full_nam: there is no such field; did you mean full_name?",
        "full_nam",
        "A name is a near miss of a documented field, which would still be loaded.",
        "Write it as the message suggests.",
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

VALUES = (
    _value(
        "api_key: must be a string",
        "The key is a number or a list, as YAML reads it without quotes.",
        "Put it in quotes.",
        api_key=12345678,
    ),
    _value(
        "window_days: must be a finite number",
        "The value is infinite, or not a number.",
        "Set a number of days, or leave the setting out.",
        window_days=math.inf,
    ),
    _value(
        "request_timeout_seconds: must be at most …",
        "The wait would be longer than any run.",
        "Set a smaller number.",
        request_timeout_seconds=1e12,
    ),
    _value(
        "user_agent: must not begin or end with white space",
        "HTTP does not carry such white space.",
        "Remove it.",
        user_agent=" me",
    ),
    _value(
        "filters.leads: must be an object of request fields",
        "A stream's filters are names with values.",
        'Write `{"leads": {"sheet_ids": ["…"]}}`.',
        filters={"leads": ["sht_1"]},
    ),
    _value(
        "filters.leads.note: holds what JSON cannot hold, such as NaN or a lone surrogate",
        "The field or its value cannot be sent in a JSON body.",
        "Write another.",
        filters={"leads": {"note": math.nan}},
    ),
)
