"""Each mistake in a setting is one line, before anything is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import API_KEY, VALID, each_entry

if TYPE_CHECKING:
    from collections.abc import Callable

BASE_URL = VALID["base_url"]
NO_URL = "base_url: must be a URL such as https://api.example.com"
IN_CLEAR = (
    "base_url: must begin with https://, as plain http would send the key unencrypted"
)
CREDENTIALS = "base_url: must not carry credentials; the key goes into api_key"
QUERY = "base_url: must not carry a query or a fragment"
VERSION = "base_url: must be given without /v1, which the tap adds"
NO_KEY = "api_key: must not hold white space, control or non-ASCII characters"
SHORT_KEY = (
    "api_key: has fewer than 8 characters, too few to be kept out of messages; copy "
    "the whole key from the dashboard"
)
KEY_TYPE = "api_key: must be a string"
NO_FIELD = "there is no such request field"
TAPS_OWN = "is set by the tap and cannot be a filter"
AGENT_EDGES = "user_agent: must not begin or end with white space"
NO_JSON = "holds what JSON cannot hold, such as NaN or a lone surrogate"


# Each changes a valid configuration, and gives the one line that follows.
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"base_url": ""}, NO_URL),
    ({"base_url": "api.example.com"}, NO_URL),
    ({"base_url": "ftp://api.example.com"}, NO_URL),
    ({"base_url": "https://"}, NO_URL),
    ({"base_url": "https:///path"}, NO_URL),
    ({"base_url": "https://[::1"}, NO_URL),
    ({"base_url": "https://api.example.com:70000"}, NO_URL),
    ({"base_url": "https://api example.com"}, NO_URL),
    ({"base_url": "https://*.example.com"}, NO_URL),
    ({"base_url": "https://api..example.com"}, NO_URL),
    ({"base_url": f"https://{'a' * 64}.example.com"}, NO_URL),
    ({"base_url": "https://\udcff.example.com"}, NO_URL),
    ({"base_url": f" {BASE_URL}"}, NO_URL),
    ({"base_url": f"{BASE_URL}\n"}, NO_URL),
    ({"base_url": "http://api.example.com"}, IN_CLEAR),
    ({"base_url": "http://localhost.example.com"}, IN_CLEAR),
    ({"base_url": "http://127.0.0.1.example.com"}, IN_CLEAR),
    ({"base_url": "http://10.0.0.1"}, IN_CLEAR),
    ({"base_url": "http://[2001:db8::1]"}, IN_CLEAR),
    ({"base_url": f"https://{API_KEY}@api.example.com"}, CREDENTIALS),
    ({"base_url": f"https://user:{API_KEY}@api.example.com"}, CREDENTIALS),
    ({"base_url": f"{BASE_URL}?x=1"}, QUERY),
    ({"base_url": f"{BASE_URL}#x"}, QUERY),
    ({"base_url": f"{BASE_URL}/v1"}, VERSION),
    ({"base_url": f"{BASE_URL}/root/v1/"}, VERSION),
    ({"base_url": 7}, "base_url: 7 is not of type 'string'"),
    ({"api_key": ""}, "api_key: is empty"),
    ({"api_key": "1234567"}, SHORT_KEY),
    ({"api_key": f"{API_KEY} "}, NO_KEY),
    ({"api_key": f"{API_KEY}\n"}, NO_KEY),
    ({"api_key": f"{API_KEY}\x00"}, NO_KEY),
    ({"api_key": f"{API_KEY}é"}, NO_KEY),
    ({"api_key": f"{API_KEY}\udcff"}, NO_KEY),
    ({"api_key": 314159265}, KEY_TYPE),
    ({"api_key": 2.718281828}, KEY_TYPE),
    ({"api_key": True}, KEY_TYPE),
    ({"api_key": [API_KEY]}, KEY_TYPE),
    ({"api_key": {"value": API_KEY}}, KEY_TYPE),
    ({"page_size": 0}, "page_size: 0 is less than the minimum of 1"),
    ({"page_size": 101}, "page_size: 101 is greater than the maximum of 100"),
    ({"page_size": "100"}, "page_size: '100' is not of type 'integer', 'null'"),
    ({"page_size": 1.5}, "page_size: 1.5 is not of type 'integer', 'null'"),
    ({"page_size": True}, "page_size: True is not of type 'integer', 'null'"),
    (
        {"request_timeout_seconds": 0},
        "request_timeout_seconds: 0 is less than or equal to the minimum of 0",
    ),
    ({"window_days": 0}, "window_days: 0 is less than or equal to the minimum of 0"),
    ({"lookback_minutes": -1}, "lookback_minutes: -1 is less than the minimum of 0"),
    (
        {"start_date": "yesterday"},
        "start_date: 'yesterday' is not a date or date-time, such as 2026-01-31",
    ),
    (
        {"end_date": "2026-02-30"},
        "end_date: '2026-02-30' is not a date or date-time, such as 2026-01-31",
    ),
    (
        {"recheck_days": 30},
        (
            "recheck_days: needs start_date; without it a load is one unfiltered "
            "chain, of which no part can be read again"
        ),
    ),
    (
        {"recheck_days": 0, "start_date": "2026-02-01"},
        "recheck_days: 0 is less than the minimum of 1",
    ),
    (
        {"start_date": "2026-02-01", "end_date": "2026-02-01T00:59:59+01:00"},
        "end_date: comes before start_date",
    ),
    ({"max_retries": -1}, "max_retries: -1 is less than the minimum of 0"),
    ({"user_agent": "a\r\nb"}, "user_agent: must be printable ASCII"),
    ({"user_agent": "tap 🚰"}, "user_agent: must be printable ASCII"),
    ({"user_agent": " acme"}, AGENT_EDGES),
    ({"user_agent": "acme "}, AGENT_EDGES),
    ({"user_agent": " "}, AGENT_EDGES),
    (
        {"pagesize": 100},
        "pagesize: there is no such setting; did you mean page_size?",
    ),
    (
        {"api-key": API_KEY},
        "api-key: there is no such setting; did you mean api_key?",
    ),
    ({"colour": "blue"}, "colour: there is no such setting"),
    ({"filters": []}, "filters: [] is not of type 'object', 'null'"),
    (
        {"filters": {"lead": {}}},
        "filters.lead: there is no such stream; did you mean leads?",
    ),
    ({"filters": {"invoices": {}}}, "filters.invoices: there is no such stream"),
    (
        {"filters": {"leads": ["s"]}},
        "filters.leads: must be an object of request fields",
    ),
    (
        {"filters": {"leads": None}},
        "filters.leads: must be an object of request fields",
    ),
    ({"filters": {"leads": {"cursor": {}}}}, f"filters.leads.cursor: {TAPS_OWN}"),
    (
        {"filters": {"leads": {"date_found": {}}}},
        f"filters.leads.date_found: {TAPS_OWN}",
    ),
    (
        {"filters": {"signal_accounts": {"latest_signal": {}}}},
        f"filters.signal_accounts.latest_signal: {TAPS_OWN}",
    ),
    (
        {"filters": {"observations": {"observed_at": {}}}},
        f"filters.observations.observed_at: {TAPS_OWN}",
    ),
    (
        {"filters": {"monitored_leads": {"latest_activity": {}}}},
        f"filters.monitored_leads.latest_activity: {TAPS_OWN}",
    ),
    (
        {"filters": {"leads": {"sheet_id": ["s"]}}},
        f"filters.leads.sheet_id: {NO_FIELD}; did you mean sheet_ids?",
    ),
    (
        {"filters": {"leads": {"sheet_ids": "s"}}},
        "filters.leads.sheet_ids: 's' is not of type 'array'",
    ),
    (
        {"filters": {"leads": {"sheet_ids": [1]}}},
        "filters.leads.sheet_ids: 1 is not of type 'string'",
    ),
    ({"filters": {"leads": {"x": float("nan")}}}, f"filters.leads.x: {NO_JSON}"),
    (
        {"filters": {"leads": {"x": [{"y": float("-inf")}]}}},
        f"filters.leads.x: {NO_JSON}",
    ),
    (
        {"filters": {"leads": {"sheet_ids": ["\ud800"]}}},
        f"filters.leads.sheet_ids: {NO_JSON}",
    ),
    ({"filters": {"leads": {"\ud800": None}}}, f"filters.leads.\\ud800: {NO_JSON}"),
]


JSONL = {"format": "jsonl"}
FOLDER = {"root": "file:///tmp/batches"}
NO_SCHEMA = "is not valid under any of the given schemas"

SDK_MISTAKES: list[tuple[dict[str, Any], str]] = [
    (
        {"flattening_enabled": True},
        "flattening_max_depth: is required with flattening_enabled",
    ),
    (
        {"flattening_enabled": True, "flattening_max_depth": -1},
        "flattening_max_depth: is required with flattening_enabled",
    ),
    (
        {"stream_maps": {"__else__": "none"}},
        f"stream_maps.__else__: 'none' {NO_SCHEMA}",
    ),
    (
        {"stream_maps": {"leads": {"__else__": "x"}}},
        f"stream_maps.leads: {{'__else__': 'x'}} {NO_SCHEMA}",
    ),
    ({"batch_config": {"encoding": JSONL}}, "batch_config.storage.root: is required"),
    (
        {"batch_config": {"encoding": JSONL, "storage": {"root": None}}},
        "batch_config.storage.root: is required",
    ),
    (
        {"batch_config": {"storage": FOLDER}},
        "batch_config.encoding.format: is required",
    ),
    (
        {"batch_config": {"encoding": None, "storage": FOLDER}},
        "batch_config.encoding.format: is required",
    ),
    (
        {"batch_config": {"encoding": {**JSONL, "level": 9}, "storage": FOLDER}},
        "batch_config.encoding.level: there is no such setting",
    ),
    (
        {"batch_config": {"encoding": JSONL, "storage": {**FOLDER, "prefx": "x"}}},
        "batch_config.storage.prefx: there is no such setting; did you mean prefix?",
    ),
    (
        {"batch_config": {"encodng": JSONL, "storage": FOLDER}},
        "batch_config.encodng: there is no such setting; did you mean encoding?",
    ),
]

ALL = [*MISTAKES, *SDK_MISTAKES]


@each_entry
@pytest.mark.parametrize(
    ("change", "line"), ALL, ids=[str(change) for change, _ in ALL]
)
def test_a_mistake_is_one_line_and_no_request(
    refused: Callable[..., list[str]],
    change: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    assert refused(change, *arguments) == [line]
