"""The settings, as `--about` shows them."""

from singer_sdk import typing as th

_MAX_DAYS = 36_525
"""A hundred years. More is a mistake, and dates could not hold it."""


_ENCODING = th.ObjectType(
    th.Property(
        "format",
        th.StringType(allowed_values=["jsonl", "parquet", "arrow"]),
        required=True,
        description="Format of the files.",
    ),
    th.Property(
        "compression",
        th.StringType(allowed_values=["gzip", "none"]),
        description="Compression of the files.",
    ),
    additional_properties=False,
)
_STORAGE = th.ObjectType(
    th.Property("root", th.StringType, description="Folder, such as s3://lake/rows."),
    th.Property("prefix", th.StringType, description="Beginning of the files' names."),
    th.Property("params", th.ObjectType(), description="Options that fsspec takes."),
    additional_properties=False,
)

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
        th.ObjectType(
            th.Property("encoding", _ENCODING, required=True),
            th.Property("storage", _STORAGE),
            th.Property(
                "batch_size",
                th.IntegerType(minimum=1),
                description="Most rows in a file.",
            ),
            additional_properties=False,
        ),
        description="Passes rows to the loader in files, which it must be able to "
        "read. docs/warehouses.md says what was tried.",
    ),
).to_dict()
