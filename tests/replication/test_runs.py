"""What a run asks for, and in which order it says so; `model` is the API."""

from __future__ import annotations

import pytest

from tap_leadintent.errors import RunError
from tests.support.model import DAY, HOUR, Api, iso, lead, second, steady
from tests.support.model_runs import CONFIG, catalog, run
from tests.support.store import Store
from tests.support.told import asked, entries

pytestmark = pytest.mark.usefixtures("concurrency")


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
    assert [(e["range"], e["from"], e["to"]) for e in entries(store)] == [
        (name, second(0), second(2 * DAY)) for name in ("date_found", "latest_signal")
    ]


def test_a_later_run_asks_once_for_each_range_one_after_the_other() -> None:
    api, store = Api(now=2 * DAY, leads=[lead(0, HOUR, HOUR, 3 * DAY)]), Store()
    run(api, store, CONFIG)
    asked(api)
    api.now = 4 * DAY
    run(api, store, CONFIG)
    assert store.rows == {"lead-0000": 1}
    begin, end = second(DAY - 1), second(4 * DAY)
    assert asked(api) == [("date_found", begin, end), ("latest_signal", begin, end)]


def test_the_first_state_of_a_full_refresh_takes_back_all_coverage() -> None:
    """Meltano merges it into the state of before, which has to go."""
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    streams = ("leads", "observations", "signal_agents")
    run(api, store, CONFIG, selected=streams)
    assert store.of_type("STATE")[0]["value"] == {
        "bookmarks": {"leads": {"coverage": []}, "observations": {"coverage": []}}
    }


def test_a_window_that_fails_midway_is_not_covered() -> None:
    """Some of its records are out by then, and come again."""
    api, store = Api(now=2 * DAY, leads=steady(35, 0), refuses_cursors=99), Store()
    api.refuses_cursors_with = 413
    with pytest.raises(RunError, match="413") as failed:
        run(api, store, CONFIG)
    assert "window_days" not in str(failed.value), "it is no refusal of the width"
    assert len(store.of_type("RECORD")) == 10
    assert entries(store) == []
    api.refuses_cursors = 0
    run(api, store, CONFIG)
    assert len(store.rows) == 35


def test_without_a_start_date_everything_is_read_in_one_unfiltered_chain() -> None:
    api, store = Api(now=2 * DAY, leads=[*steady(20), lead(99, -400 * DAY)]), Store()
    run(api, store, {"page_size": 10})
    assert len(store.rows) == 21
    assert all(set(body) == {"cursor"} for body in api.requests)
    assert len(api.requests) == 3


def test_before_the_start_date_comes_nothing_is_read() -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    config = {**CONFIG, "start_date": second(2 * DAY + 20 * HOUR)}
    run(api, store, config, selected=("leads", "observations", "signal_agents"))
    assert all(set(body) == {"cursor"} for body in api.requests)


def test_a_full_table_is_one_chain_without_ranges_and_without_bookmark() -> None:
    api, store = Api(now=2 * DAY, leads=steady(35)), Store()
    run(api, store, CONFIG, catalog=catalog(replication_method="FULL_TABLE"))
    assert len(store.rows) == 35
    assert all(set(body) == {"cursor"} for body in api.requests)
    assert store.state["bookmarks"]["leads"] == {}
    assert not store.of_type("ACTIVATE_VERSION")


def test_a_key_over_id_and_signal_time_keeps_every_signal() -> None:
    api, store = Api(now=4 * DAY, leads=[lead(0, HOUR, HOUR, 3 * DAY)]), Store()
    api.at_each_signal = True
    history = catalog(key_properties=["id", "signal_observed_at"])
    run(api, store, CONFIG, catalog=history)
    (schema,) = store.of_type("SCHEMA")
    assert schema["key_properties"] == ["id", "signal_observed_at"]
    records = [message["record"] for message in store.of_type("RECORD")]
    times = [record["signal_observed_at"][:19] for record in records]
    assert times == [iso(time)[:19] for time in (3 * DAY, HOUR)]


@pytest.mark.parametrize("key", [[], ["signal_observed_at"]], ids=["none", "not one"])
def test_no_row_depends_on_the_key_that_a_catalog_declares(key: list[str]) -> None:
    leads = [lead(n, n * HOUR, 0) for n in range(40)]
    api, store = Api(now=2 * DAY, leads=leads), Store()
    run(api, store, CONFIG, catalog=catalog(key_properties=key))
    assert store.rows.keys() == {one.id for one in leads}
