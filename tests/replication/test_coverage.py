"""What has been read whole of each range."""

from __future__ import annotations

from tap_leadintent.replication.coverage import Coverage


def test_intervals_are_joined_in_whatever_order_they_come() -> None:
    coverage = Coverage([("a", (5, 9)), ("b", (1, 2)), ("a", (0, 5)), ("a", (20, 21))])
    assert list(coverage) == [("a", (0, 9)), ("a", (20, 21)), ("b", (1, 2))]
    coverage.add("a", (9, 20))
    assert coverage.pieces("a") == [(0, 21)]
    assert (coverage.newest("a"), coverage.newest("c")) == (21, None)


def test_what_comes_after_the_newest_is_covered_no_longer() -> None:
    coverage = Coverage([("a", (0, 10)), ("a", (20, 40)), ("b", (0, 40))])
    coverage.add("a", (10, 15), newest=25)
    assert list(coverage) == [("a", (0, 15)), ("a", (20, 25)), ("b", (0, 40))]
