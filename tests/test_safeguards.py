"""What is noticed from one window to the next."""

from __future__ import annotations

import pytest

from tap_leadintent.errors import StreamError
from tap_leadintent.safeguards import RangeGuard, Repeats
from tap_leadintent.times import format_instant
from tap_leadintent.windows import Window

INSIDE, OUTSIDE, UNKNOWN = 150, 999, None


def read(guard: RangeGuard, *windows: list[list[int | None]]) -> None:
    """Show pages of times to the guard, each list of pages a window from 100 to 200."""
    for number, pages in enumerate(windows):
        guard.window_begins([f"key {number}"] if pages[0] else [])
        for page in pages:
            guard.page(
                Window(100, 200),
                [{"time": None if t is None else format_instant(t)} for t in page],
                lambda record: record["time"],
            )


def test_whole_pages_outside_the_range_in_two_windows_running_are_an_error() -> None:
    guard = RangeGuard("leads", "latest_signal")
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
    read(RangeGuard("leads", "latest_signal"), *windows)


def test_windows_that_begin_with_the_same_records_are_an_error() -> None:
    guard = RangeGuard("leads", "date_found")
    guard.window_begins(["a", "b"])
    guard.window_begins(["a", "b"])
    with pytest.raises(StreamError, match="same records for different time ranges"):
        guard.window_begins(["a", "b"])


def test_empty_windows_and_other_records_are_none() -> None:
    guard = RangeGuard("leads", "date_found")
    for keys in ([], [], [], ["a"], ["a"], ["b"], ["a"], ["a"]):
        guard.window_begins(keys)


def test_a_record_is_new_unless_it_was_there_just_before_and_unchanged() -> None:
    repeats = Repeats()
    told: list[bool] = []

    def show(*records: tuple[int, bytes]) -> None:
        repeats.next_window()
        told.extend(repeats.news(*zip(*records, strict=True)))

    show((1, b"{}"), (1, b"{}"))
    show((1, b"{}"), (1, b"{ }"), (1, b"{}"))
    show((2, b"{}"))
    show((1, b"{}"))
    assert told == [True, False, False, True, True, True, True]


def test_memory_of_a_very_large_window_is_bounded() -> None:
    repeats = Repeats()
    repeats.news(range(30_000), [b"{}"] * 30_000)
    repeats.next_window()
    assert repeats.news([0, 29_999], [b"{}"] * 2) == [True, False]
