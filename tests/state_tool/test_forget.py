"""`forget` prints a state without an interval."""

import pytest

from tests.support.states import (
    SEEN,
    STATE,
    about,
    error_of,
    found,
    signal,
    state_from,
    state_of,
)


def test_an_interval_is_forgotten() -> None:
    state = {
        "completed": 1,
        "singer_state": {**STATE, "version": 2},
    }
    bounds = ("--from", "2026-05-01T01:00+01:00", "--to", "2026-05-03")
    command = ("forget", "--stream", "leads", "--config", "any.json")
    changed = state_from(*command, *bounds, stdin=state)
    bookmarks = changed["singer_state"].pop("bookmarks")
    assert changed == {
        "completed": 1,
        "singer_state": {"version": 2},
    }
    assert bookmarks["observations"] == {"coverage": SEEN}
    assert bookmarks["leads"]["coverage"] == [
        about("06-01"),
        found("01-01", "05-01"),
        found("05-03", "06-01"),
        signal("04-01", "05-01"),
        signal("05-03", "06-01"),
    ]


def test_all_streams_are_forgotten_like_each_of_them() -> None:
    bookmarks = state_from("forget", "--from", "2026-05-01", stdin=STATE)["bookmarks"]
    for stream in ("leads", "observations"):
        since = ("forget", "--stream", stream, "--from", "2026-05-01")
        alone = state_from(*since, stdin=STATE)["bookmarks"]
        assert bookmarks[stream] == alone[stream]


@pytest.mark.parametrize(
    ("bounds", "planned"),
    [
        ("--from 2026-05-01", "05-01"),
        ("--from 2026-05-01 --to 2026-06-02", "05-01"),
        ("--from 2026-05-01 --to 2026-05-31", "06-01"),
    ],
)
def test_what_reaches_to_the_last_run_sets_it_back(bounds: str, planned: str) -> None:
    """What later runs had read again is lost, too, such as with a restored table."""
    command = ("forget", "--stream", "leads", *bounds.split())
    first, *_ = state_from(*command, stdin=STATE)["bookmarks"]["leads"]["coverage"]
    assert first == about(planned)


def test_a_last_run_that_read_nothing_is_set_back() -> None:
    state = state_of(leads=[about("06-01"), found("01-01", "03-01")])
    command = ("forget", "--stream", "leads", "--from", "2026-05-01")
    first, *_ = state_from(*command, stdin=state)["bookmarks"]["leads"]["coverage"]
    assert first == about("05-01")


def test_without_an_interval_the_state_belongs_to_no_place_any_more() -> None:
    changed = state_from("forget", "--stream", "leads", stdin=STATE)
    assert changed["bookmarks"]["leads"]["coverage"] == []


def test_a_change_without_effect_is_refused() -> None:
    problems = {
        "leads --from 2026-07-01": "leads: the state covers nothing from 2026-",
        "leads --from 2026-05-03 --to 2026-05-01": "--from: must",
        "signal_agents": "signal_agents: the state covers nothing",
    }
    for options, problem in problems.items():
        line = error_of("forget", "--stream", *options.split(), stdin=STATE)
        assert line.startswith(problem)
        assert "0001-01-01" not in line
