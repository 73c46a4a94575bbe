"""What the next run reads, told before it is started."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.entering import nested
from tests.support.helpers import API_KEY, STREAMS, entries, only
from tests.support.states import (
    HERE,
    NOW,
    THERE,
    found,
    rechecked,
    refused,
    run,
    signal,
    state_of,
    told,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    Settings = Callable[..., str]
    Write = Callable[[str, object], str]

LEADS = [
    signal("04-01", "06-01"),
    found("02-01", "03-01"),
    found("03-03", "06-01"),
]
STATE = state_of(leads=LEADS)


def plan(settings: str, *arguments: str, stdin: object = STATE) -> list[str]:
    options = ("plan", "--config", settings, "--stream", "leads", *arguments)
    first, heading, *lines = told(*options, stdin=stdin).splitlines()
    assert first == f"A run that begins at {NOW} reads:"
    assert heading == "leads"
    return [line.strip() for line in lines]


def test_each_stretch_has_its_reason(settings: Settings) -> None:
    assert plan(settings()) == [
        "date_found",
        (
            "from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z (31 days): "
            "earlier than what is covered: start_date has moved back, or it was "
            "forgotten"
        ),
        "from 2026-03-01T00:00:00Z to 2026-03-03T00:00:00Z (2 days): hole",
        "from 2026-05-31T00:00:00Z to 2026-06-01T00:00:00Z (1 day): lookback",
        "from 2026-06-01T00:00:00Z to 2026-06-03T00:00:00Z (2 days): new",
        "latest_signal",
        (
            "from 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z (90 days): "
            "earlier than what is covered: start_date has moved back, or it was "
            "forgotten"
        ),
        (
            "from 2026-04-01T00:00:00Z to 2026-05-31T00:00:00Z (60 days): again, so "
            "that the newest signal comes last: something older is missing"
        ),
        "from 2026-05-31T00:00:00Z to 2026-06-01T00:00:00Z (1 day): lookback",
        "from 2026-06-01T00:00:00Z to 2026-06-03T00:00:00Z (2 days): new",
    ]


@pytest.mark.parametrize(
    "state", [{}, {"bookmarks": {}}, {"singer_state": {}}], ids=str
)
def test_a_first_load(settings: Settings, state: object) -> None:
    whole = "from 2026-01-01T00:00:00Z to 2026-06-03T00:00:00Z (153 days): first load"
    lines = ["date_found", whole, "latest_signal", whole]
    assert plan(settings(), stdin=state) == lines


def test_a_first_load_of_everything(settings: Settings) -> None:
    assert plan(settings(start_date=None), stdin={}) == [
        "date_found: everything, in one chain without a time range; first load",
        "latest_signal: nothing; what date_found reads counts for it",
    ]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"base_url": THERE}, f"other source; the state is about {HERE}"),
        (
            {"filters": {"leads": {"sheet_ids": ["a"]}}},
            f"other filters; the state is about {HERE} without filters",
        ),
    ],
    ids=["source", "filters"],
)
def test_another_source_is_read_whole(
    settings: Settings, more: dict[str, Any], why: str
) -> None:
    assert plan(settings(**more))[1] == (
        f"from 2026-01-01T00:00:00Z to 2026-06-03T00:00:00Z (153 days): {why}"
    )


def test_nothing_to_read(settings: Settings) -> None:
    chosen = settings(end_date="2026-02-15", start_date="2026-02-01")
    assert plan(chosen) == [
        "date_found: nothing; all that is asked for is covered",
        (
            "latest_signal: nothing; a run with end_date is a part of a load; one "
            "without it reads this"
        ),
    ]


def test_a_start_date_that_is_yet_to_come(settings: Settings) -> None:
    options = ("plan", "--config", settings(start_date="2026-06-04"))
    assert "leads: nothing; start_date lies in the future" in told(
        *options, stdin=STATE
    )


RECHECK = "from 2026-04-14T14:24:00Z to 2026-04-27T09:36:00Z (12.8 days): recheck"


def test_the_recheck_has_its_share(settings: Settings) -> None:
    state = state_of(leads=[*LEADS, rechecked("06-02")])
    chosen = settings(recheck_days=10, start_date="2026-02-01")
    assert plan(chosen, stdin=state)[1:5] == [
        "from 2026-03-01T00:00:00Z to 2026-03-03T00:00:00Z (2 days): hole",
        "from 2026-05-31T00:00:00Z to 2026-06-01T00:00:00Z (1 day): lookback",
        "from 2026-06-01T00:00:00Z to 2026-06-03T00:00:00Z (2 days): new",
        RECHECK,
    ]
    options = ("plan", "--config", chosen, "--stream", "leads", "--at")
    first, second = told(*options, "2026-04-20", stdin=state).splitlines()
    assert first.endswith("covered; the next run reads it again (recheck)")
    assert "recheck" not in second
    first, _ = told(*options, "2026-05-25", stdin=state).splitlines()
    assert first.endswith("; the recheck reads it again within 10 days")
    bounded = settings(recheck_days=10, end_date="2026-06-02")
    assert "recheck" not in str(plan(bounded, stdin=state))


def test_programs_get_the_plan_too(settings: Settings, write: Write) -> None:
    path = write("catalog.json", only("leads", "custom_signals"))
    options = ("plan", "--config", settings(), "--catalog", path, "--json")
    found = json.loads(told(*options, stdin=STATE))
    assert found["at"] == NOW
    assert list(found["streams"]) == list(STREAMS)
    ranges = found["streams"]["leads"]["ranges"]
    assert ranges["date_found"][-1] == {
        "from": "2026-06-01T00:00:00Z",
        "to": "2026-06-03T00:00:00Z",
        "reason": "new",
    }
    reasons = [piece["reason"] for piece in ranges["latest_signal"]]
    assert reasons == ["earlier", "again", "lookback", "new"]
    assert found["streams"]["custom_signals"] == {
        "selected": True,
        "replication_method": "FULL_TABLE",
        "ranges": {},
    }
    assert not found["streams"]["observations"]["selected"]


def test_programs_get_an_instant_too(settings: Settings) -> None:
    options = ("plan", "--config", settings(base_url=THERE), "--json", "--at")
    found = json.loads(told(*options, "2026-05-25", stdin=STATE))
    assert found["at"] == "2026-05-25T00:00:00Z"
    assert found["streams"]["leads"] == {
        "date_found": {"covered": False, "next_run": "other source"},
        "latest_signal": {"covered": False, "next_run": "other source"},
    }
    assert found["streams"]["signal_agents"] == {}


def test_all_streams_have_their_place(settings: Settings) -> None:
    lines = told("plan", "--config", settings(), stdin=STATE).splitlines()
    for name in STREAMS:
        assert any(line.partition(":")[0] == name for line in lines)
    assert "custom_signals: all of it; full table, whatever the state says" in lines


# The catalog


def test_the_catalog_says_what_is_read(settings: Settings, write: Write) -> None:
    catalog = only("leads", "observations")
    entries(catalog)["observations"]["replication_method"] = "FULL_TABLE"
    path = write("catalog.json", catalog)
    text = told("plan", "--config", settings(), "--catalog", path, stdin=STATE)
    assert "\nleads\n  date_found\n" in text
    assert "observations: all of it; full table" in text
    assert "monitored_leads: nothing; the catalog does not select it" in text


def test_a_catalog_can_make_a_full_table_incremental(
    settings: Settings, write: Write
) -> None:
    catalog = only("monitored_accounts", "custom_signals")
    for name in ("monitored_accounts", "custom_signals"):
        entries(catalog)[name]["replication_method"] = "INCREMENTAL"
    path = write("catalog.json", catalog)
    text = told("plan", "--config", settings(), "--catalog", path, stdin=STATE)
    assert "monitored_accounts\n  latest_activity\n" in text
    assert "custom_signals: all of it; full table" in text


def _with_column(column: object) -> dict[str, Any]:
    entry = {"tap_stream_id": "leads", "schema": {"properties": {"x": column}}}
    return {"streams": [entry]}


@pytest.mark.parametrize(
    "content",
    [
        *([], {"streams": [{}]}, {"streams": 7}, "x"),
        *map(_with_column, ({"items": 1}, {"type": 1}, json.loads(nested(400)))),
    ],
    ids=["list", "empty entry", "number", "text", "items", "type", "deep"],
)
def test_what_is_not_a_catalog_is_refused(
    settings: Settings, write: Write, content: object
) -> None:
    path = write("catalog.json", content)
    line = refused("plan", "--config", settings(), "--catalog", path, stdin=STATE)
    assert line.startswith("--catalog: ")
    absent = f"{path}.absent"
    line = refused("plan", "--config", settings(), "--catalog", absent, stdin=STATE)
    assert line.startswith(f"--catalog: {absent}: No such file or directory; give ")


# Mistakes


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("--stream", "lead"),
            "--stream: there is no stream 'lead'; did you mean leads?",
        ),
        (
            ("--stream", "x"),
            "--stream: there is no stream 'x'; there are signal_agents",
        ),
        (
            ("--at", "soon"),
            "--at: 'soon' is not a date or date-time, such as 2026-01-31",
        ),
    ],
)
def test_mistakes_are_one_line(
    settings: Settings, arguments: tuple[str, ...], line: str
) -> None:
    said = refused("plan", "--config", settings(), *arguments, stdin=STATE)
    assert said.startswith(line)


@pytest.mark.parametrize(
    ("config", "line"),
    [
        ([], "--config: "),
        ({}, "--config: base_url: is required"),
        ({"base_url": "x"}, "--config: base_url: must be a URL"),
        (
            {"base_url": HERE, "api_key": API_KEY, "page_size": API_KEY},
            "--config: page_size: '***' is not of type 'integer'",
        ),
        (
            {"base_url": HERE, "concurrency": 0, "page_size": 0},
            "--config: concurrency: 0 is less than the minimum of 1; page_size: 0",
        ),
        (
            {"base_url": HERE, "start_date": "2026-02-01", "end_date": "2026-01-01"},
            "--config: end_date: comes before start_date",
        ),
    ],
)
def test_settings_are_validated_as_the_tap_does(
    write: Write, config: object, line: str
) -> None:
    path = write("config.json", config)
    said = refused("plan", "--config", path, stdin=STATE)
    assert said.startswith(line)
    assert API_KEY not in said


def test_settings_that_are_no_file_are_not_repeated() -> None:
    said = refused("plan", "--config", f'{{"api_key": "{API_KEY}"}}', stdin=STATE)
    assert said.startswith("--config: there is no such file")
    assert API_KEY not in said


def test_what_is_not_a_state_is_refused(settings: Settings) -> None:
    assert "is empty" in refused("plan", "--config", settings(), stdin="")
    assert "is not a JSON object" in refused("plan", "--config", settings(), stdin="[")
    assert run("plan", stdin=STATE).exit_code == 2
