"""Records that a request did not ask for are named once."""

from typing import Any
from unittest import mock

import pytest

from tap_leadintent.records.contradictions import Contradictions

TIME = {"latest_signal": ("signal", "observed_at")}
SHEET = {
    "sheet_ids": ("sheet", "id"),
    "lead_country_codes": ("country_code",),
}
FIRST_DAY = (0, 86_400)


def warnings(
    records: list[Any],
    name: str = "latest_signal",
    **filters: Any,
) -> int:
    """Check two equal pages, and count the warnings."""
    findings = mock.Mock()
    check = Contradictions(TIME, SHEET, filters)
    for _ in range(2):
        check.check(records, name, FIRST_DAY, findings)
    return len({str(call.args) for call in findings.note.call_args_list})


@pytest.mark.parametrize(
    ("time", "count"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-02T00:00:00.9Z", 0),
        ("1970-01-02T01:00:00+02:00", 0),
        ("1970-01-02T00:00:01Z", 1),
        ("1969-12-31T23:59:59Z", 1),
        ("soon", 0),
        (None, 0),
    ],
)
def test_a_time_outside_the_requested_range(time: str | None, count: int) -> None:
    records = [
        {"signal": {"observed_at": time}},
        {"signal": None},
        {},
    ]
    assert warnings(records) == count
    assert warnings(records, "date_found") == 0, "no field shows when it was found"


@pytest.mark.parametrize(
    ("time", "is_far"),
    [
        ("1970-01-04T00:00:00Z", False),
        ("1969-12-30T00:00:00Z", False),
        ("1970-01-04T00:00:01Z", True),
        ("1969-12-29T23:59:59Z", True),
    ],
)
def test_what_another_time_zone_does_not_explain_lies_far_outside(
    time: str,
    *,
    is_far: bool,
) -> None:
    check = Contradictions(TIME, SHEET, {})
    records = [{"signal": {"observed_at": time}}]
    for name in ("date_found", "latest_signal"):
        check.check(records, name, FIRST_DAY, mock.Mock())
    assert check.far_outside == ({"latest_signal"} if is_far else set())


def test_a_record_outside_a_filter() -> None:
    records = [
        {
            "sheet": {"id": "a"},
            "country_code": "DE",
        },
        {"sheet": {"id": 1}},
    ]
    inside = warnings(records, sheet_ids=["a"], lead_country_codes=["de"])
    outside = warnings(records, sheet_ids=["b"], lead_country_codes=["US"])
    assert inside == 0
    assert outside == 2
