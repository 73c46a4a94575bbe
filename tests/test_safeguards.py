"""What is noticed from one window to the next."""

from __future__ import annotations

from unittest import mock

import pytest

from tap_leadintent.errors import StreamError
from tap_leadintent.safeguards import RangeGuard, Repeats
from tap_leadintent.times import format_instant
from tap_leadintent.windows import Window

INSIDE, OUTSIDE, UNKNOWN = 150, 999, None


def ignored() -> bool:
    return True


def read(guard: RangeGuard, *windows: list[list[int | None]]) -> None:
    """Show pages of times to the guard, each list of pages a window from 100 to 200."""
    for number, pages in enumerate(windows):
        guard.window_begins([b"%d" % number])
        for page in pages:
            guard.page(
                Window(100, 200),
                [{"time": None if t is None else format_instant(t)} for t in page],
                lambda record: record["time"],
            )


def test_whole_pages_outside_the_range_in_two_windows_running_are_an_error() -> None:
    guard = RangeGuard("leads", "latest_signal", ignored)
    with pytest.raises(StreamError, match=r"leads: .*latest_signal.*ignore"):
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
    read(RangeGuard("leads", "latest_signal", ignored), *windows)


def test_windows_that_begin_with_the_same_records_are_an_error() -> None:
    guard = RangeGuard("leads", "date_found", ignored)
    guard.window_begins([b"1", b"2"])
    guard.window_begins([b"1", b"2"])
    with pytest.raises(StreamError, match="same records for different time ranges"):
        guard.window_begins([b"1", b"2"])


def test_small_windows_and_other_records_are_none() -> None:
    guard = RangeGuard("leads", "date_found", ignored)
    for content in ([], [], [], [b"1"], [b"1"], [b"2"], [b"1"], [b"1"], [], [b"1"]):
        guard.window_begins(content)


def test_a_server_that_returns_nothing_for_another_time_is_trusted_for_good() -> None:
    is_ignored = mock.Mock(return_value=False)
    guard = RangeGuard("leads", "date_found", is_ignored)
    for _ in range(9):
        guard.window_begins([b"1", b"2"])
    assert is_ignored.call_count == 1


def test_a_record_is_new_unless_it_was_there_just_before_and_unchanged() -> None:
    repeats = Repeats()
    told: list[bool] = []

    def show(*records: tuple[int, bytes]) -> None:
        repeats.next_window()
        keys, raws = zip(*records, strict=True)
        told.extend(repeats.news(keys, raws, 0))

    show((1, b"{}"), (1, b"{}"))
    show((1, b"{}"), (1, b"{ }"), (1, b"{}"))
    show((2, b"{}"))
    show((1, b"{}"))
    assert told == [True, False, False, True, True, True, True]


def test_a_version_that_was_read_earlier_is_no_news() -> None:
    repeats = Repeats()
    assert repeats.news([1, 2], [b"[1]", b"[1]"], 5) == [True, True]
    repeats.next_window()
    assert repeats.news([1, 2, 3], [b"[0]", b"[1]", b"[0]"], 4) == [False, False, True]
    assert repeats.news([1], [b"[2]"], 6) == [True]


def test_a_version_that_is_read_again_has_been_read_later() -> None:
    repeats = Repeats()
    repeats.news([1], [b"[1]"], 5)
    repeats.news([1], [b"[1]"], 9)
    repeats.next_window()
    assert repeats.news([1], [b"[0]"], 7) == [False]


def test_memory_of_a_very_large_window_is_bounded() -> None:
    repeats = Repeats()
    repeats.news(range(30_000), [b"{}"] * 30_000, 0)
    repeats.next_window()
    assert repeats.news([0, 29_999], [b"{}"] * 2, 0) == [True, False]
