"""The settings: their schema, as `--about` shows them, and their parsed values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from singer_sdk import typing as th

from tap_leadintent.times import parse_instant

_DAY = 86_400

_MAX_DAYS = 36_525
"""A hundred years. More is a mistake, and dates could not hold it."""

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
        default=32,
        description="Most requests at once, 1 to 32. The tap begins with fewer, and "
        "finds out how many the API can answer.",
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
        "max_requests_per_run",
        th.IntegerType(minimum=1),
        description="Most requests in a run, for all streams together. A run that has "
        "used them up ends cleanly, and the next one goes on.",
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
        "objects_as_text",
        th.BooleanType,
        default=False,
        description="Writes objects and lists as JSON text, for loaders that cannot "
        "take them.",
    ),
    th.Property(
        "load_receipts",
        th.BooleanType,
        default=False,
        description="Adds the stream `loads`: for each run, a row for each stream and "
        "time range, also if it failed or found nothing, with the number of rows "
        "that the warehouse must have.",
    ),
    th.Property(
        "emit_activate_version_messages",
        th.BooleanType,
        default=False,
        description="After a stream is loaded as FULL_TABLE, lets the loader mark (in "
        "`_sdc_deleted_at`) or delete the rows that the API no longer returns.",
    ),
).to_dict()


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The values of valid settings; instants are parsed, and days are seconds."""

    base_url: str
    """Address of the API, empty where only discovery is possible."""

    api_key: str
    """The key, empty where only discovery is possible."""

    start: int
    """`start_date` in UTC seconds since 1970; 0 where only discovery is possible."""

    end: int | None
    """`end_date` in UTC seconds since 1970, rounded up to a second."""

    lookback: int
    """`lookback_days` in seconds."""

    window: int
    """`window_days` in seconds."""

    concurrency: int
    """Most requests at once."""

    page_size: int
    """Records to ask for in a page."""

    max_requests_per_minute: int | None
    """Most requests in a minute, of all streams together."""

    max_requests_per_run: int | None
    """Most requests in a run, of all streams together."""

    request_timeout: float
    """Seconds until a complete response must have arrived."""

    max_retries: int
    """Most retries of a request."""

    user_agent: str | None
    """The header `User-Agent`; None for the tap's own."""

    exclude_fields: Mapping[str, Sequence[str]]
    """For each stream, the fields that are not loaded."""

    filters: Mapping[str, Mapping[str, Any]]
    """For each stream, the request fields that restrict it."""

    load_receipts: bool
    """Whether the tap has the stream `loads`."""

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Self:
        """Parse settings.

        Args:
            config: Valid settings, as the SDK reads them. Those that are missing have
                their defaults.

        Returns:
            Their values.
        """
        defaults = {
            name: schema.get("default") for name, schema in SCHEMA["properties"].items()
        }
        values = {**defaults, **config}
        start = values["start_date"]
        end = values["end_date"]
        return cls(
            base_url=values["base_url"] or "",
            api_key=values["api_key"] or "",
            start=0 if start is None else parse_instant(start),
            end=None if end is None else parse_instant(end, round_up=True),
            lookback=int(values["lookback_days"] * _DAY),
            window=int(values["window_days"] * _DAY),
            concurrency=values["concurrency"],
            page_size=values["page_size"],
            max_requests_per_minute=values["max_requests_per_minute"],
            max_requests_per_run=values["max_requests_per_run"],
            request_timeout=values["request_timeout_seconds"],
            max_retries=values["max_retries"],
            user_agent=values["user_agent"],
            exclude_fields=values["exclude_fields"],
            filters=values["filters"],
            load_receipts=values["load_receipts"],
        )
