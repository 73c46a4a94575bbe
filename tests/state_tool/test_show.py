"""What is said of a state, in words and for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.state_tool.bar import BLOCKS, CELLS, bar
from tap_leadintent.state_tool.words import length, stretch
from tests.support.helpers import STREAMS
from tests.support.states import (
    HERE,
    THERE,
    changed,
    found,
    rechecked,
    refused,
    signal,
    state_of,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable

STATE = state_of(
    leads=[
        signal("04-01", "06-01"),
        found("02-01", "03-01"),
        found("03-03", "06-01"),
        found("01-01", "02-01", source=THERE, filters="0123456789ab"),
    ],
    observations=[],
)


def about(stream: str, text: str) -> list[str]:
    """Give the lines about a stream."""
    lines = iter(text.splitlines())
    heading = next(
        line for line in lines if line.partition(":")[0] == stream or line == stream
    )
    section = [heading]
    for line in lines:
        if not line.startswith(" "):
            break
        section.append(line.strip())
    return section


def test_what_is_covered_is_told_in_words() -> None:
    bar_of_found = f"{'#' * 13}++{'#' * 45}"
    lines = about("leads", told("show", stdin=STATE))
    assert lines == [
        "leads",
        "https://api.example.com without filters",
        f"date_found    |{lines[2].split('|')[1]}|",
        f"latest_signal |{lines[3].split('|')[1]}|",
        (
            "date_found: covered from 2026-02-01T00:00:00Z to 2026-06-01T00:00:00Z "
            "(120 days), with 1 hole"
        ),
        "hole from 2026-03-01T00:00:00Z to 2026-03-03T00:00:00Z (2 days)",
        "last extended to 2026-06-01T00:00:00Z",
        (
            "the lookback reads again from 2026-05-31T00:00:00Z to "
            "2026-06-01T00:00:00Z (1 day)"
        ),
        (
            "latest_signal: covered from 2026-04-01T00:00:00Z to 2026-06-01T00:00:00Z "
            "(61 days)"
        ),
        "last extended to 2026-06-01T00:00:00Z",
        (
            "the lookback reads again from 2026-05-31T00:00:00Z to "
            "2026-06-01T00:00:00Z (1 day)"
        ),
        (
            "https://api.example.org with the filters 0123456789ab; kept, but runs do "
            "not go by it now"
        ),
        f"date_found |{'#' * CELLS}|",
        (
            "date_found: covered from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z "
            "(31 days)"
        ),
        "last extended to 2026-02-01T00:00:00Z",
    ]
    assert "." in lines[2] or "+" in lines[2]
    assert len(lines[2].split("|")[1]) == len(bar_of_found) == CELLS


def test_every_stream_has_its_place() -> None:
    shown = told("show", stdin=STATE)
    for name in STREAMS:
        assert about(name, shown)
    for name in ("signal_agents", "monitored_accounts", "custom_signals"):
        (line,) = about(name, shown)
        assert line.startswith(f"{name}: full table")
    assert about("observations", shown) == ["observations: nothing is covered"]


def test_a_full_table_that_a_catalog_made_incremental_is_shown() -> None:
    covered = {**found("01-01", "02-01"), "range": "latest_activity"}
    shown = told("show", stdin=state_of(monitored_accounts=[covered]))
    lines = about("monitored_accounts", shown)
    assert any(line.startswith("latest_activity: covered") for line in lines)


def test_what_had_only_begun_in_version_0_1_is_not_covered() -> None:
    state = state_of(leads=[signal("04-01", "04-01")])
    assert about("leads", told("show", stdin=state)) == ["leads: nothing is covered"]
    state = state_of(leads=[signal("04-01", "04-01"), found("01-01", "02-01")])
    lines = about("leads", told("show", stdin=state))
    assert not any(line.startswith("latest_signal") for line in lines)


def test_the_current_source_is_that_of_the_settings(
    settings: Callable[..., str],
) -> None:
    config = settings(base_url=f"{THERE}/", lookback_minutes=60)
    state = state_of(
        leads=[found("01-01", "02-01"), found("01-01", "03-01", source=THERE)]
    )
    shown = told("show", "--config", config, stdin=state)
    sources = [line for line in about("leads", shown) if line.startswith("https")]
    assert sources == [
        f"{THERE} without filters",
        f"{HERE} without filters; kept, but runs do not go by it now",
    ]
    assert "from 2026-02-28T23:00:00Z to 2026-03-01T00:00:00Z (1 hour)" in shown


def test_the_recheck_has_a_time() -> None:
    state = state_of(leads=[found("02-01", "06-01"), rechecked("05-31")])
    line = "the recheck was done last at 2026-05-31T00:00:00Z"
    assert line in told("show", stdin=state)
    shown = json.loads(told("show", "--json", stdin=state))["streams"]["leads"]
    ranges = shown["sources"][0]["ranges"]
    assert ranges["date_found"]["rechecked"] == "2026-05-31T00:00:00Z"


OBEYED = "\x1b]0;x\x07\x7f\x9b2J\u202e\nobservations: covered"
"""What a terminal obeys: it would change its title, erase lines, or begin a new one."""


@pytest.mark.parametrize("name", ["source", "filters"])
def test_a_terminal_obeys_nothing_that_a_state_says(
    settings: Callable[..., str], name: str
) -> None:
    entry = found("01-01", "02-01", **{name: f"https://{OBEYED}"})
    state = state_of(leads=[entry])
    plan = ("plan", "--config", settings(), "--stream", "leads")
    for command in (("show",), plan):
        shown = told(*command, stdin=state)
        assert all(line.isprintable() for line in shown.split("\n"))
        assert "\\x1b]0;x\\x07\\x7f\\x9b2J\\u202e\\nobservations" in shown
    join = ("join", "-", "--lookback-minutes", "0")
    shown = told("show", "--json", stdin=state) + told(*join, stdin=state)
    assert all(line.isprintable() for line in shown.split("\n"))
    assert entry in changed(*join, stdin=state)["bookmarks"]["leads"]["coverage"]


def test_settings_of_no_sense_are_refused(settings: Callable[..., str]) -> None:
    line = refused("show", "--config", settings(page_sise=1), stdin=STATE)
    assert (
        line == "--config: page_sise: there is no such setting; did you mean page_size?"
    )


def test_programs_get_all_of_it() -> None:
    shown: dict[str, Any] = json.loads(told("show", "--json", stdin=STATE))["streams"]
    assert shown.keys() == set(STREAMS)
    assert shown["signal_agents"]["replication_method"] == "FULL_TABLE"
    current, kept = shown["leads"]["sources"]
    assert (current["source"], current["filters"], current["current"]) == (
        HERE,
        "",
        True,
    )
    assert (kept["source"], kept["filters"], kept["current"]) == (
        THERE,
        "0123456789ab",
        False,
    )
    assert current["ranges"]["date_found"] == {
        "covered": [
            {"from": "2026-02-01T00:00:00Z", "to": "2026-03-01T00:00:00Z"},
            {"from": "2026-03-03T00:00:00Z", "to": "2026-06-01T00:00:00Z"},
        ],
        "holes": [{"from": "2026-03-01T00:00:00Z", "to": "2026-03-03T00:00:00Z"}],
        "lookback": {"from": "2026-05-31T00:00:00Z", "to": "2026-06-01T00:00:00Z"},
        "rechecked": None,
        "last_extended": "2026-06-01T00:00:00Z",
    }


# Bars and words


@pytest.mark.parametrize(
    ("pieces", "drawn"),
    [
        ([(0, 600)], "#" * 60),
        ([(0, 300)], "#" * 30 + "." * 30),
        ([(0, 301), (302, 600)], "#" * 30 + "+" + "#" * 29),
        ([(595, 596)], "." * 59 + "+"),
        ([(0, 0)], "." * 60),
        ([], "." * 60),
    ],
)
def test_a_bar_hides_no_hole(pieces: list[tuple[int, int]], drawn: str) -> None:
    assert bar(pieces, (0, 600)) == drawn
    assert len(bar(pieces, (0, 7))) == 60


def test_a_terminal_gets_blocks() -> None:
    assert set(bar([(0, 300)], (0, 599), BLOCKS)) == set(BLOCKS)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (60, "1 minute"),
        (5400, "1.5 hours"),
        (86400, "1 day"),
        (86400 * 1200, "1,200 days"),
    ],
)
def test_lengths(seconds: int, words: str) -> None:
    assert length(seconds) == words


def test_stretches() -> None:
    assert stretch((0, 60)) == (
        "from 1970-01-01T00:00:00Z to 1970-01-01T00:01:00Z (1 minute)"
    )
