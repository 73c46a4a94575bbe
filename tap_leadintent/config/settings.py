"""The settings, as `--about` shows them."""

from copy import deepcopy
from typing import Any

from singer_sdk import typing as th
from singer_sdk.helpers.capabilities import BATCH_CONFIG

_MAX_DAYS = 36_525
"""A hundred years. More is a mistake, and dates could not hold it."""


def _batch_settings() -> dict[str, Any]:
    """Return the SDK's declaration with what it lacks; it refuses unknown names.

    Before version 0.55, the SDK has no `arrow`, and no `batch_size`.
    """
    settings: dict[str, Any] = deepcopy(BATCH_CONFIG["properties"]["batch_config"])
    parts = settings["properties"]
    encoding, storage = parts["encoding"], parts["storage"]
    encoding |= {"type": "object", "required": ["format"]}
    for part, name, description in (
        (encoding, "format", "Format of the files."),
        (encoding, "compression", "Compression of the files: gzip, or none."),
        (storage, "root", "Folder of the files, such as s3://bucket/rows."),
        (storage, "prefix", "Beginning of the files' names."),
    ):
        part["properties"][name]["description"] = description
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
        "description": "Most rows in a file.",
    }
    settings["required"] = ["encoding"]
    for part in (settings, encoding, storage):
        part["additionalProperties"] = False
    return settings


SCHEMA = th.PropertiesList(
    th.Property(
        "base_url",
        th.StringType,
        required=True,
        examples=["https://api.example.com"],
        description="Address of the API, without `/v1`.",
    ),
    th.Property(
        "api_key",
        th.StringType,
        required=True,
        secret=True,
        description="Key of your organization, created in the dashboard under "
        "Developer -> API Keys.",
    ),
    th.Property(
        "start_date",
        th.StringType,
        required=True,
        examples=["2026-01-01"],
        description="Date or date-time, UTC, in quotes in YAML: what was found, "
        "observed or active since then is loaded.",
    ),
    th.Property(
        "end_date",
        th.StringType,
        description="Date or date-time, UTC, up to which to load; by default now.",
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
        description="Longest time range of one request, in days; 0.02 is half an hour.",
    ),
    th.Property(
        "concurrency",
        th.IntegerType(minimum=1, maximum=32),
        default=4,
        description="Most requests at once, 1 to 32.",
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
        description="Most requests in a minute, for all streams together.",
    ),
    th.Property(
        "request_timeout_seconds",
        th.NumberType(exclusive_minimum=0, maximum=86_400),
        default=60,
        description="Seconds to wait for a complete response.",
    ),
    th.Property(
        "max_retries",
        th.IntegerType(minimum=0),
        default=8,
        description="Most retries of a failed request.",
    ),
    th.Property(
        "user_agent",
        th.StringType,
        description="The header `User-Agent`, by default `tap-leadintent/<version>`.",
    ),
    th.Property(
        "exclude_fields",
        th.ObjectType(additional_properties=th.ArrayType(th.StringType)),
        default={},
        description="For each stream, the fields that are not loaded, such as "
        '`{"leads": ["full_name", "company.domain"]}`.',
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
        description="Adds the stream `loads`: for each run, a row for each stream and "
        "time range, also if it failed or found nothing.",
    ),
    th.Property(
        "emit_activate_version_messages",
        th.BooleanType,
        default=False,
        description="After a stream is loaded as FULL_TABLE, lets the loader mark (in "
        "`_sdc_deleted_at`) or delete the rows that the API no longer returns.",
    ),
    th.Property(
        "batch_config",
        th.CustomType(_batch_settings()),
        description="Passes rows to the loader in files, which it must be able to "
        "read. docs/warehouses.md says what was tried.",
    ),
).to_dict()
