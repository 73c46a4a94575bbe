"""Whose clock is believed: the server's machines have several, and we have one."""

from __future__ import annotations

import logging

import pytest

from tap_leadintent.api.server_clock import ClockReading, ServerClock

NOW = 1_770_000_000
HOUR = 3600


def clock_of(*readings: ClockReading) -> tuple[ServerClock, list[bool]]:
    """Give a clock that has learned from answers, and whether it trusts each."""
    clock = ServerClock(logging.getLogger("clock"))
    return clock, [clock.learn(reading) for reading in readings]


def at(ahead: float, number: int = 0) -> ClockReading:
    """Give the reading of a request sent in a later second, answered at once."""
    return ClockReading(NOW + number + int(ahead), NOW + number, 0.0)


@pytest.mark.parametrize(
    ("reading", "as_of", "ahead"),
    [
        (ClockReading(NOW, NOW, 0.0), NOW, 0),
        (ClockReading(NOW, NOW, 0.9), NOW, 0),
        (ClockReading(NOW + 3, NOW, 3.2), NOW, 0),
        (ClockReading(NOW + 1, NOW, 3.2), NOW - 2, 0),
        (ClockReading(NOW - 9, NOW, 3.2), NOW - 12, -9),
        (ClockReading(NOW + 9, NOW, 3.0), NOW + 6, 6),
    ],
)
def test_an_answer_was_ready_later_than_its_query_ran(
    reading: ClockReading, as_of: int, ahead: float
) -> None:
    assert reading.as_of == as_of
    assert reading.ahead == ahead


def test_nothing_is_known_before_an_answer() -> None:
    clock, _ = clock_of()
    assert (clock.began, clock.reached, clock.is_disputed) == (None, None, False)


@pytest.mark.parametrize("ahead", [-HOUR, -2, 0, 2, HOUR])
def test_an_answer_that_agrees_with_our_clock_counts_at_once(ahead: int) -> None:
    clock, trusted = clock_of(at(ahead))
    assert trusted == [True]
    assert (clock.began, clock.reached) == (NOW + ahead, NOW + ahead)
    assert not clock.is_disputed


def test_a_machine_that_is_as_wrong_as_our_clock_does_not_make_others_wrong() -> None:
    right = [at(-3 * HOUR, number) for number in range(1, 9)]
    clock, trusted = clock_of(at(0), *right)
    assert trusted[-1]
    assert clock.as_of(right[-1]) == right[-1].shown
    # What has not been read must not count.
    assert clock.began is not None
    assert clock.began <= right[-1].shown


def test_what_the_run_began_with_counts_in_whatever_order_answers_come() -> None:
    clock, _ = clock_of(at(0, 5), at(0, 1), at(0, 9))
    assert clock.began == NOW + 1
    assert clock.reached == NOW + 5


def test_an_answer_against_our_clock_alone_is_trusted_and_nothing_ends_by_it() -> None:
    clock, trusted = clock_of(at(-3 * HOUR))
    assert trusted == [True]
    assert clock.is_disputed
    assert clock.reached is None
    # Whatever is covered by it must hold in either case.
    assert clock.began == NOW - 3 * HOUR
    assert clock.as_of(at(-3 * HOUR)) == NOW - 3 * HOUR


def test_two_answers_outvote_our_clock() -> None:
    clock, trusted = clock_of(at(-3 * HOUR), at(-3 * HOUR, 1))
    assert trusted == [True, True]
    assert clock.reached == clock.began == NOW - 3 * HOUR


@pytest.mark.parametrize("odd", [-20_000 * HOUR, -2 * HOUR, 2 * HOUR])
def test_an_odd_first_answer_is_outvoted_by_another_and_our_clock(odd: int) -> None:
    clock, trusted = clock_of(at(odd), at(0, 1), at(0, 2))
    assert trusted == [True, True, True]
    assert clock.reached == NOW + 1
    assert clock.began == NOW
    assert clock.as_of(at(odd)) == NOW


def test_an_odd_answer_among_others_is_not_trusted() -> None:
    _, trusted = clock_of(at(0), at(0, 1), at(-2 * HOUR, 2), at(0, 3))
    assert trusted == [True, True, False, True]


def test_a_server_that_sets_its_clock_is_believed_after_a_few_answers() -> None:
    before = [at(0, number) for number in range(100)]
    _, trusted = clock_of(*before, *(at(2 * HOUR, n) for n in range(100, 108)))
    assert trusted[:100] == [True] * 100
    assert trusted[100] is False
    assert trusted[-4:] == [True] * 4


def test_machines_that_differ_among_each_other_are_never_all_refused() -> None:
    odds = [at((number % 3) * 2 * HOUR, number) for number in range(300)]
    _, trusted = clock_of(*odds)
    # Each try has a fair chance, and there are nine of them.
    assert max(len(run) for run in _runs(trusted)) < 9


def _runs(trusted: list[bool]) -> list[str]:
    return "".join("T" if each else "f" for each in trusted).split("T")


def test_after_a_refusal_the_time_of_the_first_query_counts() -> None:
    clock, _ = clock_of(ClockReading(NOW + 5, NOW, 7.0))
    assert clock.reached == NOW + 5
    clock.concede()
    assert clock.reached == clock.began == NOW - 2


def test_what_has_been_agreed_on_stays() -> None:
    clock, _ = clock_of(at(0), *(at(-5 * HOUR, number) for number in range(1, 50)))
    assert clock.reached == NOW


BEHIND = "3:00:00 behind ours; the run reads up to there"
AHEAD = "3:00:00 ahead of ours; the run reads up to ours, so set the clock of this"


@pytest.mark.parametrize(
    ("ahead", "line"),
    [
        (-3 * HOUR, f"By the server's clock it is 2026-02-01T23:40:00Z, {BEHIND}"),
        (3 * HOUR, f"By the server's clock it is 2026-02-02T05:40:00Z, {AHEAD}"),
        (-61, "By the server's clock it is 2026-02-02T02:38:59Z, 0:01:01 behind ours"),
        (-60, None),
        (60, None),
    ],
)
def test_clocks_that_differ_are_worth_one_line(
    caplog: pytest.LogCaptureFixture, ahead: int, line: str | None
) -> None:
    clock_of(at(ahead), at(ahead, 1), at(ahead, 2))
    assert len(caplog.messages) == (1 if line else 0)
    assert (line or "") in "".join(caplog.messages)
