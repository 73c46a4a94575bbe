"""Instants in settings, bookmarks, requests and records."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.times import (
    EARLIEST,
    LATEST,
    format_instant,
    parse_instant,
    utc_timestamp,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-02", 86400),
        ("1970-01-01T01:01:00+01:00", 60),
        ("1970-01-01T00:01:00", 60),
        ("1970-01-01T00:01:00.999Z", 60),
        ("1969-12-31T23:59:59.5Z", -1),
        ("0001-01-01T00:00:00+14:00", EARLIEST),
        ("9999-12-31T23:59:59-14:00", LATEST),
    ],
)
def test_a_date_or_date_time_is_read_as_utc_and_rounded_down(
    text: str,
    seconds: int,
) -> None:
    assert parse_instant(text) == seconds


@given(st.integers(EARLIEST, LATEST))
def test_a_bookmark_is_read_back_as_written(seconds: int) -> None:
    text = format_instant(seconds)
    assert parse_instant(text) == seconds
    assert len(text) == len("2026-01-01T00:00:00Z")


FIRST = datetime(2, 1, 1)  # noqa: DTZ001 - a bound
LAST = datetime(9998, 1, 1)  # noqa: DTZ001 - a bound


def offset_by(minutes: int) -> timezone:
    return timezone(timedelta(minutes=minutes))


@given(
    local=st.datetimes(FIRST, LAST),
    zone=st.integers(-1439, 1439).map(offset_by),
    is_whole=st.booleans(),
)
def test_a_records_time_is_written_in_utc_at_full_width(
    local: datetime,
    zone: timezone,
    *,
    is_whole: bool,
) -> None:
    instant = local.replace(tzinfo=zone)
    if is_whole:
        instant = instant.replace(microsecond=0)
    written = utc_timestamp(instant.isoformat())
    assert written is not None
    assert len(written) == len("2026-01-01T00:00:00.000000Z")
    assert datetime.fromisoformat(written) == instant.astimezone(UTC)


@pytest.mark.parametrize("text", ["2026-03-01t10:00:00z", "2026-03-01 10:00:00 UTC"])
def test_other_spellings_of_a_time_in_utc(text: str) -> None:
    assert utc_timestamp(text) == "2026-03-01T10:00:00.000000Z"
    assert format_instant(parse_instant(text)) == "2026-03-01T10:00:00Z"


@pytest.mark.parametrize(
    "text",
    [
        "0001-01-01T00:00:00+14:00",
        "2026-02-30T12:00:00Z",
        "1764081212345",
        "2026-03-01 10:00:00 CET",
    ],
)
def test_a_records_time_that_utc_does_not_have_is_none(text: str) -> None:
    assert utc_timestamp(text) is None
