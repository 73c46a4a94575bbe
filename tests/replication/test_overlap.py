"""What two neighbouring windows both hold is emitted once."""

from __future__ import annotations

from tap_leadintent.replication.overlap import Repeats


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
