"""What was emitted is emitted again only if it has changed, and never as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec import Raw
from tap_leadintent.replication.overlap import Repeats

from tap_leadintent.api.page import Records

if TYPE_CHECKING:
    from collections.abc import Iterable


def show(
    repeats: Repeats,
    keys: Iterable[int],
    contents: Iterable[bytes],
    asked_at: float = 0,
    read_at: float = 0,
) -> list[bool | None]:
    """Show a page."""
    raws = [*map(Raw, contents)]
    return repeats.news(keys, Records([{}] * len(raws), raws, asked_at, read_at))


def test_a_record_is_new_unless_it_was_emitted_and_is_unchanged() -> None:
    repeats = Repeats()
    assert show(repeats, [1, 1], [b"{}", b"{}"], 0, 1) == [True, False]
    assert show(repeats, [2, 1], [b"{}", b"{}"], 2, 3) == [True, False]
    assert show(repeats, [1, 1], [b"{}", b"{ }"], 4, 5) == [False, True]
    assert show(repeats, [1, 2], [b"{}", b"{}"], 6, 7) == [True, False]


def test_a_version_that_may_have_been_read_earlier_is_left_open() -> None:
    repeats = Repeats()
    assert show(repeats, [1, 2], [b"[1]", b"[1]"], 5, 7) == [True, True]
    pages = [(2, 3), (2, 6), (6, 6.5), (6, 9)]
    for page in pages:
        told = show(repeats, [1, 2, 3], [b"[0]", b"[1]", b"[0]"], *page)
        assert told == [None, False, page == pages[0]]
    assert show(repeats, [1], [b"[2]"], 7, 8) == [True]
    assert show(repeats, [1], [b"[0]"], 7.5, 9) == [None]


def test_a_version_that_is_read_again_has_been_read_later() -> None:
    repeats = Repeats()
    show(repeats, [1], [b"[1]"], 4, 5)
    show(repeats, [1], [b"[1]"], 8, 9)
    show(repeats, [1], [b"[1]"], 2, 3)
    assert show(repeats, [1], [b"[0]"], 6, 7) == [None]


def test_all_that_a_page_says_of_a_record_is_emitted_in_its_order() -> None:
    repeats = Repeats()
    assert show(repeats, [1, 1, 1], [b"[0]", b"[1]", b"[0]"], 1, 2) == [True] * 3
    assert show(repeats, [1, 1], [b"[1]", b"[0]"], 3, 4) == [True, True]


@pytest.mark.parametrize(
    ("length", "remembered"), [(2, 166_000), (300, 67_000), (2_500, 12_400)]
)
def test_what_is_remembered_is_bounded_by_its_bytes(
    length: int, remembered: int
) -> None:
    repeats, json = Repeats(), b"x" * length
    for number in range(2_000):
        keys = range(number * 100, number * 100 + 100)
        show(repeats, keys, [json] * 100, number, number + 0.5)
    oldest, newest = 200_000 - remembered, 199_999
    told = show(repeats, [oldest - 500, oldest + 500, newest], [b"[]"] * 3, 0, 1)
    assert told == [True, None, None]
