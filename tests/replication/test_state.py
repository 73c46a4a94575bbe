"""Runs from states of other sources, of other makers, and of the future."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from tap_leadintent.errors import RunError
from tap_leadintent.replication.source import key_mark
from tap_leadintent.tap import TapLeadIntent
from tests.support.model import DAY, HOUR, Api, Lead, second, steady
from tests.support.model_runs import DEFAULTS, run
from tests.support.store import Store
from tests.support.told import STRICT, asked, entries, warnings

HERE = "https://api.example.com"
THERE = "https://api.example.org"


def named(prefix: str, count: int = 40) -> list[Lead]:
    """Give leads whose ids say where they are from."""
    return [
        Lead(f"{prefix}-{each.id}", each.found_at, each.versions)
        for each in steady(count)
    ]


def state_of(*entries: tuple[str, float, float]) -> dict[str, Any]:
    """Give a state as this tap wrote it before it said of which source."""
    coverage = [
        {"range": name, "from": second(start), "to": second(end)}
        for name, start, end in entries
    ]
    return {"bookmarks": {"leads": {"coverage": coverage}}}


# Sources


def test_another_address_is_read_whole_and_coming_back_reads_what_is_new(
    caplog: pytest.LogCaptureFixture,
) -> None:
    here = Api(now=2 * DAY, leads=named("here"))
    there = Api(now=2 * DAY, leads=named("there"))
    store = Store()
    run(here, store, STRICT)
    assert warnings(caplog) == []

    run(there, store, {**STRICT, "base_url": f"{THERE}/"})
    assert len(store.rows) == 80
    (line,) = warnings(caplog)
    assert f"base_url is {THERE}, but the state of leads was made with {HERE}" in line

    here.now = there.now = 3 * DAY
    here.requests.clear()
    run(here, store, {**STRICT, "base_url": "HTTPS://API.example.com:443/"})
    assert {start for _, start, _ in asked(here)} == {second(2 * DAY - 1)}
    assert warnings(caplog) == []
    assert [entry["source"] for entry in entries(store)] == [*[HERE] * 2, *[THERE] * 2]


def test_a_mistyped_address_erases_nothing() -> None:
    here, store = Api(now=2 * DAY, leads=named("here")), Store()
    run(here, store, STRICT)
    for slip in range(5):
        wrong = Api(now=2 * DAY, forbidden_at=0)
        with pytest.raises(RunError, match="403"):
            run(wrong, store, {**STRICT, "base_url": f"https://{slip}.example.com"})
    here.now = 3 * DAY
    here.requests.clear()
    run(here, store, STRICT)
    assert {start for _, start, _ in asked(here)} == {second(2 * DAY - 1)}


def test_other_filters_are_read_whole_and_going_back_reads_what_is_new(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    filtered = {**STRICT, "filters": {"leads": {"signals": ["a"]}}}
    run(api, store, STRICT)
    asked(api)
    run(api, store, filtered)
    assert asked(api)[0][:2] == ("date_found", second(-1))
    (line,) = warnings(caplog)
    assert 'its filters have changed to {"signals": ["a"]}' in line
    api.now = 3 * DAY
    for config in (STRICT, filtered):
        run(api, store, config)
        assert {start for _, start, _ in asked(api)} == {second(2 * DAY - 1)}
        assert warnings(caplog) == []


def test_another_key_is_one_warning_and_reads_nothing_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, STRICT, selected=("leads", "observations"))
    api.now = 3 * DAY
    api.requests.clear()
    for told in (1, 0):
        config = {**STRICT, "api_key": "rotated-key"}
        run(api, store, config, selected=("leads", "observations"))
        lines = warnings(caplog)
        assert len(lines) == told
        assert all("the state of leads, observations was made" in x for x in lines)
    assert {start for _, start, _ in asked(api)} == {second(2 * DAY - 1)}


def test_a_state_of_a_former_release_goes_on_without_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=3 * DAY, leads=steady(72)), Store()
    store.state = state_of(
        ("latest_signal", 2 * DAY, 2 * DAY), ("date_found", 0, 2 * DAY)
    )
    run(api, store, STRICT)
    assert asked(api)[0] == ("date_found", second(2 * DAY - 1), second(3 * DAY))
    assert warnings(caplog) == []
    assert [(e["range"], e["from"], e["to"], e["source"]) for e in entries(store)] == [
        (name, second(0), second(3 * DAY), HERE)
        for name in ("date_found", "latest_signal")
    ]
    assert len({entry["key"] for entry in entries(store)}) == 1


def test_a_key_is_marked_once_a_run_and_only_where_there_is_a_state_to_write() -> None:
    key_mark.cache_clear()
    with mock.patch("tap_leadintent.replication.source.pbkdf2_hmac") as slow:
        slow.return_value = b"mark"
        discovered = TapLeadIntent(config={**DEFAULTS, **STRICT}).catalog_json_text
        run(Api(now=DAY), Store(), STRICT, selected=("signal_agents",))
        assert discovered
        assert slow.call_count == 0
        run(Api(now=DAY), Store(), STRICT, selected=("leads", "observations"))
        assert slow.call_count == 1
    key_mark.cache_clear()


def test_a_full_table_leaves_the_state_alone() -> None:
    api, store = Api(now=3 * DAY, leads=steady(72)), Store()
    store.state = state_of(("date_found", 0, 2 * DAY))
    before = store.state["bookmarks"]["leads"]
    run(api, store, STRICT, selected=("signal_agents",))
    assert store.state["bookmarks"]["leads"] == before


# States that are odd


def test_a_state_of_the_future_is_cut_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(60)), Store()
    store.state = state_of(
        ("date_found", 0, 400 * DAY), ("latest_signal", 0, 400 * DAY)
    )
    for days in (2, 3):
        api.now = days * DAY
        run(api, store, STRICT)
    (line,) = warnings(caplog)
    assert f"covers a time in the future, up to {second(400 * DAY)}" in line
    assert line.startswith("leads: ")
    assert {name for name, shown in store.rows.items()} == {
        f"lead-{n:04}" for n in range(48, 60)
    }


@pytest.mark.parametrize("state", [{"leads": {}}, {"singer_state": {"bookmarks": {}}}])
def test_a_state_of_another_form_is_told(
    caplog: pytest.LogCaptureFixture, state: dict[str, Any]
) -> None:
    store = Store()
    store.state = state
    run(Api(now=DAY), store, STRICT)
    (line,) = warnings(caplog)
    assert line == f"The state has no bookmarks; ignored in it: {next(iter(state))!r}"


@pytest.mark.parametrize(
    "ends",
    [
        ("0001-01-01T00:00:00+14:00", "2026-03-02T00:00:00Z"),
        ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
        ("2026-03-01T00:00:00Z", "9999-12-31T23:59:59-14:00"),
    ],
)
def test_a_state_on_the_edge_of_the_calendar_is_read(ends: tuple[str, str]) -> None:
    api, store = Api(now=3 * DAY, leads=steady(80)), Store()
    store.state = state_of(("date_found", 0, 0), ("latest_signal", 0, 0))
    for entry in store.state["bookmarks"]["leads"]["coverage"]:
        entry["from"], entry["to"] = ends
    for days in (3, 4):
        api.now = days * DAY
        run(api, store, STRICT)
    assert {f"lead-{n:04}" for n in range(72, 80)} <= store.rows.keys()


@pytest.mark.parametrize("count", [1000, 5000])
def test_thousands_of_intervals_are_read_like_a_few(count: int) -> None:
    seconds = 600
    now = count * seconds
    # Each ends where the next begins, but for the last, behind which there is a hole.
    pieces = [(n * seconds, (n + 1) * seconds) for n in range(count - 2)]
    pieces.append(((count - 1) * seconds, now))
    api, store = Api(now=now, leads=[]), Store()
    store.state = state_of(*(("date_found", a, b) for a, b in reversed(pieces)))
    store.state["bookmarks"]["leads"]["coverage"] += state_of(
        ("latest_signal", now, now)
    )["bookmarks"]["leads"]["coverage"]
    run(api, store, STRICT)
    (hole,) = {(a, b) for name, a, b in asked(api) if name == "date_found"}
    assert hole == (second((count - 2) * seconds - 1), second((count - 1) * seconds))
    assert len(entries(store)) == 2


def test_a_thousand_holes_are_read_each_on_its_own() -> None:
    now = 1000 * HOUR
    api, store = Api(now=now, leads=steady(1000)), Store()
    holes = [("date_found", n * HOUR + HOUR / 2, n * HOUR + HOUR) for n in range(1000)]
    store.state = state_of(*holes, ("latest_signal", now, now))
    run(api, store, STRICT)
    assert len(store.rows) == 1000
    assert len(entries(store)) == 2


def test_a_date_of_long_ago_takes_back_no_coverage() -> None:
    api, store = Api(now=3 * DAY, leads=steady(72)), Store()
    config = {"start_date": second(0)}
    run(api, store, config)
    api.now, api.odd_clocks = 3 * DAY + HOUR, {0: -5 * HOUR, 1: -5 * HOUR}
    run(api, store, config)
    assert {(e["from"], e["to"]) for e in entries(store)} == {
        (second(0), second(3 * DAY))
    }
