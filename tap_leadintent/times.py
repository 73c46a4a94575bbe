"""Reads and writes instants in settings, records, requests, bookmarks and columns."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import msgspec

_LONGEST_DATE = len("2026-W01-1")
_WIDTH = len("2026-01-01T00:00:00.000000Z")
_LENGTH_TO_MICROSECONDS = len("20260101T000000.000000")
_FINER = re.compile(r"[.,]\d{6}\d*[1-9]")
_UTC_NAME = re.compile(" ?UTC$")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EARLIEST = -62_135_596_800
"""The first second of year 1, in UTC seconds since 1970."""

LATEST = 253_402_300_799
"""The last second of year 9999, in UTC seconds since 1970."""


def parse_instant(
    text: str,
    *,
    round_up: bool = False,
) -> int:
    """Parse an instant of a setting or a bookmark.

    Args:
        text: An ISO 8601 date or date-time; without an offset it is UTC.
        round_up: Whether a fraction of a second is rounded up instead of down.

    Returns:
        UTC seconds since 1970; at least `EARLIEST` and at most `LATEST`, also where an
        offset moves the instant out of the years 1 to 9999.

    Raises:
        ValueError: The text is not an ISO 8601 date or date-time.
    """
    instant = _with_offset(_parse(text))
    seconds, fraction = divmod(instant - _EPOCH, timedelta(seconds=1))
    if round_up and fraction:
        seconds += 1
    return min(max(seconds, EARLIEST), LATEST)


def _with_offset(instant: datetime) -> datetime:
    """Take an instant without an offset as UTC."""
    if instant.tzinfo is None:
        return instant.replace(tzinfo=UTC)
    return instant


def _parse(text: str) -> datetime:
    """Parse ISO 8601, also in lower case, and with "UTC" for the offset."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        with suppress(ValueError):
            standard = _UTC_NAME.sub("Z", text.upper())
            return datetime.fromisoformat(standard)
        raise ValueError(f"{text!r} is not a time") from None


def format_instant(seconds: int) -> str:
    """Format an instant for a request or a bookmark.

    Args:
        seconds: UTC seconds since 1970.

    Returns:
        `YYYY-MM-DDTHH:MM:SSZ`.
    """
    instant = _EPOCH + timedelta(seconds=seconds)
    without_offset = instant.replace(tzinfo=None)
    return f"{without_offset.isoformat()}Z"


def format_interval(interval: tuple[int, int]) -> str:
    """Format an interval for a message.

    Args:
        interval: Its two ends, in UTC seconds since 1970.

    Returns:
        Text such as "from 2026-01-01T00:00:00Z to 2026-06-01T00:00:00Z".
    """
    start, end = map(format_instant, interval)
    return f"from {start} to {end}"


def parse_http_date(text: str) -> int | None:
    """Parse a date of an HTTP header.

    Args:
        text: Any text. A date without an offset is UTC.

    Returns:
        UTC seconds since 1970, or None when the text is not a date.
    """
    try:
        instant = _with_offset(parsedate_to_datetime(text))
        since_epoch = instant.astimezone(UTC) - _EPOCH
    except (OverflowError, ValueError):
        return None
    return int(since_epoch.total_seconds())


def utc_timestamp(value: object) -> str | None:
    """Format a record's time in the one form that sorts as text.

    Args:
        value: An ISO 8601 date-time of a record, in upper or lower case. Without an
            offset it is UTC, as all times of the API are.

    Returns:
        `YYYY-MM-DDTHH:MM:SS.ffffffZ`, or None when the value is not a date-time.
    """
    if not isinstance(value, str) or len(value) <= _LONGEST_DATE:
        return None
    # Python would read 13 digits, such as milliseconds since 1970, as a time in the
    # year that the first four name.
    if value.isdigit():
        return None
    try:
        instant = _parse(value)
        if instant.tzinfo is None:
            instant = instant.replace(tzinfo=UTC)
        elif instant.tzinfo is not UTC:
            instant = instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    # This is several times faster than `isoformat`, but omits a fraction of zero.
    text: str = msgspec.to_builtins(instant)
    if len(text) == _WIDTH:
        return text
    return f"{text[:-1]}.000000Z"


def field_at(path: Iterable[str], record: object) -> object:
    """Return a field of a record.

    Args:
        path: The names of the objects around the field, outermost first, and its own.
        record: The record as the API gave it.

    Returns:
        The value; None if the record lacks the field.
    """
    for name in path:
        if not isinstance(record, dict):
            return None
        record = record.get(name)
    return record


def time_at(
    path: Iterable[str],
    record: object,
    _: object = None,
) -> str | None:
    """Format the time in a field of a record, also for a `ComputedColumn`.

    Args:
        path: As for `field_at`.
        record: The record as the API gave it.

    Returns:
        As `utc_timestamp`; None if the record lacks the field.
    """
    return utc_timestamp(field_at(path, record))


def is_finer(text: str) -> bool:
    """Return whether a time has digits that `utc_timestamp` drops.

    Args:
        text: A time that `utc_timestamp` accepts.

    Returns:
        Whether a digit other than 0 follows the sixth decimal place.
    """
    if len(text) <= _LENGTH_TO_MICROSECONDS:
        return False
    return _FINER.search(text) is not None
