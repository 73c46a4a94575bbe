"""What a run reads, from a state, settings and the time alone."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from tap_leadintent.errors import StreamError
from tap_leadintent.replication.coverage import Coverage
from tap_leadintent.replication.plan import SINCE_EVER, Asked, Plan
from tap_leadintent.times import EARLIEST

if TYPE_CHECKING:
    from tap_leadintent.replication.intervals import Interval

DAY = 86400
NOW = 100 * DAY
LEADS = ("date_found", "latest_signal")


def plan(
    *covered: tuple[str, Interval],
    ranges: tuple[str, ...] = LEADS,
    start: int | None = 0,
    end: int | None = None,
    lookback: int = 0,
    now: int = NOW,
) -> Plan:
    asked = Asked(ranges=ranges, start=start, end=end, lookback=lookback)
    return Plan(asked, Coverage(covered), now, logging.getLogger("plan"))


def reads(made: Plan) -> dict[str, list[Interval]]:
    return {name: made.stretches(name) for name in made.ranges}


def test_a_first_load_reads_the_first_range_and_notes_where_others_begin() -> None:
    first = plan()
    assert list(first.coverage) == [("latest_signal", (NOW, NOW))]
    assert reads(first) == {"date_found": [(0, NOW)]}


def test_a_later_run_reads_all_ranges() -> None:
    later = plan(("date_found", (0, 90)), ("latest_signal", (50, 90)), lookback=20)
    assert reads(later) == {
        "date_found": [(70, NOW)],
        "latest_signal": [(70, NOW)],
    }


def test_a_range_that_has_only_begun_is_read_from_there() -> None:
    begun = plan(("latest_signal", (50, 50)))
    assert reads(begun) == {"date_found": [(0, NOW)], "latest_signal": [(50, NOW)]}


@pytest.mark.parametrize(
    ("covered", "begins"),
    [
        ([(0, 40)], 40),
        ([(20, 30), (0, 10), (50, 60)], 10),
        ([(15, 15)], 15),
    ],
    ids=["one stretch", "holes", "an instant"],
)
def test_a_range_that_is_absent_begins_where_the_first_was_first_complete(
    covered: list[Interval], begins: int
) -> None:
    half = plan(*(("date_found", piece) for piece in covered))
    assert half.coverage.span("latest_signal") == (begins, begins)
    assert half.stretches("latest_signal") == [(begins, NOW)]
    assert half.ranges == list(LEADS)


def test_states_of_two_machines_joined_begin_at_the_earlier_start() -> None:
    joined = plan(
        ("date_found", (0, 40)),
        ("date_found", (40, 90)),
        ("latest_signal", (70, 70)),
        ("latest_signal", (60, 60)),
    )
    assert reads(joined) == {"date_found": [(90, NOW)], "latest_signal": [(60, NOW)]}


def test_a_bounded_run_reads_up_to_its_end_and_signals_up_to_now() -> None:
    bounded = plan(("latest_signal", (50, 50)), end=80)
    assert reads(bounded) == {"date_found": [(0, 80)], "latest_signal": [(50, NOW)]}


def test_an_end_in_the_future_is_not_asked_for() -> None:
    assert reads(plan(end=NOW + 5)) == {"date_found": [(0, NOW)]}


def test_a_stream_of_one_range() -> None:
    alone = plan(("observed_at", (0, 90)), ranges=("observed_at",), lookback=10)
    assert reads(alone) == {"observed_at": [(80, NOW)]}


@pytest.mark.parametrize("covered", [[], [("date_found", (0, 90))]], ids=["new", "old"])
def test_before_the_start_date_nothing_is_read_or_noted(
    covered: list[tuple[str, Interval]],
) -> None:
    early = plan(*covered, start=NOW + 1)
    assert reads(early) == {}
    assert list(early.coverage) == covered


# Everything


@pytest.mark.parametrize(
    ("start", "end", "covered", "everything"),
    [
        (None, None, [], True),
        (0, None, [], False),
        (-DAY, None, [], False),
        (None, 50, [], False),
        (None, None, [("date_found", (SINCE_EVER, 90))], False),
    ],
)
def test_only_a_first_load_without_bounds_needs_no_range(
    start: int | None,
    end: int | None,
    covered: list[tuple[str, Interval]],
    *,
    everything: bool,
) -> None:
    made = plan(*covered, start=start, end=end)
    stretches = made.stretches("date_found")
    assert made.is_everything("date_found", stretches) is everything


def test_a_start_before_1970_is_read_from() -> None:
    assert reads(plan(start=EARLIEST)) == {"date_found": [(EARLIEST, NOW)]}
    old = plan(("date_found", (0, 90)), ("latest_signal", (5, 90)), start=-DAY)
    assert old.stretches("date_found") == [(-DAY, 0), (90, NOW)]


def test_no_lookback_goes_back_before_the_calendar() -> None:
    first = EARLIEST + 5
    old = plan(
        ("date_found", (EARLIEST, first)),
        ("latest_signal", (first, first)),
        start=EARLIEST,
        lookback=DAY,
    )
    assert old.stretches("latest_signal") == [(EARLIEST, NOW)]


# Clocks


def test_a_window_counts_up_to_when_it_was_read() -> None:
    made = plan()
    made.read("date_found", (0, 40), 100)
    made.read("date_found", (40, 80), 60)
    made.read("date_found", (90, 95), 70)
    made.read("date_found", (80, NOW + 9), None)
    assert [piece for name, piece in made.coverage if name == "date_found"] == [
        (0, 60),
        (80, NOW),
    ]


def test_the_servers_clock_ends_the_run_and_says_where_it_began() -> None:
    made = plan(("date_found", (0, 50)), ("latest_signal", (20, 50)))
    made.learn_clock(NOW - 70, NOW - 60)
    assert made.now == NOW - 60
    assert made.stretches("date_found") == [(50, NOW - 60)]
    first = plan()
    first.learn_clock(NOW - 70, NOW - 60)
    assert first.coverage.span("latest_signal") == (NOW - 70, NOW - 70)


def test_while_clocks_are_disputed_ranges_begin_at_the_earlier_one() -> None:
    made = plan()
    made.learn_clock(NOW - 9 * DAY, None)
    assert made.now == NOW
    assert made.coverage.span("latest_signal") == (NOW - 9 * DAY, NOW - 9 * DAY)
    made.learn_clock(NOW - 3, NOW - 2)
    assert made.coverage.span("latest_signal") == (NOW - 3, NOW - 3)


@pytest.mark.parametrize(
    ("start", "reached"), [(40 * DAY, 39 * DAY - 1), (None, 0), (-DAY, DAY - 1)]
)
def test_a_clock_by_which_nothing_can_be_there_is_an_error(
    start: int | None, reached: int
) -> None:
    covered = [("date_found", (50 * DAY, 90 * DAY)), ("latest_signal", (9, 99))]
    made = plan(*covered, start=start)
    with pytest.raises(StreamError, match="by the server's clock it is 19"):
        made.learn_clock(reached, reached)
    assert list(made.coverage) == covered
    made.learn_clock(40 * DAY, 40 * DAY)


def test_a_clock_behind_the_servers_sets_the_end() -> None:
    made = plan()
    made.learn_clock(NOW + 70, NOW + 80)
    assert made.now == NOW
    assert made.coverage.span("latest_signal") == (NOW, NOW)


@pytest.mark.parametrize(
    ("newest", "reached", "cut", "warned"),
    [
        (NOW + 60, None, NOW, False),
        (NOW + 61, None, NOW, True),
        (NOW, NOW - 60, NOW - 60, False),
        (NOW, NOW - 61, NOW - 61, True),
    ],
)
def test_the_future_is_not_covered(
    caplog: pytest.LogCaptureFixture,
    newest: int,
    reached: int | None,
    cut: int,
    *,
    warned: bool,
) -> None:
    made = plan(("date_found", (0, newest)), ("latest_signal", (0, 9)))
    made.learn_clock(reached, reached)
    assert made.coverage.span("date_found") == (0, cut)
    assert ("covers a time in the future" in caplog.text) is warned
    assert len(caplog.messages) == warned
