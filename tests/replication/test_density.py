"""What windows tell of how dense a time range is."""

from __future__ import annotations

from math import inf

import pytest

from tap_leadintent.replication.density import GROWTH, Density
from tests.support.histories import DAY


def test_nothing_has_begun_before_something_was_found() -> None:
    density = Density()
    density.learn_window(0, DAY, 0.0)
    density.learn_probe(9 * DAY, DAY, 0.0)
    assert not density.has_begun(20 * DAY)
    density.learn_probe(12 * DAY, DAY, 0.1)
    assert not density.has_begun(12 * DAY - 1)
    assert density.has_begun(12 * DAY)
    density.learn_window(5 * DAY, DAY, 0.1)
    assert density.has_begun(5 * DAY)


def test_what_is_known_to_hold_something_is_the_nearest() -> None:
    density = Density()
    for day, pages in ((0, 2.0), (5, 0.0), (9, 1.0), (7, 3.0)):
        density.learn_probe(day * DAY, DAY, pages)
    assert density.dense_after(0) == 7 * DAY
    assert density.dense_after(9 * DAY) == inf
    density.learn_end(6 * DAY)
    assert density.dense_after(0) == 6 * DAY
    assert density.dense_after(6 * DAY) == 7 * DAY
    assert density.is_dense_at(7 * DAY)
    assert not density.is_dense_at(5 * DAY)
    assert not density.is_dense_at(6 * DAY)


def test_a_forecast_is_the_mean_of_the_probes_on_both_sides() -> None:
    density = Density()
    for day, pages in ((0, 1.0), (10, 2.0), (20, 4.0)):
        density.learn_probe(day * DAY, DAY, pages)
    shown = [density.forecast(day * DAY) * DAY for day in (5, 10, 15, 25)]
    assert shown == pytest.approx([1.5, 3.0, 3.0, 4.0])


def test_windows_grow_over_nothing_and_follow_what_they_hold() -> None:
    density = Density()
    density.learn_probe(0, DAY, 0.0)
    density.learn_window(0, DAY, 0.0)
    assert density.seconds(DAY, 8) == GROWTH * DAY
    density.learn_window(DAY, 9 * DAY, 32.0)
    assert density.seconds(10 * DAY, 8) == pytest.approx(9 * DAY / 4)
    density.learn_window(10 * DAY, 9 * DAY, 2.0)
    assert density.seconds(19 * DAY, 8) == pytest.approx(9 * DAY * 2)


def test_windows_are_no_longer_than_probes_let_expect() -> None:
    density = Density()
    density.learn_probe(0, DAY, 1.0)
    density.learn_probe(9 * DAY, DAY, 2.0)
    density.learn_window(DAY, 2 * DAY, 0.0)
    assert density.seconds(3 * DAY, 8) == pytest.approx(8 * DAY)
    density.learn_window(3 * DAY, DAY, 4.0)
    assert density.seconds(4 * DAY, 8) == pytest.approx(2 * DAY)
