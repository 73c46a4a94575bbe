"""What a run reads, and in which order it says so; `model` is the API."""

from __future__ import annotations

from typing import Any

import pytest

from tap_leadintent.errors import ConfigError
from tests.support.model import (
    DAY,
    HOUR,
    Api,
    Lead,
    Version,
    iso,
    lead,
    second,
    steady,
)
from tests.support.model_runs import CONFIG, DAILY, catalog, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("concurrency")


def asked(api: Api) -> list[tuple[str, str, str]]:
    """Give the ranges of the first pages since the last call, and forget them."""
    ranges = [
        (name, body[name]["start_time"], body[name]["end_time"])
        for body in api.requests
        if "after" not in body["cursor"]
        for name in body
        if name in {"date_found", "latest_signal"}
    ]
    api.requests.clear()
    return ranges


def covered(state: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Give what a state covers, each interval with its range."""
    entries = state["bookmarks"]["leads"]["coverage"]
    return [(entry["range"], entry["from"], entry["to"]) for entry in entries]


def test_a_first_load_reads_what_was_found_or_had_a_signal_since_the_start_date() -> (
    None
):
    before = lead(30, -9 * DAY, -9 * DAY, HOUR)
    api, store = Api(now=2 * DAY, leads=[*steady(20), before]), Store()
    run(api, store, CONFIG)
    assert store.rows == {**dict.fromkeys(store.rows, 0), before.id: 1}
    assert len(store.rows) == 21
    assert len(store.of_type("RECORD")) == 21, "what both ranges show comes once"
    names = [name for name, _, _ in asked(api)]
    assert names == sorted(names), "one range after the other"
    assert covered(store.state) == [
        ("date_found", second(0), second(2 * DAY)),
        ("latest_signal", second(0), second(2 * DAY)),
    ]


def test_a_full_refresh_finds_what_it_found_before() -> None:
    """A lead found before the start date gets its signal between the two loads."""
    api, store = Api(now=2 * DAY, leads=[lead(0, -9 * DAY, -9 * DAY, 3 * DAY)]), Store()
    run(api, store, CONFIG)
    api.now, store.state = 4 * DAY, {}
    run(api, store, CONFIG)
    assert store.rows == {"lead-0000": 1}


def test_a_run_with_an_end_reads_the_first_range_and_the_next_without_it_all() -> None:
    api, store = Api(now=2 * DAY, leads=[lead(0, -9 * DAY, -9 * DAY, HOUR)]), Store()
    run(api, store, {**CONFIG, "end_date": iso(DAY)})
    assert {name for name, _, _ in asked(api)} == {"date_found"}
    run(api, store, CONFIG)
    assert store.rows == {"lead-0000": 1}


def test_where_something_older_is_missing_signals_are_read_on_from_there() -> None:
    """The newest signal of a lead must come last, if it is shown at each of them."""
    signals = [Version(HOUR, n * DAY) for n in (1, 3)]
    api = Api(now=4 * DAY, leads=[Lead("a", -DAY, signals)], at_each_signal=True)
    store = Store()
    config = {**DAILY, "lookback_minutes": 0}
    run(api, store, {**config, "start_date": iso(2 * DAY)})
    run(api, store, config)
    emitted = [m["record"]["signal_observed_at"] for m in store.of_type("RECORD")]
    assert [time[:10] for time in emitted] == ["2026-03-02", "2026-03-04"]
    assert covered(store.state)[-1] == ("latest_signal", second(0), second(4 * DAY))


def test_a_state_of_an_earlier_version_reads_signals_once_from_the_start_date() -> None:
    """It says that signals were read from the first load on, or only began there."""
    for newest in (DAY, 2 * DAY):
        api, store = Api(now=2 * DAY, leads=[lead(0, -DAY, -DAY, HOUR)]), Store()
        store.state = old_state(newest)
        run(api, store, CONFIG)
        assert store.rows == {"lead-0000": 1}
        asked(api)
        run(api, store, CONFIG)
        assert [start for _, start, _ in asked(api)] == [second(DAY - 1)] * 2


def test_without_a_start_date_an_earlier_versions_state_reads_nothing_again() -> None:
    for newest in (DAY, 2 * DAY):
        api, store = Api(now=2 * DAY), Store()
        store.state = old_state(newest, "1970-01-01T00:00:00Z")
        run(api, store, {"lookback_minutes": 0})
        signals = {start for name, start, _ in asked(api) if name == "latest_signal"}
        assert signals == ({second(DAY - 1)} if newest == DAY else set())


def old_state(newest: float, start: str = second(0)) -> dict[str, Any]:
    """Give what an earlier version has written, with signals from a day on."""
    return {
        "bookmarks": {
            "leads": {
                "coverage": [
                    {
                        "range": "latest_signal",
                        "from": second(DAY),
                        "to": second(newest),
                    },
                    {"range": "date_found", "from": start, "to": second(2 * DAY)},
                ]
            }
        }
    }


def test_the_first_state_says_of_every_stream_what_it_covers() -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    streams = ("leads", "observations", "signal_agents")
    run(api, store, CONFIG, selected=streams)
    assert store.of_type("STATE")[0]["value"] == {
        "bookmarks": {"leads": {"coverage": []}, "observations": {"coverage": []}}
    }


def test_without_a_start_date_everything_is_read_in_one_unfiltered_chain() -> None:
    api, store = Api(now=2 * DAY, leads=[*steady(20), lead(99, -400 * DAY)]), Store()
    run(api, store, {"page_size": 10})
    assert len(store.rows) == 21
    assert all(set(body) == {"cursor"} for body in api.requests)
    assert len(api.requests) == 3


def test_a_later_run_reads_both_ranges_one_after_the_other() -> None:
    api, store = Api(now=2 * DAY, leads=[lead(0, HOUR, HOUR, 3 * DAY)]), Store()
    run(api, store, CONFIG)
    asked(api)
    api.now = 4 * DAY
    run(api, store, CONFIG)
    assert store.rows == {"lead-0000": 1}
    begin, end = second(DAY - 1), second(4 * DAY)
    assert asked(api) == [("date_found", begin, end), ("latest_signal", begin, end)]


def test_a_lead_found_today_with_an_old_signal_arrives() -> None:
    api, store = Api(now=DAY, leads=[lead(0, 2 * DAY, -40 * DAY)]), Store()
    run(api, store, CONFIG)
    assert not store.rows
    api.now = 3 * DAY
    run(api, store, CONFIG)
    assert store.rows == {"lead-0000": 0}


def test_a_run_that_finds_nothing_new_asks_once_for_each_range() -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, CONFIG)
    api.requests.clear()
    api.now = 4 * DAY
    run(api, store, CONFIG)
    assert len(api.requests) == 2


def test_an_earlier_start_date_reads_the_older_stretch_once() -> None:
    api, store = Api(now=2 * DAY, leads=steady(40)), Store()
    run(api, store, {**CONFIG, "start_date": iso(DAY), "lookback_minutes": 0})
    asked(api)
    run(api, store, {**CONFIG, "lookback_minutes": 0})
    assert asked(api)[0][1:] == (second(-1), second(DAY))
    run(api, store, {**CONFIG, "lookback_minutes": 0})
    assert asked(api) == []
    assert len(store.rows) == 40


def test_moving_a_later_start_date_back_reads_the_hole() -> None:
    api, store = Api(now=DAY, leads=steady(96)), Store()
    run(api, store, {**CONFIG, "lookback_minutes": 0})
    api.now = 4 * DAY
    run(api, store, {**CONFIG, "start_date": iso(3 * DAY), "lookback_minutes": 0})
    assert len(store.state["bookmarks"]["leads"]["coverage"]) == 4
    asked(api)
    run(api, store, {**CONFIG, "lookback_minutes": 0})
    found = [ends for name, *ends in asked(api) if name == "date_found"]
    assert min(start for start, _ in found) == second(DAY - 1)
    assert max(end for _, end in found) == second(3 * DAY)
    assert len(store.rows) == 96


def test_shards_and_an_unbounded_run_read_each_stretch_once() -> None:
    api, store = Api(now=4 * DAY, leads=steady(96)), Store()
    config = {**CONFIG, "lookback_minutes": 0}
    run(api, store, {**config, "end_date": iso(DAY)})
    run(api, store, {**config, "start_date": iso(DAY), "end_date": iso(2 * DAY)})
    run(api, store, config)
    stretches = sorted(
        {(start, end) for name, start, end in asked(api) if name == "date_found"}
    )
    assert stretches[0][0] == second(-1)
    assert stretches[-1][1] == second(4 * DAY)
    assert len(store.rows) == 96
    assert len(store.state["bookmarks"]["leads"]["coverage"]) == 2


@pytest.mark.parametrize(("ahead", "told"), [(3 * HOUR, "3:00:00"), (59, None)])
def test_coverage_never_goes_beyond_the_servers_clock(
    caplog: pytest.LogCaptureFixture, ahead: int, told: str | None
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, CONFIG, clock_ahead=ahead)
    line = f"By the server's clock it is {second(2 * DAY)}, {told} behind ours"
    assert caplog.text.count(line) == (1 if told else 0)
    assert caplog.text.count("By the server's clock") == (1 if told else 0)
    coverage = store.state["bookmarks"]["leads"]["coverage"]
    assert {entry["to"] for entry in coverage} == {second(2 * DAY)}


def test_a_full_table_is_one_chain_without_ranges_and_without_bookmark() -> None:
    api, store = Api(now=2 * DAY, leads=steady(35)), Store()
    run(api, store, CONFIG, catalog=catalog(replication_method="FULL_TABLE"))
    assert len(store.rows) == 35
    assert all(set(body) == {"cursor"} for body in api.requests)
    assert store.state["bookmarks"]["leads"] == {}
    assert not store.of_type("ACTIVATE_VERSION")


def test_an_impossible_replication_method_is_an_error() -> None:
    log_based = catalog(replication_method="LOG_BASED")
    with pytest.raises(ConfigError, match="LOG_BASED"):
        run(Api(), Store(), CONFIG, catalog=log_based)


def test_a_key_over_id_and_signal_time_keeps_every_signal() -> None:
    api, store = Api(now=2 * DAY, leads=[lead(0, HOUR, HOUR, 3 * DAY)]), Store()
    history = catalog(key_properties=["id", "signal_observed_at"])
    run(api, store, CONFIG, catalog=history)
    api.now = 4 * DAY
    run(api, store, CONFIG, catalog=history)
    (schema,) = store.of_type("SCHEMA")
    assert schema["key_properties"] == ["id", "signal_observed_at"]
    assert {
        m["record"]["signal_observed_at"][:10] for m in store.of_type("RECORD")
    } == {iso(3 * DAY)[:10]}
