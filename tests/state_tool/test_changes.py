"""What forgetting, joining and moving make of a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.states import (
    HERE,
    NOW,
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

LEADS = [
    signal("04-01", "06-01", key="5d0c7a12"),
    found("01-01", "06-01", key="5d0c7a12"),
    found("01-01", "03-01", source=THERE, key="00000001"),
    found("01-01", "03-01", filters="0123456789ab", key="5d0c7a12"),
]
KEPT = LEADS[2:]
SEEN = [entry("observed_at", "01-01", "06-01")]
STATE = state_of(leads=LEADS, observations=SEEN)


def forgotten(*arguments: str, stdin: object = STATE) -> list[dict[str, Any]]:
    left = changed("forget", "--stream", "leads", *arguments, stdin=stdin)
    assert left["bookmarks"]["observations"] == {"coverage": SEEN}
    return list(left["bookmarks"]["leads"]["coverage"])


def keyed(*entries: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**each, "key": "5d0c7a12"} for each in entries]


def test_a_stretch_of_a_range_is_forgotten() -> None:
    options = ("--range", "date_found", "--from", "2026-02-01", "--to", "2026-03-01")
    assert forgotten(*options) == [
        *keyed(
            signal("04-01", "06-01"), found("01-01", "02-01"), found("03-01", "06-01")
        ),
        *KEPT,
    ]


def test_a_stretch_of_all_ranges_is_forgotten() -> None:
    assert forgotten("--from", "2026-05-01", "--to", "2026-05-03") == [
        *keyed(
            signal("04-01", "05-01"),
            signal("05-03", "06-01"),
            found("01-01", "05-01"),
            found("05-03", "06-01"),
        ),
        *KEPT,
    ]


def test_an_instant_stays_where_the_oldest_of_a_later_range_is_forgotten() -> None:
    options = ("--range", "latest_signal", "--from", "2026-04-01", "--to", "2026-04-05")
    assert forgotten(*options) == [
        *keyed(
            signal("04-01", "04-01"), signal("04-05", "06-01"), found("01-01", "06-01")
        ),
        *KEPT,
    ]


def test_a_whole_stream_is_forgotten_up_to_where_its_later_ranges_begin() -> None:
    assert forgotten() == [*keyed(signal("04-01", "04-01")), *KEPT]


def test_what_comes_before_or_after_an_instant_is_forgotten() -> None:
    assert forgotten("--range", "date_found", "--to", "2026-02-01")[1:2] == keyed(
        found("02-01", "06-01")
    )
    assert forgotten("--range", "date_found", "--from", "2026-02-01")[1:2] == keyed(
        found("01-01", "02-01")
    )


def test_times_have_offsets_and_fractions_that_round_outwards() -> None:
    options = ("--from", "2026-02-01T01:00+01:00", "--to", "2026-02-02T00:00:00.5Z")
    (_, before, after, *_) = forgotten("--range", "date_found", *options)
    assert (before["to"], after["from"]) == (
        "2026-02-01T00:00:00Z",
        "2026-02-02T00:00:01Z",
    )


def test_a_half_state_does_not_begin_later_for_what_is_forgotten() -> None:
    half = state_of(
        leads=[found("01-01", "02-01"), found("03-01", "04-01")], observations=SEEN
    )
    left = forgotten("--range", "date_found", "--to", "2026-02-01", stdin=half)
    assert signal("02-01", "02-01") in left


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("--stream", "lead"),
            "--stream: there is no stream 'lead'; did you mean leads?",
        ),
        (
            ("--stream", "signal_agents"),
            (
                "--stream: signal_agents is a full table; every run reads all of it, "
                "and there is nothing to forget"
            ),
        ),
        (
            ("--stream", "leads", "--range", "date_fond"),
            (
                "--range: there is no time range 'date_fond' of leads; did you mean "
                "date_found?"
            ),
        ),
        (
            ("--stream", "leads", "--range", "x"),
            (
                "--range: there is no time range 'x' of leads; there are date_found, "
                "latest_signal"
            ),
        ),
        (
            ("--stream", "leads", "--from", "yesterday"),
            "--from: 'yesterday' is not a date or date-time, such as 2026-01-31",
        ),
        (
            ("--stream", "leads", "--to", "2026-02-30"),
            "--to: '2026-02-30' is not a date or date-time, such as 2026-01-31",
        ),
        (
            ("--stream", "leads", "--from", "2026-02-02", "--to", "2026-02-01"),
            "--from: 2026-02-02 does not come before --to 2026-02-01",
        ),
        (
            ("--stream", "leads", "--from", "2026-02-02", "--to", "2026-02-02"),
            "--from: 2026-02-02 does not come before --to 2026-02-02",
        ),
        (
            ("--stream", "leads", "--from", "2026-07-01"),
            (
                "leads: nothing of date_found and latest_signal is covered from "
                "2026-07-01T00:00:00Z"
            ),
        ),
        (
            ("--stream", "leads", "--to", "2025-01-01"),
            (
                "leads: nothing of date_found and latest_signal is covered to "
                "2025-01-01T00:00:00Z"
            ),
        ),
        (
            ("--stream", "monitored_leads"),
            "monitored_leads: nothing of latest_activity is covered at any time",
        ),
    ],
)
def test_what_cannot_be_forgotten_is_one_line(
    arguments: tuple[str, ...], line: str
) -> None:
    assert refused("forget", *arguments, stdin=STATE) == line


def test_a_bookmark_of_the_sdk_cannot_be_changed(write: Write) -> None:
    value = {"replication_key_value": "2026-05-01T00:00:00Z"}
    state = {"bookmarks": {"leads": value}}
    line = refused("forget", "--stream", "leads", stdin=state)
    assert line.startswith(
        "leads: its state is only a bookmark of the SDK; run the tap"
    )
    assert refused("join", write("a.json", state), "-", stdin=STATE) == line


# Joining


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


def test_a_recheck_stays_where_something_is_forgotten() -> None:
    state = state_of(leads=[found("01-01", "03-01"), rechecked("02-01", "06-02")])
    options = ("--from", "2026-01-01", "--to", "2026-02-01", "--range", "date_found")
    left = changed("forget", "--stream", "leads", *options, stdin=state)
    assert rechecked("02-01", "06-02") in left["bookmarks"]["leads"]["coverage"]


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


# Splitting


def test_a_time_is_split_into_shards() -> None:
    options = ("--from", "2025-01-01", "--to", "2026-01-01", "--shards", "3")
    assert changed("split", *options) == [
        {"start_date": "2025-01-01T00:00:00Z", "end_date": "2025-05-02T16:00:00Z"},
        {"start_date": "2025-05-02T16:00:00Z", "end_date": "2025-09-01T08:00:00Z"},
        {"start_date": "2025-09-01T08:00:00Z", "end_date": "2026-01-01T00:00:00Z"},
    ]
    (whole,) = changed("split", "--from", "2025-01-01", "--shards", "1")
    assert whole["end_date"] == NOW


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (("--from", "soon"), "--from: 'soon' is not a date or date-time, such as"),
        (
            ("--from", "2025-01-01", "--to", "2025-01-01"),
            (
                "--shards: the time from 2025-01-01T00:00:00Z to 2025-01-01T00:00:00Z "
                "cannot be cut into 2"
            ),
        ),
        (("--from", "2025-01-01", "--to", "2025"), "--to: '2025' is not a date"),
        (("--from", "2025-01-01", "--shards", "0"), "--shards: the time from "),
    ],
)
def test_what_cannot_be_split_is_one_line(options: tuple[str, ...], line: str) -> None:
    assert refused("split", "--shards", "2", *options).startswith(line)


# Moving


def test_a_state_moves_with_all_its_filters() -> None:
    options = ("--from-source", "HTTPS://api.EXAMPLE.com:443/")
    state = changed(
        "move", *options, "--to-source", "https://new.example.com/", stdin=STATE
    )
    new = {"source": "https://new.example.com"}
    assert state["bookmarks"]["leads"]["coverage"] == [
        {**LEADS[0], **new},
        {**LEADS[1], **new},
        LEADS[2],
        {**LEADS[3], **new},
    ]
    assert state["bookmarks"]["observations"]["coverage"] == [{**SEEN[0], **new}]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "https://third.example.com",
            THERE,
            (
                "--from-source: the state says nothing of https://third.example.com; "
                f"it is about {HERE}, {THERE}"
            ),
        ),
        (
            HERE,
            "example.com",
            "--to-source: must be a URL such as https://api.example.com",
        ),
        (
            HERE,
            "http://example.com",
            "--to-source: must begin with https://, as the key would travel in clear",
        ),
    ],
)
def test_what_cannot_move_is_one_line(old: str, new: str, line: str) -> None:
    options = ("--from-source", old, "--to-source", new)
    assert refused("move", *options, stdin=STATE) == line
