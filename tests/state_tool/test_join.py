"""What becomes of the states of shards when they are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.states import (
    HERE,
    LEADS,
    SEEN,
    STATE,
    THERE,
    changed,
    entry,
    found,
    rechecked,
    refused,
    signal,
    state_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Write = Callable[[str, object], str]


def shards(write: Write, *states: object) -> list[str]:
    return [write(f"{number}.json", state) for number, state in enumerate(states)]


def test_shards_are_joined_without_what_is_not_settled_of_each(write: Write) -> None:
    paths = shards(
        write,
        {"singer_state": state_of(leads=[found("03-01", "05-01")])},
        state_of(
            leads=[
                found("05-01", "06-01"),
                signal("05-01", "06-01"),
                rechecked("06-01"),
            ]
        ),
        state_of(leads=[found("01-01", "02-01"), found("02-01", "03-01")]),
        {"bookmarks": {"signal_agents": {}}, **state_of(observations=SEEN)},
    )
    joined = changed("join", *paths)["singer_state"]["bookmarks"]
    assert joined["leads"]["coverage"] == [
        found("01-01", "02-28"),
        found("03-01", "04-30"),
        found("05-01", "05-31"),
        signal("05-01", "05-31"),
    ]
    assert joined["observations"]["coverage"] == [
        entry("observed_at", "01-01", "05-31")
    ]
    joined = changed("join", "--lookback-minutes", "0", *paths)["singer_state"]
    assert joined["bookmarks"]["leads"]["coverage"] == [
        found("01-01", "06-01"),
        signal("05-01", "06-01"),
    ]


def test_what_one_shard_has_not_settled_another_may(write: Write) -> None:
    paths = shards(
        write,
        state_of(leads=[found("01-01", "03-01")]),
        state_of(leads=[found("02-01", "05-01")]),
    )
    joined = changed("join", *paths)["bookmarks"]["leads"]
    assert joined["coverage"] == [found("01-01", "04-30")]


def test_what_is_kept_of_other_sources_stays_as_it_is(write: Write) -> None:
    joined = changed("join", *shards(write, STATE, STATE))["bookmarks"]["leads"]
    assert joined["coverage"][2:] == LEADS[2:]
    assert {each["key"] for each in joined["coverage"][:2]} == {"5d0c7a12"}


def test_the_order_of_shards_makes_no_difference(write: Write) -> None:
    one, other = shards(
        write,
        state_of(leads=[found("01-01", "03-01")]),
        state_of(leads=[found("03-01", "05-01"), signal("03-01", "05-01")]),
    )
    assert changed("join", one, other) == changed("join", other, one)


def test_a_state_without_a_source_is_of_that_of_the_others(write: Write) -> None:
    old = state_of(leads=[found("01-01", "03-01", source="")])
    new = state_of(leads=[found("02-01", "05-01", source=f"{HERE}/")])
    joined = changed("join", *shards(write, old, new))["bookmarks"]["leads"]
    assert joined["coverage"] == [found("01-01", "04-30")]


def test_gaps_between_shards_are_refused_unless_they_are_meant(write: Write) -> None:
    paths = shards(
        write,
        state_of(leads=[found("01-01", "02-01")]),
        state_of(leads=[found("03-01", "04-01")]),
    )
    assert refused("join", *paths) == (
        "leads: date_found is not covered from 2026-02-01T00:00:00Z to "
        "2026-03-01T00:00:00Z (28 days); join the shard that covers it, or give "
        "--allow-holes to let the next run read it"
    )
    joined = changed("join", "--allow-holes", *paths)["bookmarks"]["leads"]
    assert joined["coverage"] == [found("01-01", "01-31"), found("03-01", "03-31")]


def test_other_sources_are_refused(write: Write) -> None:
    paths = shards(
        write,
        state_of(leads=[found("01-01", "02-01")]),
        state_of(observations=[{**SEEN[0], "source": THERE}]),
    )
    line = refused("join", *paths)
    assert line.startswith("only states of one source can be joined, but ")
    assert f"{paths[0]} of {HERE} and {paths[1]} of {THERE}" in line


def test_other_filters_are_refused(write: Write) -> None:
    paths = shards(
        write,
        state_of(leads=[found("01-01", "02-01")]),
        state_of(leads=[found("02-01", "03-01", filters="0123456789ab")]),
    )
    line = refused("join", *paths)
    assert line.startswith("leads: only states of the same filters can be joined, but ")
    assert "0123456789ab" in line


def test_a_malformed_shard_is_named(write: Write) -> None:
    good, bad = shards(write, STATE, {"bookmarks": {"leads": {"coverage": [7]}}})
    assert refused("join", good, bad).startswith(f"{bad}: leads: Expected `object`")


@pytest.mark.parametrize(
    ("bounds", "gap"),
    [
        (("--from", "2025-12-01"), "from 2025-12-01T00:00:00Z to 2026-01-01T00:00:00Z"),
        (("--to", "2026-03-02"), "from 2026-03-01T00:00:00Z to 2026-03-02T00:00:00Z"),
    ],
)
def test_a_first_or_last_shard_that_is_missing_is_noticed(
    write: Write, bounds: tuple[str, str], gap: str
) -> None:
    paths = shards(
        write,
        state_of(leads=[found("01-01", "02-01")]),
        state_of(leads=[found("02-01", "03-01")]),
    )
    asked = ("--from", "2026-01-01", "--to", "2026-03-01")
    changed("join", *asked, *paths)
    line = refused("join", *bounds, *paths)
    assert line.startswith(f"leads: date_found is not covered {gap}")
    line = refused("join", "--from", "2026-02-01", "--to", "2026-01-01", *paths)
    assert line == "--from: 2026-02-01 does not come before --to 2026-01-01"
