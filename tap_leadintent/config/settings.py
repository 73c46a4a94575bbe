"""The settings, as `--about` shows them."""

from copy import deepcopy
from typing import Any

from singer_sdk import typing as th
from singer_sdk.helpers.capabilities import BATCH_CONFIG

from tap_leadintent.singer.log import SHORTEST_SECRET

_MAX_DAYS = 36_525
"""A hundred years. More is a mistake, and dates could not hold it."""

_HTTPS = r"https://([\w-]{1,63}(\.[\w-]{1,63})*\.?|\[[0-9a-f]*(:[0-9a-f]*){2,7}\])"
_HTTP = r"http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])"
_ROOT = rf"^(?i:{_HTTPS}|{_HTTP})(:[0-9]{{1,5}})?(/[^\s?#]*)?(?<!/v1)(?<!/v1/)\Z"
"""Patterns end with `\\Z`, as a dollar sign would let a line feed follow."""


def _batch_settings() -> dict[str, Any]:
    """Return the SDK's declaration with what it lacks; it refuses unknown names.

    Before version 0.55, the SDK has no `arrow`, and no `batch_size`.
    """
    settings: dict[str, Any] = deepcopy(BATCH_CONFIG["properties"]["batch_config"])
    parts = settings["properties"]
    encoding, storage = parts["encoding"], parts["storage"]
    encoding |= {"type": "object", "required": ["format"]}
    encoding["properties"]["format"] |= {
        "type": "string",
        "enum": ["jsonl", "parquet", "arrow"],
    }
    storage["properties"]["params"] = {
        "type": ["object", "null"],
        "title": "Batch Storage Params",
        "description": "Options of the file system, as fsspec takes them.",
    }
    parts["batch_size"] = {
        "type": ["integer", "null"],
        "minimum": 1,
        "title": "Batch Size",
        "description": "Rows of a file at most.",
    }
    settings["required"] = ["encoding"]
    for part in (settings, encoding, storage):
        part["additionalProperties"] = False
    return settings


SCHEMA = th.PropertiesList(
    th.Property(
        "base_url",
        th.StringType(pattern=_ROOT),
        required=True,
        description="Root of the API, without `/v1`, like `https://api.example.com`; "
        "plain `http` is for this machine alone",
    ),
    th.Property(
        "api_key",
        th.StringType(pattern=rf"^[!-~]{{{SHORTEST_SECRET},}}\Z"),
        required=True,
        secret=True,
        description="Key of your organization, created in the dashboard under "
        "Developer -> API Keys: 8 ASCII characters or more, none of them white space",
    ),
    th.Property(
        "start_date",
        th.StringType,
        required=True,
        description="Date or date-time, UTC, in quotes in YAML: what was found, "
        "observed or active since then is loaded.",
    ),
    th.Property(
        "end_date",
        th.StringType,
        description="Date or date-time, UTC, up to which to read; else now.",
    ),
    th.Property(
        "lookback_days",
        th.NumberType(minimum=0, maximum=_MAX_DAYS),
        default=30,
        description="Records that appear in the API at most so many days late are "
        "loaded. With 0, no time is read twice.",
    ),
    th.Property(
        "window_days",
        th.NumberType(exclusive_minimum=0, maximum=_MAX_DAYS),
        default=30,
        description="The longest interval that one request asks for, in days.",
    ),
    th.Property(
        "concurrency",
        th.IntegerType(minimum=1, maximum=32),
        default=4,
        description="How many requests are sent at once, 1 to 32.",
    ),
    th.Property(
        "page_size",
        th.IntegerType(minimum=1, maximum=100),
        default=100,
        description="Records per page, 1 to 100.",
    ),
    th.Property(
        "max_requests_per_minute",
        th.IntegerType(minimum=1),
        description="Limit for all streams together. By default, there is none.",
    ),
    th.Property(
        "request_timeout_seconds",
        th.NumberType(exclusive_minimum=0, maximum=86_400),
        default=60,
        description="Seconds for a complete response; connecting gets 10 at most.",
    ),
    th.Property(
        "max_retries",
        th.IntegerType(minimum=0),
        default=8,
        description="How often a failed request is repeated.",
    ),
    th.Property(
        "user_agent",
        th.StringType(pattern=r"^[!-~]([ -~]*[!-~])?\Z"),
        description="`User-Agent` header, ASCII, by default `tap-leadintent/<version>`",
    ),
    th.Property(
        "infer_columns",
        th.BooleanType,
        default=False,
        description="Discovery adds typed columns to streams that are not documented.",
    ),
    th.Property(
        "exclude_fields",
        th.ObjectType(additional_properties=th.ArrayType(th.StringType)),
        default={},
        description='For each stream, the fields that are left out, such as `{"leads": '
        '["full_name", "company.domain"]}`. It replaces what an extractor sets that '
        "this one inherits from.",
    ),
    th.Property(
        "filters",
        th.ObjectType(additional_properties=th.ObjectType(additional_properties=True)),
        default={},
        description="For each stream, request fields with their values, such as "
        '`{"leads": {"lead_country_codes": ["DE", "AT"]}}`.',
    ),
    th.Property(
        "load_receipts",
        th.BooleanType,
        default=False,
        description="Adds the stream `loads`, which has a row for each stream and time "
        "range of a run, also if it failed or found nothing.",
    ),
    th.Property(
        "emit_activate_version_messages",
        th.BooleanType,
        default=False,
        description="Lets the loader mark or delete rows that the API stops returning.",
    ),
    th.Property(
        "batch_config",
        th.CustomType(_batch_settings()),
        description="Passes rows in files to a loader that reads their format; faster "
        "for hundreds of thousands of rows, and of no use in a regular run",
    ),
).to_dict()
