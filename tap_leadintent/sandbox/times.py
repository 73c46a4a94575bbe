"""Times of the sandbox, which are integer microseconds since 1970."""

import re
import time
from datetime import UTC, datetime, timedelta

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC_3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)",
    re.ASCII,
)


def current_time() -> int:
    """Return the time of this machine's clock."""
    return time.time_ns() // 1000


def parse_time(text: str) -> int:
    """Return an RFC 3339 date-time with offset as microseconds since 1970.

    Raises:
        ValueError: The text is not such a date-time.
    """
    if not _RFC_3339.fullmatch(text):
        raise ValueError(f"not an RFC 3339 date-time with offset: {text!r}")
    moment = datetime.fromisoformat(text.upper())
    return (moment - _EPOCH) // timedelta(microseconds=1)


def format_time(instant: int) -> str:
    """Return an instant as an ISO 8601 text in UTC that ends with `Z`."""
    moment = _EPOCH + timedelta(microseconds=instant)
    return f"{moment.replace(tzinfo=None).isoformat()}Z"
