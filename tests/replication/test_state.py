"""Runs from states of other sources, of other makers, and of the future."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unittest import mock

from tap_leadintent.replication.source import key_mark
from tap_leadintent.tap import TapLeadIntent
from tests.support.model import DAY, Api, second, steady
from tests.support.model_runs import DEFAULTS, run
from tests.support.store import Store
from tests.support.told import STRICT, asked, entries, warnings

if TYPE_CHECKING:
    import pytest

HERE = "https://api.example.com"
THERE = "https://api.example.org"
BOTH = ("leads", "observations")


def state_of(*entries: tuple[str, float, float]) -> dict[str, Any]:
    """Give a state as this tap wrote it before it said of which source."""
    coverage = [
        {"range": name, "from": second(start), "to": second(end)}
        for name, start, end in entries
    ]
    return {"bookmarks": {"leads": {"coverage": coverage}}}


def starts(api: Api) -> set[str]:
    """Tell from when on was asked for, since the last call."""
    return {start for _, start, _ in asked(api)}


def test_another_address_is_read_whole_and_coming_back_reads_what_is_new(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, STRICT, selected=BOTH)
    asked(api)
    assert warnings(caplog) == []

    run(api, store, {**STRICT, "base_url": f"{THERE}/"}, selected=BOTH)
    assert second(-1) in starts(api)
    assert warnings(caplog) == [
        (
            f"base_url is {THERE}, but the state of leads, observations was made with "
            f"{HERE}; everything is read anew, and the coverage of that address is kept"
        )
    ]

    api.now = 3 * DAY
    run(api, store, {**STRICT, "base_url": "HTTPS://API.example.com:443/"})
    assert starts(api) == {second(2 * DAY - 1)}
    assert warnings(caplog) == []
    assert [entry["source"] for entry in entries(store)] == [*[HERE] * 2, *[THERE] * 2]


def test_other_filters_are_read_whole_and_going_back_reads_what_is_new(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    filtered = {**STRICT, "filters": {"leads": {"signals": ["a"]}}}
    run(api, store, STRICT)
    asked(api)
    run(api, store, filtered)
    assert second(-1) in starts(api)
    (line,) = warnings(caplog)
    told = "leads: The stream starts anew, as its filters have changed; "
    assert line.startswith(told)
    api.now = 3 * DAY
    for config in (STRICT, filtered):
        run(api, store, config)
        assert starts(api) == {second(2 * DAY - 1)}
        assert warnings(caplog) == []


def test_another_key_is_one_warning_and_reads_nothing_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(20)), Store()
    run(api, store, STRICT, selected=BOTH)
    api.now = 3 * DAY
    asked(api)
    for told in (1, 0):
        run(api, store, {**STRICT, "api_key": "rotated-key"}, selected=BOTH)
        lines = warnings(caplog)
        assert len(lines) == told
        assert all("the state of leads, observations was made" in x for x in lines)
    assert starts(api) == {second(2 * DAY - 1)}


def test_a_key_is_marked_once_a_run_and_only_where_there_is_a_state_to_write() -> None:
    key_mark.cache_clear()
    with mock.patch("tap_leadintent.replication.source.pbkdf2_hmac") as slow:
        slow.return_value = b"mark"
        assert TapLeadIntent(config={**DEFAULTS, **STRICT}).catalog_json_text
        run(Api(now=DAY), Store(), STRICT, selected=("signal_agents",))
        assert slow.call_count == 0
        run(Api(now=DAY), Store(), STRICT, selected=BOTH)
        assert slow.call_count == 1
    key_mark.cache_clear()


def test_a_state_of_a_former_release_goes_on_and_one_of_the_future_is_cut(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(60)), Store()
    ranges = ("date_found", "latest_signal")
    store.state = state_of(*((name, 0, 400 * DAY) for name in ranges))
    for days in (2, 3):
        api.now = days * DAY
        run(api, store, STRICT)
    (line,) = warnings(caplog)
    assert line.startswith("leads: Its state covers a time in the future, up to ")
    assert second(400 * DAY) in line
    assert store.rows.keys() == {f"lead-{n:04}" for n in range(48, 60)}
