"""What a state says after a stretch of it was forgotten."""

from __future__ import annotations

from typing import Any

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

KEPT = LEADS[2:]


def forgotten(*arguments: str, stdin: object = STATE) -> list[dict[str, Any]]:
    left = changed("forget", "--stream", "leads", *arguments, stdin=stdin)
    assert left["bookmarks"]["observations"] == {"coverage": SEEN}
    return list(left["bookmarks"]["leads"]["coverage"])


@pytest.mark.parametrize(
    ("options", "left"),
    [
        (
            ("--range", "date_found", "--from", "2026-02-01", "--to", "2026-03-01"),
            [
                found("01-01", "02-01"),
                found("03-01", "06-01"),
                signal("04-01", "06-01"),
            ],
        ),
        (
            ("--from", "2026-05-01", "--to", "2026-05-03"),
            [
                *(found("01-01", "05-01"), found("05-03", "06-01")),
                *(signal("04-01", "05-01"), signal("05-03", "06-01")),
            ],
        ),
        (("--to", "2026-05-01"), [found("05-01", "06-01"), signal("05-01", "06-01")]),
        (("--from", "2026-02-01"), [found("01-01", "02-01")]),
        (
            ("--range", "latest_signal", "--from", "2026-04-01", "--to", "2026-04-05"),
            [found("01-01", "06-01"), signal("04-05", "06-01")],
        ),
        ((), []),
    ],
    ids=str,
)
def test_a_stretch_is_forgotten(
    options: tuple[str, ...], left: list[dict[str, Any]]
) -> None:
    assert forgotten(*options) == [
        *({**each, "key": "5d0c7a12"} for each in left),
        *KEPT,
    ]


def test_times_have_offsets_and_fractions_that_round_outwards() -> None:
    options = ("--from", "2026-02-01T01:00+01:00", "--to", "2026-02-02T00:00:00.5Z")
    (before, after, *_) = forgotten("--range", "date_found", *options)
    assert (before["to"], after["from"]) == (
        "2026-02-01T00:00:00Z",
        "2026-02-02T00:00:01Z",
    )


def test_a_recheck_goes_on_after_something_is_forgotten() -> None:
    state = state_of(
        leads=[found("01-01", "03-01"), rechecked("06-02")], observations=SEEN
    )
    left = forgotten("--to", "2026-02-01", stdin=state)
    assert left == [found("02-01", "03-01"), rechecked("06-02")]


def test_what_the_next_run_would_take_for_covered_is_refused() -> None:
    ever = {**found("01-01", "06-01"), "from": "1970-01-01T00:00:00Z"}
    state = state_of(leads=[ever, signal("04-01", "06-01")], observations=SEEN)
    options = ("--stream", "leads", "--to", "2026-05-01")
    assert refused("forget", "--range", "latest_signal", *options, stdin=state) == (
        "--range: without start_date, date_found counts for what lies before the "
        "oldest covered instant of latest_signal; leave --range out"
    )
    assert changed("forget", *options, stdin=state)
    # What lies behind its oldest covered instant is read again, or all of it.
    hole = ("--range", "latest_signal", "--from", "2026-05-01", "--to", "2026-05-03")
    signals = [signal("04-01", "05-01"), signal("05-03", "06-01")]
    assert forgotten(*hole, stdin=state) == [ever, *signals]
    assert forgotten("--range", "latest_signal", stdin=state) == [ever]


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
