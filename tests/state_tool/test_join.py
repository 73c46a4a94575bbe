"""What becomes of the states of shards when they are joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.states import (
    HERE,
    SEEN,
    STATE,
    THERE,
    changed,
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


def test_shards_are_joined(write: Write) -> None:
    paths = shards(
        write,
        {
            "singer_state": state_of(
                leads=[signal("06-02", "06-02"), found("03-01", "05-01")]
            )
        },
        state_of(leads=[signal("06-01", "06-01"), found("01-01", "03-01")]),
        {"bookmarks": {"signal_agents": {}}, **state_of(observations=SEEN)},
    )
    joined = changed("join", *paths)["singer_state"]["bookmarks"]
    assert joined["leads"]["coverage"] == [
        signal("06-01", "06-01"),
        signal("06-02", "06-02"),
        found("01-01", "05-01"),
    ]
    assert joined["observations"]["coverage"] == SEEN


def test_the_recheck_of_shards_goes_on_at_the_older_place(write: Write) -> None:
    one = state_of(leads=[found("01-01", "03-01"), rechecked("02-01", "06-02")])
    other = state_of(leads=[found("03-01", "05-01"), rechecked("04-01", "06-01")])
    joined = changed("join", *shards(write, one, other))["bookmarks"]["leads"]
    assert rechecked("02-01", "06-01") in joined["coverage"]
    without = state_of(leads=[found("03-01", "05-01")])
    joined = changed("join", *shards(write, without, one))["bookmarks"]["leads"]
    assert rechecked("02-01", "06-02") in joined["coverage"]


def test_one_state_joined_is_itself(write: Write) -> None:
    assert changed("join", *shards(write, STATE)) == STATE
    assert changed("join", "-", *shards(write, STATE), stdin=STATE) == STATE


def test_the_order_of_shards_makes_no_difference(write: Write) -> None:
    one = state_of(leads=[signal("06-01", "06-01"), found("01-01", "03-01")])
    other = state_of(leads=[signal("06-02", "06-02"), found("03-01", "05-01")])
    assert changed("join", *shards(write, one, other)) == changed(
        "join", *shards(write, other, one)
    )


def test_a_shard_without_a_later_range_lets_it_begin_where_it_was_complete(
    write: Write,
) -> None:
    half = state_of(leads=[found("01-01", "03-01")])
    whole = state_of(leads=[signal("06-01", "06-01"), found("03-01", "05-01")])
    joined = changed("join", *shards(write, whole, half))["bookmarks"]["leads"]
    assert signal("03-01", "03-01") in joined["coverage"]


def test_a_state_without_a_source_is_of_that_of_the_others(write: Write) -> None:
    old = state_of(
        leads=[found("01-01", "03-01", source=""), signal("06-01", "06-01", source="")]
    )
    new = state_of(leads=[found("03-01", "05-01", source=f"{HERE}/")])
    joined = changed("join", *shards(write, old, new))["bookmarks"]["leads"]
    assert found("01-01", "05-01") in joined["coverage"]


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
    assert found("01-01", "02-01") in joined["coverage"]
    assert found("03-01", "04-01") in joined["coverage"]


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
