"""The settings, as `--about` shows them."""

from singer_sdk import typing as th

from tap_leadintent.singer.log import SHORTEST_SECRET

_MAX_DAYS = 36_525
"""A hundred years. More is a mistake, and dates could not hold it."""

_HTTPS = r"https://([\w-]{1,63}(\.[\w-]{1,63})*\.?|\[[0-9a-f]*(:[0-9a-f]*){2,7}\])"
_HTTP = r"http://(localhost|127(\.[0-9]{1,3}){3}|\[::1\])"
_ROOT = rf"^(?i:{_HTTPS}|{_HTTP})(:[0-9]{{1,5}})?(/[^\s?#]*)?(?<!/v1)(?<!/v1/)\Z"
"""Patterns end with `\\Z`, as a dollar sign would let a line feed follow."""

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
        description="Date or date-time, UTC: reads what was found, observed or active "
        "since then; without it, a first load that is interrupted begins again",
    ),
    th.Property(
        "end_date",
        th.StringType,
        description="Date or date-time, UTC: upper bound, else the start of the run",
    ),
    th.Property(
        "lookback_minutes",
        th.IntegerType(minimum=0, maximum=_MAX_DAYS * 1440),
        default=2880,
        description="Minutes before the newest covered instant that a run reads again",
    ),
    th.Property(
        "recheck_days",
        th.IntegerType(minimum=1, maximum=_MAX_DAYS),
        description="Days in which everything since `start_date` is read once more",
    ),
    th.Property(
        "window_days",
        th.NumberType(exclusive_minimum=0, maximum=_MAX_DAYS),
        default=30,
        description="Most days of a time window that one query asks for",
    ),
    th.Property(
        "concurrency",
        th.IntegerType(minimum=1, maximum=32),
        default=4,
        description="Time windows of a stream that are read at once, 1 to 32",
    ),
    th.Property(
        "page_size",
        th.IntegerType(minimum=1, maximum=100),
        default=100,
        description="Records in a page (`cursor.limit`), 1 to 100",
    ),
    th.Property(
        "max_requests_per_minute",
        th.IntegerType(minimum=1),
        description="Limit for all streams together; by default none",
    ),
    th.Property(
        "request_timeout_seconds",
        th.NumberType(exclusive_minimum=0, maximum=86_400),
        default=60,
        description="Seconds for a complete response; connecting gets 10 at most",
    ),
    th.Property(
        "max_retries",
        th.IntegerType(minimum=0),
        default=8,
        description="How often a request that failed for a passing reason is repeated",
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
        description="Discovery reads a page of undocumented streams, for typed columns",
    ),
    th.Property(
        "exclude_fields",
        th.ObjectType(additional_properties=th.ArrayType(th.StringType)),
        default={},
        description="Fields that are dropped before anything else sees them, by the "
        'stream\'s name, such as `{"leads": ["full_name", "company.domain"]}`',
    ),
    th.Property(
        "filters",
        th.ObjectType(additional_properties=th.ObjectType(additional_properties=True)),
        default={},
        description="Fields for the request body of a stream, by the stream's name, "
        'such as `{"leads": {"sheet_ids": ["…"]}}`',
    ),
    th.Property(
        "emit_activate_version_messages",
        th.BooleanType,
        default=False,
        description="Lets the target mark or delete rows that the API does not return",
    ),
).to_dict()
