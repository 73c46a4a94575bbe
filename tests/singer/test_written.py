"""Counting the rows that a run has written."""

from typing import Any

import pytest

from tap_leadintent.singer.written import WrittenRows

DAY = 86_400


def rows(*days: int | None) -> list[dict[str, Any]]:
    """Return a row for each number, with the time that it names."""
    found = []
    for number, day in enumerate(days):
        time = None
        if day is not None:
            time = f"1970-01-0{day}T00:00:00.000000Z"
        row = {"id": f"lead-{number}", "at": time}
        found.append(row)
    return found


def count(
    written: WrittenRows,
    interval: tuple[int, int] | None,
    *noted: dict[str, Any],
) -> int | None:
    for row in noted:
        written.note(row)
    return written.count(interval)


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        (None, 4),
        ((0, 10 * DAY), 3),
        ((DAY, 2 * DAY), 1),
        ((0, DAY), 1),
        ((9, 9), 0),
    ],
)
def test_rows_count_by_their_time(
    interval: tuple[int, int] | None,
    expected: int,
) -> None:
    written = WrittenRows(["id"], "at")
    assert count(written, interval, *rows(1, 2, 3, None)) == expected


def test_a_row_counts_once_and_where_it_was_last() -> None:
    written = WrittenRows(["id"], "at")
    assert count(written, (0, 2 * DAY), *rows(2, 2)) == 2
    assert count(written, (0, 2 * DAY), *rows(3)) == 1
    assert written.count((2 * DAY, 9 * DAY)) == 1
    assert written.count() == 2


def test_a_key_may_have_several_columns_of_any_type() -> None:
    written = WrittenRows(["id", "part"])
    noted: list[dict[str, Any]] = [
        {"id": "a", "part": 1},
        {"id": "a", "part": {"x": []}},
        {"id": "a", "part": None},
        {"id": "a", "part": 1},
    ]
    assert count(written, None, *noted) == 3


def test_without_a_key_each_row_is_another_one() -> None:
    assert count(WrittenRows([]), None, *rows(1, 2), *rows(1, 2)) == 4


def test_a_time_that_a_map_has_changed_is_none() -> None:
    written = WrittenRows(["id"], "at")
    noted: list[dict[str, Any]] = [
        {"id": "a", "at": "monday"},
        {"id": "b", "at": 3},
    ]
    assert count(written, (0, 9 * DAY), *noted) == 0


def test_too_many_rows_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tap_leadintent.singer.written._MAX_ROWS", 3)
    written = WrittenRows(["id"], "at")
    assert count(written, None, *rows(1, 2, 3)) == 3
    assert count(written, None, *rows(1, 2, 3, 4)) is None
    assert count(written, (0, DAY), *rows(1)) is None
