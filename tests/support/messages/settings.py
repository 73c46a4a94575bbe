"""What is said of settings."""

from __future__ import annotations

import json
from typing import Any

from tests.support.entering import nested
from tests.support.helpers import only
from tests.support.messages.message import Message

_PARQUET = {"encoding": {"format": "parquet"}, "storage": {"root": "file:///tmp/x"}}


def _jsonl(root: str) -> dict[str, Any]:
    return {"encoding": {"format": "jsonl"}, "storage": {"root": root}}


_MISTYPED = "Write the setting as docs/settings.md has it."
_EXTRA = "Install what the message names, where the tap is installed."

SETTINGS = (
    Message(
        text="base_url: is required",
        config={"base_url": None},
        cause="The tap needs the API's address to read anything.",
        cure="Set `base_url` to the root of the API.",
    ),
    Message(
        text="api_key: is required",
        config={"api_key": None},
        cause="The tap needs a key to read anything.",
        cure="Make a key in the dashboard under Developer -> API Keys, set `api_key`.",
    ),
    Message(
        text="…: there is no such setting; did you mean …?",
        config={"pagesize": 50},
        cause="A setting has another name than the tap knows.",
        cure=_MISTYPED,
    ),
    Message(
        text="page_size: 101 is greater than the maximum of 100",
        config={"page_size": 101},
        cause="The API gives at most 100 records a page.",
        cure="Set `page_size` to 100 or less, or leave it out.",
    ),
    Message(
        text="…: … is not of type …",
        config={"concurrency": "many"},
        cause="A setting has a value of another type.",
        cure=_MISTYPED,
    ),
    Message(
        text="filters: is nested too deeply",
        config={"filters": json.loads(nested(65))},
        cause="The setting holds lists or objects within each other, too many to be meant.",
        cure=_MISTYPED,
    ),
    Message(
        text="base_url: must be a URL such as https://api.example.com",
        config={"base_url": "api.example.com"},
        cause="The address lacks its scheme or its host, or has white space.",
        cure="Set `base_url` to the whole root of the API, with https://.",
    ),
    Message(
        text="base_url: must begin with https://, as plain http would send the key unencrypted",
        config={"base_url": "http://api.example.com"},
        cause="Plain HTTP would show the key to everybody between you and the API.",
        cure="Write https://. Only addresses on this machine may do without.",
    ),
    Message(
        text="base_url: must not carry credentials; the key goes into api_key",
        config={"base_url": "https://user:word@api.example.com"},
        cause="The address holds a user's name or a password.",
        cure="Take them out of `base_url`; the API takes a key alone.",
    ),
    Message(
        text="base_url: must not carry a query or a fragment",
        config={"base_url": "https://api.example.com?x=1"},
        cause="The address has a query or a fragment after its path.",
        cure="Cut `base_url` at the `?` or `#`.",
    ),
    Message(
        text="base_url: must be given without /v1, which the tap adds",
        config={"base_url": "https://api.example.com/v1"},
        cause="The address is that of a version, not of the API.",
        cure="Take the `/v1` away.",
    ),
    Message(
        text="api_key: is empty",
        config={"api_key": ""},
        cause="The key is an empty text, such as a variable that was never set.",
        cure="Set `api_key` to the key.",
    ),
    Message(
        text="api_key: must not hold white space, control or non-ASCII characters",
        config={"api_key": "one two three"},
        cause="The key was copied in part, or with something else, often the end of the line.",
        cure="Copy the key again.",
    ),
    Message(
        text="api_key: has fewer than … characters, too few to be kept out of messages; copy the whole key from the dashboard",
        config={"api_key": "short"},
        cause="A key this short would be found in any text, so it cannot be kept out of messages.",
        cure="Copy the whole key.",
    ),
    Message(
        text="start_date: … is not a date or date-time, such as 2026-01-31",
        config={"start_date": "yesterday"},
        cause="The date is not in ISO 8601.",
        cure="Write it as 2026-01-31 or 2026-01-31T08:00:00Z.",
    ),
    Message(
        text="start_date: … lies in the future",
        config={"start_date": "9000-01-01"},
        cause="`start_date` lies more than a day ahead, so there is nothing to read yet.",
        cure="Set `start_date` to when the first rows that you want were found.",
    ),
    Message(
        text="end_date: comes before start_date",
        config={"start_date": "2026-02-01", "end_date": "2026-01-01"},
        cause="`end_date` comes before `start_date`, so the range is empty.",
        cure="Exchange the two, or leave `end_date` out.",
    ),
    Message(
        text="recheck_days: needs start_date; without it a load is one unfiltered "
        "chain, of which no part can be read again",
        config={"recheck_days": 30, "start_date": None},
        cause="Everything is read in one chain, which has no slices.",
        cure="Set `start_date`, or leave `recheck_days` out.",
    ),
    Message(
        text="user_agent: must be printable ASCII",
        config={"user_agent": "né"},
        cause="HTTP headers hold printable ASCII characters only.",
        cure="Use plain letters.",
    ),
    Message(
        text="filters.lead: there is no such stream; did you mean leads?",
        config={"filters": {"lead": {}}},
        cause="`filters` names a stream that there is not.",
        cure="Write the stream as the table of streams in README has it.",
    ),
    Message(
        text="filters.leads.sheet_id: there is no such request field; did you mean …?",
        config={"filters": {"leads": {"sheet_id": ["sht_1"]}}},
        cause="A filter is a near miss of one that the API's description has.",
        cure="Write it as the message suggests.",
    ),
    Message(
        text="filters.leads.cursor: is set by the tap and cannot be a filter",
        config={"filters": {"leads": {"cursor": {}}}},
        cause="The tap itself pages and asks for time ranges.",
        cure="Use `start_date`, `end_date` and `page_size`.",
    ),
    Message(
        text="filters.signal_agents.statuses is passed on, though the API description does not show it",
        level="WARNING",
        code=0,
        config={"filters": {"signal_agents": {"statuses": ["active"]}}},
        catalog=lambda: only("signal_agents"),
        cause="The API's description shows no such request field. It may work or not.",
        cure="Nothing needs to be done if the API takes the field.",
    ),
    Message(
        text="exclude_fields.…: there is no such stream; did you mean leads?",
        config={"exclude_fields": {"lead": ["title"]}},
        cause="`exclude_fields` names a stream that there is not.",
        cure="Write the stream as the table of streams in README has it.",
    ),
    Message(
        text="exclude_fields.leads: id cannot be left out: it is part of the stream's key",
        config={"exclude_fields": {"leads": ["id"]}},
        cause="Rows could not be told apart without their key.",
        cure="Leave the field in, or choose another key in the catalog.",
    ),
    Message(
        text="flattening_max_depth: is required with flattening_enabled",
        config={"flattening_enabled": True},
        cause="The SDK flattens nothing without a depth.",
        cure="Set `flattening_max_depth`, such as 1.",
    ),
    Message(
        text="batch_config.storage.root: is required",
        config={"batch_config": {"encoding": {"format": "jsonl"}}},
        cause="Batches need a place.",
        cure="Set `batch_config.storage.root` to a folder or an s3:// URL.",
    ),
    Message(
        text="batch_config.storage.root: there is no storage …://; begin with file:// or s3://",
        config={"batch_config": _jsonl("foo://x")},
        cause="The tap cannot write to URLs of this kind.",
        cure="Use file:// or s3://.",
    ),
    Message(
        text="batch_config.encoding.format: parquet needs another package: pip install "
        "'tap-leadintent[parquet]'",
        config={"batch_config": _PARQUET},
        lacks="pyarrow",
        cause="Parquet files are written by PyArrow, which is not installed.",
        cure=_EXTRA,
    ),
    Message(
        text="batch_config.storage.root: s3:// needs another package: pip install "
        "'tap-leadintent[s3]'",
        config={"batch_config": _jsonl("s3://bucket/x")},
        lacks="s3fs",
        cause="S3 is written to by s3fs, which is not installed.",
        cure=_EXTRA,
    ),
    Message(
        text="stream_maps: `fake` needs another package: pip install "
        "'tap-leadintent[faker]'",
        config={"stream_maps": {"leads": {"full_name": "fake.name()"}}},
        lacks="faker",
        cause="`fake` in a map is Faker, which is not installed.",
        cure=_EXTRA,
    ),
    Message(
        text="filters: is not valid JSON: …",
        variables={"FILTERS": "sheet_ids=1"},
        arguments=("--config=ENV",),
        cause="An object in the environment must be written as JSON.",
        cure="Quote the whole of it in your shell, names in double quotes inside.",
    ),
    Message(
        text="TAP_LEADINTENT_PAGESIZE is ignored: there is no such setting; did you mean "
        "page_size?",
        level="WARNING",
        code=0,
        variables={"PAGESIZE": "50"},
        arguments=("--config=ENV", "--test=schema"),
        cause="A variable is nearly named like a setting. It may be another program's.",
        cure="Rename it if it was meant for the tap.",
    ),
    Message(
        text="TAP_LEADINTENT_LOGLEVEL: there is no log level 'foo'; choose one of DEBUG, "
        "INFO, WARNING, ERROR, CRITICAL",
        variables={"LOGLEVEL": "foo"},
        cause="There is no such log level.",
        cure="Choose one of them, or unset the variable for INFO.",
    ),
    Message(
        text="stream_maps.lead: there is no stream lead; did you mean leads?",
        config={"stream_maps": {"lead": {"title": None}}},
        cause="`stream_maps` names a stream that there is not, so it would do nothing.",
        cure="Write the stream as the table of streams in README has it.",
    ),
    Message(
        text="stream_maps.leads.full_nam: there is no such field; did you mean full_name?",
        config={"stream_maps": {"leads": {"full_nam": None}}},
        cause="A map removes a near miss of a documented field, which would still be loaded.",
        cure="Write it as the message suggests.",
    ),
    Message(
        text="stream_maps: Failed to parse expression 1 +.",
        config={"stream_maps": {"leads": {"x": "1 +"}}},
        catalog=lambda: only("leads"),
        cause="The expression of a map is not Python.",
        cure="Correct it.",
    ),
)
