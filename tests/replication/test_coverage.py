"""What a state says, and what a run then has to read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.replication.coverage import Coverage, filters_hash

DAY = 86400


def covered(name: str, *pieces: tuple[int, int]) -> Coverage:
    coverage = Coverage()
    for piece in pieces:
        coverage.add(name, piece)
    return coverage


def test_a_state_is_one_list_that_people_can_read() -> None:
    coverage = covered("date_found", (0, DAY))
    coverage.add("latest_signal", (DAY, DAY))
    assert coverage.to_state() == [
        {
            "range": "date_found",
            "from": "1970-01-01T00:00:00Z",
            "to": "1970-01-02T00:00:00Z",
        },
        {
            "range": "latest_signal",
            "from": "1970-01-02T00:00:00Z",
            "to": "1970-01-02T00:00:00Z",
        },
    ]


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 99), st.integers(0, 9))),
    st.sampled_from(["", "0123456789ab"]),
)
def test_a_state_is_read_back_as_it_was_written(
    pieces: list[tuple[str, int, int]], filters: str
) -> None:
    coverage = Coverage(filters)
    for name, start, length in pieces:
        coverage.add(name, (start, start + length))
    state = json.loads(json.dumps(coverage.to_state()))
    assert Coverage.from_state(state, filters).to_state() == state


def test_ordinary_states_stay_small() -> None:
    coverage = Coverage(filters_hash({"sheet_ids": ["a"]}))
    for name in ("date_found", "latest_signal"):
        for hole in range(3):
            coverage.add(name, (hole * 10 * DAY, hole * 10 * DAY + DAY))
    assert len(json.dumps(coverage.to_state())) < 1024


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ("2026-01-01", "array"),
        ([{"range": "date_found"}], "from"),
        ([{"range": "a", "from": "x", "to": "y"}], "x"),
        ([{"range": "a", "from": "2026-01-02", "to": "2026-01-01"}], "before"),
        (
            [
                {
                    "range": "a",
                    "from": "2026-01-01",
                    "to": "2026-01-02",
                    "filters": "0123456789ab",
                }
            ],
            "filters have changed",
        ),
    ],
)
def test_a_state_that_says_something_else_is_refused(entries: object, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Coverage.from_state(entries, "")


def test_a_bookmark_of_the_sdk_counts_as_coverage_up_to_it() -> None:
    state = {"replication_key_value": "1970-01-03T00:00:00Z"}
    ranges = ("date_found", "latest_signal")
    coverage = Coverage.from_stream_state(state, "", ranges, DAY)
    assert coverage.span("date_found") == (DAY, 2 * DAY)
    assert coverage.span("latest_signal") == (2 * DAY, 2 * DAY)


def test_coverage_goes_before_a_bookmark_of_the_sdk() -> None:
    state: dict[str, Any] = {
        "replication_key_value": "1970-01-03T00:00:00Z",
        "coverage": [],
    }
    assert Coverage.from_stream_state(state, "", ("a",), 0).span("a") is None


def test_filters_are_told_apart_and_order_does_not_matter() -> None:
    filters = {"signals": ["x", "y"], "sheet_ids": ["1"]}
    same = {"sheet_ids": ["1"], "signals": ["y", "x"]}
    assert filters_hash(filters) == filters_hash(same)
    assert filters_hash(filters) != filters_hash({"signals": ["x"]})
    assert filters_hash({}) == ""


@pytest.mark.parametrize(
    ("pieces", "asked", "lookback", "to_read"),
    [
        pytest.param([], (0, 100), 10, [(0, 100)], id="first"),
        pytest.param([(0, 100)], (0, 200), 10, [(90, 200)], id="later"),
        pytest.param([(0, 100)], (0, 100), 10, [(90, 100)], id="nothing new"),
        pytest.param([(0, 100)], (0, 100), 0, [], id="nothing new, no lookback"),
        pytest.param(
            [(50, 100)], (0, 120), 10, [(0, 50), (90, 120)], id="earlier start"
        ),
        pytest.param(
            [(0, 40), (60, 100)], (0, 110), 5, [(40, 60), (95, 110)], id="hole"
        ),
        pytest.param([(0, 40)], (60, 110), 5, [(60, 110)], id="later start"),
        pytest.param([(0, 100)], (0, 50), 10, [], id="earlier end"),
        pytest.param(
            [(0, 3), (90, 100)], (0, 110), 999, [(0, 110)], id="long lookback"
        ),
    ],
)
def test_a_run_reads_what_is_missing_and_looks_back(
    pieces: list[tuple[int, int]],
    asked: tuple[int, int],
    lookback: int,
    to_read: list[tuple[int, int]],
) -> None:
    assert covered("a", *pieces).to_read("a", asked, lookback) == to_read


def test_what_a_later_start_leaves_behind_unsettled_is_read_when_it_moves_back() -> (
    None
):
    coverage = covered("a", (0, 40))
    assert coverage.to_read("a", (60, 110), 5) == [(60, 110)]
    coverage.add("a", (60, 110))
    assert coverage.to_read("a", (0, 120), 5) == [(35, 60), (105, 120)]


def test_the_future_is_not_covered() -> None:
    coverage = covered("a", (0, 100))
    coverage.add("b", (100, 100))
    coverage.clip(70)
    assert coverage.span("a") == (0, 70)
    assert coverage.span("b") == (70, 70)
