"""What a state says after a stretch of it was forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.states import (
    LEADS,
    SEEN,
    STATE,
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

KEPT = LEADS[2:]


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


def test_a_recheck_stays_where_something_is_forgotten() -> None:
    state = state_of(leads=[found("01-01", "03-01"), rechecked("02-01", "06-02")])
    options = ("--from", "2026-01-01", "--to", "2026-02-01", "--range", "date_found")
    left = changed("forget", "--stream", "leads", *options, stdin=state)
    assert rechecked("02-01", "06-02") in left["bookmarks"]["leads"]["coverage"]


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
