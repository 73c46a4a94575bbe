"""`join` makes one state of the states of shards."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.helpers import PREFIX
from tests.support.states import (
    STATE,
    THERE,
    about,
    entry,
    error_of,
    found,
    signal,
    state_from,
    state_of,
)

Join = Callable[..., list[str]]


@pytest.fixture
def shards(write: Callable[[str, object], str]) -> Join:
    """Write the states of shards to files, and return the command that joins them."""

    def shards(*states: object) -> list[str]:
        command = ["join"]
        for number, state in enumerate(states):
            path = write(f"{number}.json", state)
            command.append(path)
        return command

    return shards


def test_shards_are_joined_without_settings(
    shards: Join,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    signals = [
        signal("06-10", "06-20"),
        signal("07-01", "07-10"),
    ]
    monkeypatch.delenv(f"{PREFIX}BASE_URL")
    command = shards(
        {"singer_state": state_of(leads=[about("09-03"), found("05-01", "09-02")])},
        STATE,
        state_of(
            leads=[
                about("09-04", schema="raw"),
                found("06-01", "07-01"),
                found("07-01", "08-01"),
                *signals,
            ]
        ),
        {"bookmarks": {"signal_agents": {}}},
    )
    joined = state_from(*command)["singer_state"]["bookmarks"]
    assert joined["leads"]["coverage"] == [
        # What came late since the first shard was read is due to be read again.
        about("06-01", schema="raw"),
        found("01-01", "09-02"),
    ]
    assert joined["observations"]["coverage"] == [
        about("06-01"),
        entry("observed_at", "01-01", "06-01"),
    ]


def test_signals_are_read_again_that_another_shard_may_have_overwritten(
    shards: Join,
) -> None:
    """Its rows may have come later, with an older signal of the same leads."""
    command = shards(
        state_of(
            leads=[
                about("06-01"),
                found("01-01", "06-01"),
                signal("01-01", "06-01"),
            ]
        ),
        state_of(leads=[about("06-01"), found("03-31", "04-10")]),
    )
    joined = state_from(*command)["bookmarks"]["leads"]["coverage"]
    assert joined == [
        about("06-01"),
        found("01-01", "06-01"),
        signal("01-01", "03-01"),
    ]


def test_a_hole_of_one_shard_that_another_has_read_is_none(shards: Join) -> None:
    hole = {
        **found("02-01", "02-02"),
        "hole": True,
    }
    command = shards(
        state_of(
            leads=[
                about("06-01"),
                found("01-01", "02-01"),
                hole,
            ]
        ),
        state_of(leads=[about("06-02"), found("02-01", "03-01")]),
    )
    joined = state_from(*command)["bookmarks"]["leads"]["coverage"]
    assert joined == [about("06-01"), found("01-01", "03-01")]


@pytest.mark.parametrize(
    ("options", "gap"),
    [
        ("", "from 2026-02-01T00:00:00Z to 2026-03-01T00:00:00Z"),
        ("--from 2025-12-01", "from 2025-12-01T00:00:00Z to 2026-01-01T00:00:00Z"),
        (
            "--from 2026-05-02 --to 2026-03-01",
            "from 2026-04-01T00:00:00Z to 2026-05-02T00:00:00Z",
        ),
    ],
)
def test_gaps_are_refused_unless_they_are_allowed(
    shards: Join,
    options: str,
    gap: str,
) -> None:
    january = [about("06-01"), found("01-01", "02-01")]
    march = [about("06-01"), found("03-01", "04-01")]
    states = (state_of(leads=january), state_of(leads=march))
    assert error_of(
        *shards(*states),
        *options.split(),
    ) == (
        f"leads: no shard has read date_found {gap}; join the shard that has, or give "
        "--allow-holes to let the next run read it"
    )
    joined = state_from(
        *shards(*states),
        "--allow-holes",
        *options.split(),
    )
    both = [
        about("06-01"),
        found("01-01", "02-01"),
        found("03-01", "04-01"),
    ]
    assert joined["bookmarks"]["leads"]["coverage"] == both
    assert state_from(*shards(*states), "--from", "2026-03-01")


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (
            [
                about("06-01", filters="012345"),
                found("02-01", "03-01"),
            ],
            "the states belong to different places: filters",
        ),
        (
            [
                about("06-01", source=THERE),
                found("02-01", "03-01"),
            ],
            "the states belong to different places: source",
        ),
        (
            [
                about("06-01"),
                {
                    **found("02-01", "03-01"),
                    "to": "soon",
                },
            ],
            "its state is damaged ('soon' is not a time)",
        ),
    ],
    ids=["filters", "source", "damaged"],
)
def test_different_places_and_malformed_states_are_refused(
    shards: Join,
    bad: list[dict[str, Any]],
    problem: str,
) -> None:
    good = [about("06-01"), found("01-01", "02-01")]
    command = shards(
        state_of(leads=good),
        state_of(leads=bad),
    )
    assert error_of(*command) == f"leads: {problem}"
