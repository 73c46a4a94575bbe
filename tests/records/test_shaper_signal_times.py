"""When a lead's signal was observed, and what all times of records become."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.records.shaper import signal_observed_at

TIMESTAMP_FORM = "0000-00-00T00:00:00.000000Z"

offsets = st.timedeltas(
    timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)
).map(lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1))))
instants = st.datetimes(
    datetime.fromisoformat("0001-01-03"),
    datetime.fromisoformat("9999-12-29"),
    timezones=st.just(UTC),
)


def observed(text: object) -> str | None:
    """Give `signal_observed_at` of a lead whose signal was observed then."""
    return signal_observed_at({"signal": {"observed_at": text}})


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("2026-03-01T12:00:00Z", "2026-03-01T12:00:00.000000Z"),
        ("2026-03-01T12:00:00.5Z", "2026-03-01T12:00:00.500000Z"),
        ("2026-03-01T12:00:00.123456789Z", "2026-03-01T12:00:00.123456Z"),
        ("2026-03-01T00:30:00+05:45", "2026-02-28T18:45:00.000000Z"),
        ("2026-03-01T12:00:00-0330", "2026-03-01T15:30:00.000000Z"),
        ("20260301T120000Z", "2026-03-01T12:00:00.000000Z"),
        ("2026-03-01T12:00:00", "2026-03-01T12:00:00.000000Z"),
    ],
)
def test_signal_observed_at(text: str, column: str) -> None:
    assert observed(text) == column


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "yesterday",
        "2026-02-30T00:00:00Z",
        "2026-03-01",
        "2026-W09-1",
        "20260301",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
        1767225600,
        True,
        {},
    ],
    ids=repr,
)
def test_what_is_not_an_instant_is_null(value: object) -> None:
    assert observed(value) is None


@pytest.mark.parametrize("signal", [None, "text", [], {}], ids=repr)
def test_a_lead_without_a_signal_has_no_time(signal: object) -> None:
    assert signal_observed_at({"signal": signal}) is None


@given(instants, offsets, st.sampled_from(["seconds", "milliseconds", "microseconds"]))
def test_any_offset_becomes_utc_of_fixed_width(
    instant: datetime, zone: timezone, precision: str
) -> None:
    text = instant.astimezone(zone).isoformat(timespec=precision)
    column = observed(text)
    assert column is not None
    assert "".join("0" if c.isdigit() else c for c in column) == TIMESTAMP_FORM
    assert datetime.fromisoformat(column) == datetime.fromisoformat(text)


@given(st.tuples(instants, offsets), st.tuples(instants, offsets))
def test_text_sorts_like_the_instants(
    one: tuple[datetime, timezone], other: tuple[datetime, timezone]
) -> None:
    texts = [
        observed(instant.astimezone(zone).isoformat()) or ""
        for instant, zone in (one, other)
    ]
    assert (texts[0] < texts[1]) == (one[0] < other[0])
