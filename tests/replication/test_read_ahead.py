"""The room that is left for pages beyond the oldest window."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.read_ahead import Chain, ReadAhead

IN_FLIGHT = {0: Chain(4, is_survey=False)}


def ahead_of(in_flight: dict[int, Chain], *waiting: tuple[int, int]) -> ReadAhead:
    """Let pages wait, with a forecast that has proved to be true."""
    ahead = ReadAhead(in_flight)
    for start, pages in waiting:
        ahead.wait(start, requests=pages, pages=1000, front=0)
    return ahead


def test_the_oldest_window_has_any_room() -> None:
    ahead = ahead_of(IN_FLIGHT, (10, 900))
    assert ahead.room(0, 0) == ahead.foreseen_room(0, 0) == inf
    assert ahead.room(1, 0) < 0


def test_what_waits_and_what_is_asked_for_take_room() -> None:
    in_flight = dict(IN_FLIGHT)
    ahead = ahead_of(in_flight, (10, 50))
    assert ahead.room(20, 0) == 100
    in_flight[20] = Chain(6, is_survey=False, pages=2)
    assert ahead.room(20, 0) == 97


def test_a_new_window_leaves_room_for_what_is_expected_of_the_others() -> None:
    in_flight = {**IN_FLIGHT, 20: Chain(6, is_survey=False, pages=2)}
    ahead = ahead_of(in_flight, (10, 50))
    assert ahead.foreseen_room(30, 0) == 150 - 30 - 50 - 6
    in_flight[20].pages = 9
    assert ahead.foreseen_room(30, 0) == 150 - 30 - 50 - 10


def test_the_last_room_is_kept_for_the_windows_that_come_next() -> None:
    ahead = ahead_of(IN_FLIGHT, (10, 29), (20, 100))
    assert ahead.foreseen_room(15, 0) == 21
    assert ahead.foreseen_room(25, 0) == ahead.shared_room(25) == -9


def test_a_forecast_is_trusted_with_more_pages_as_they_come() -> None:
    ahead = ReadAhead(IN_FLIGHT)
    assert ahead.foreseen_room(10, 0) == ahead.shared_room(10) == 40
    ahead.wait(5, requests=8, pages=7, front=0)
    assert ahead.foreseen_room(10, 0) == ahead.shared_room(10) == 40 + 7 - 8


def test_what_is_no_longer_ahead_takes_no_room() -> None:
    ahead = ahead_of(IN_FLIGHT, (10, 50), (30, 20))
    assert ahead.room(40, 0) == 80
    assert ahead.room(40, 20) == 130
    ahead.wait(20, requests=60, pages=60, front=25)
    assert ahead.room(40, 0) == 130


@given(
    waiting=st.lists(st.integers(0, 40), max_size=9),
    flying=st.lists(st.tuples(st.integers(0, 40), st.floats(0, 40)), max_size=9),
)
def test_a_new_window_never_has_more_room_than_a_page_of_it(
    waiting: list[int], flying: list[tuple[int, float]]
) -> None:
    """Else it could be begun and given up at once, again and again."""
    chains = {
        30 + n: Chain(expected, is_survey=False, pages=pages)
        for n, (pages, expected) in enumerate(flying)
    }
    ahead = ahead_of(
        {**IN_FLIGHT, **chains}, *((10 + n, pages) for n, pages in enumerate(waiting))
    )
    assert ahead.foreseen_room(50, 0) <= ahead.room(50, 0)
