"""Windows in flight, pages that wait, and the room that is left for more."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.read_ahead import Chain, ReadAhead


def ahead_of(oldest: int, *waiting: tuple[int, int]) -> ReadAhead:
    """Let a window be in flight, and pages of later ones wait; all forecasts hold."""
    ahead = ReadAhead(oldest)
    for start, pages in ((oldest - 1, 0), *waiting):
        ahead.in_flight[start] = Chain(pages, is_survey=False)
        ahead.done(start, requests=pages, pages=1000)
    ahead.in_flight[oldest] = Chain(4, is_survey=False)
    ahead.advance(None)
    return ahead


def test_the_oldest_window_has_any_room() -> None:
    ahead = ahead_of(0, (10, 900))
    assert ahead.room(0) == ahead.room(0, foreseen=True) == inf
    assert ahead.room(1) < 0


def test_beyond_it_what_waits_and_what_is_asked_for_take_room() -> None:
    ahead = ahead_of(0, (10, 50))
    assert ahead.room(20) == 100
    ahead.in_flight[20] = Chain(6, is_survey=False, pages=2)
    assert ahead.room(20) == 97


def test_a_new_window_leaves_room_for_what_is_expected_of_the_others() -> None:
    ahead = ahead_of(0, (10, 50))
    ahead.in_flight[20] = Chain(6, is_survey=False, pages=2)
    assert ahead.room(30, foreseen=True) == 150 - 30 - 50 - 6
    ahead.in_flight[20].pages = 9
    assert ahead.room(30, foreseen=True) == 150 - 30 - 50 - 10


def test_the_last_room_is_kept_for_the_windows_that_come_next() -> None:
    ahead = ahead_of(0, (10, 29), (20, 100))
    assert ahead.room(15, foreseen=True) == 21
    assert ahead.room(25, foreseen=True) == -9


def test_a_forecast_is_trusted_with_more_pages_as_they_come() -> None:
    ahead = ReadAhead(0)
    ahead.in_flight[0] = Chain(1, is_survey=False)
    assert ahead.room(10, foreseen=True) == ahead.shared_room(10) == 40
    ahead.in_flight[5] = Chain(7, is_survey=False)
    ahead.done(5, requests=8, pages=7)
    assert ahead.room(10, foreseen=True) == ahead.shared_room(10) == 40 + 7 - 8


def test_what_is_no_longer_ahead_takes_no_room() -> None:
    ahead = ahead_of(0, (10, 50), (30, 20))
    ahead.done(0, requests=4, pages=4)
    ahead.advance(20)
    assert ahead.front == 20
    assert ahead.room(40) == 130
    ahead.advance(None)
    assert ahead.front == 20


@given(
    waiting=st.lists(st.integers(0, 40), max_size=9),
    flying=st.lists(st.tuples(st.integers(0, 40), st.floats(0, 40)), max_size=9),
)
def test_a_new_window_never_has_more_room_than_a_page_of_it(
    waiting: list[int], flying: list[tuple[int, float]]
) -> None:
    """Else it could be begun and given up at once, again and again."""
    ahead = ahead_of(0, *((10 + n, pages) for n, pages in enumerate(waiting)))
    for n, (pages, expected) in enumerate(flying):
        ahead.in_flight[30 + n] = Chain(expected, is_survey=False, pages=pages)
    assert ahead.room(50, foreseen=True) <= ahead.room(50)
