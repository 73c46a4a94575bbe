"""Servers that ignore the time range are noticed."""

from __future__ import annotations

from unittest import mock

import pytest
from msgspec import Raw

from tap_leadintent.api.page import Records
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.range_guard import RangeGuard
from tap_leadintent.replication.time_range import TimeRange
from tap_leadintent.replication.windows import Window
from tap_leadintent.times import format_instant

INSIDE, OUTSIDE, UNKNOWN = 150, 999, None

DATE_FOUND = TimeRange("date_found")
LATEST_SIGNAL = TimeRange("latest_signal", time_of=lambda record: record["time"])


def ignored() -> bool:
    return True


def read(guard: RangeGuard, *windows: list[list[int | None]]) -> None:
    """Show pages of times to the guard, each list of pages a window from 100 to 200."""
    for window, pages in enumerate(windows):
        for number, page in enumerate(pages, start=1):
            data = [{"time": None if t is None else format_instant(t)} for t in page]
            raw = [Raw(b"%d" % window)]
            guard.check(Window(100, 200), number, Records(data, raw))


def begin(guard: RangeGuard, content: list[bytes]) -> None:
    """Show the guard the first page of a window."""
    page = Records([{}] * len(content), [*map(Raw, content)])
    guard.check(Window(100, 200), 1, page)


def test_whole_pages_outside_the_range_in_two_windows_running_are_an_error() -> None:
    guard = RangeGuard(LATEST_SIGNAL, ignored)
    with pytest.raises(StreamError, match=r".*latest_signal.*ignore"):
        read(guard, [[INSIDE], [OUTSIDE, OUTSIDE]], [[OUTSIDE]])


@pytest.mark.parametrize(
    "windows",
    [
        pytest.param([[[OUTSIDE, INSIDE]]] * 3, id="single strays"),
        pytest.param([[[OUTSIDE], [OUTSIDE], [INSIDE]]], id="one window"),
        pytest.param([[[OUTSIDE]], [[INSIDE]], [[OUTSIDE]]], id="not running"),
        pytest.param([[[OUTSIDE]], [[]], [[OUTSIDE]]], id="an empty one between"),
        pytest.param([[[UNKNOWN]]] * 3, id="no time"),
        pytest.param([[[99, 200]]] * 3, id="on the edges"),
    ],
)
def test_anything_less_is_kept(windows: list[list[list[int | None]]]) -> None:
    read(RangeGuard(LATEST_SIGNAL, ignored), *windows)


@pytest.mark.parametrize("content", [[b"1"], [b"1", b"2"]])
def test_windows_that_begin_with_the_same_records_are_an_error(
    content: list[bytes],
) -> None:
    guard = RangeGuard(DATE_FOUND, ignored)
    begin(guard, content)
    begin(guard, content)
    with pytest.raises(StreamError, match="same records for different time ranges"):
        begin(guard, content)


def test_small_windows_and_other_records_are_not_repeats() -> None:
    guard = RangeGuard(DATE_FOUND, ignored)
    for content in ([], [], [], [b"1"], [b"1"], [b"2"], [b"1"], [b"1"], [], [b"1"]):
        begin(guard, content)


def test_a_server_that_returns_nothing_for_another_time_is_trusted_for_good() -> None:
    is_ignored = mock.Mock(return_value=False)
    guard = RangeGuard(DATE_FOUND, is_ignored)
    for _ in range(9):
        begin(guard, [b"1", b"2"])
    assert is_ignored.call_count == 1
