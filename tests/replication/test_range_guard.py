"""Servers that ignore the time range are noticed."""

from __future__ import annotations

from unittest import mock

import pytest
from msgspec import Raw

from tap_leadintent.api.page import Records
from tap_leadintent.errors import StreamError
from tap_leadintent.replication.ranges import RangeGuard


def ignored() -> bool:
    return True


def begin(guard: RangeGuard, content: list[bytes]) -> None:
    """Show the guard the first page of a window."""
    guard.check(Records([{}] * len(content), [*map(Raw, content)]))


@pytest.mark.parametrize("content", [[b"1"], [b"1", b"2"]])
def test_windows_that_begin_with_the_same_records_are_an_error(
    content: list[bytes],
) -> None:
    guard = RangeGuard("date_found", ignored)
    begin(guard, content)
    begin(guard, content)
    with pytest.raises(StreamError, match="same records for different time ranges"):
        begin(guard, content)


def test_small_windows_and_other_records_are_not_repeats() -> None:
    guard = RangeGuard("date_found", ignored)
    for content in ([], [], [], [b"1"], [b"1"], [b"2"], [b"1"], [b"1"], [], [b"1"]):
        begin(guard, content)


def test_a_server_that_returns_nothing_for_another_time_is_trusted_for_good() -> None:
    is_ignored = mock.Mock(return_value=False)
    guard = RangeGuard("date_found", is_ignored)
    for _ in range(9):
        begin(guard, [b"1", b"2"])
    assert is_ignored.call_count == 1
