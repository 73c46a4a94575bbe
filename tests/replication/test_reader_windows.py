"""Windows one after the other: order, edges, repeats, and servers that ignore them."""

from __future__ import annotations

import json

import pytest

from tap_leadintent.errors import RunError
from tests.support.model import DAY, HOUR, Api, lead, second, steady, width_of
from tests.support.model_runs import CONFIG, DAILY, run
from tests.support.store import Store
from tests.support.told import entries

pytestmark = pytest.mark.usefixtures("concurrency")


def covered_to(store: Store, name: str) -> str:
    """Give the end of a range's coverage."""
    ends: list[str] = [e["to"] for e in entries(store) if e["range"] == name]
    return max(ends)


@pytest.mark.parametrize("holds_start", [True, False])
@pytest.mark.parametrize("holds_end", [True, False])
def test_rows_on_the_edges_of_windows_arrive_exactly_once(
    *, holds_start: bool, holds_end: bool
) -> None:
    leads = [lead(n, n // 3 * DAY) for n in range(27)]
    api = Api(now=9 * DAY, leads=leads, holds_start=holds_start, holds_end=holds_end)
    store = Store()
    run(api, store, DAILY)
    ids = [message["record"]["id"] for message in store.of_type("RECORD")]
    assert sorted(ids) == [lead.id for lead in leads]


def test_a_state_follows_every_hundred_windows_that_hold_nothing() -> None:
    api, store = Api(now=10 * DAY, leads=[]), Store()
    run(api, store, {**CONFIG, "window_days": 0.01})
    assert 1002 <= sum("date_found" in body for body in api.requests) <= 1020
    coverages = [
        json.dumps(state["value"]["bookmarks"]["leads"]["coverage"])
        for state in store.of_type("STATE")
    ]
    assert 20 <= len({*coverages}) <= len(coverages) <= 25


def test_a_refused_cursor_starts_its_window_again(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=400, leads=steady(350, 1), refuses_cursors=3), Store()
    run(api, store, CONFIG)
    assert len(store.rows) == 350
    assert len(store.of_type("RECORD")) == 350
    assert caplog.text.count("refused a cursor") == 3


def test_a_server_that_ignores_latest_signal_is_noticed() -> None:
    api, store = Api(now=2 * DAY, leads=steady(60, 600)), Store()
    run(api, store, CONFIG)
    api.now, api.ignores_ranges = 40 * DAY, True
    api.requests.clear()
    config = {**DAILY, "lookback_minutes": 0}
    with pytest.raises(RunError, match="ignore"):
        run(api, store, config)
    assert covered_to(store, "latest_signal") == second(2 * DAY)


@pytest.mark.parametrize("leads", [60, 5], ids=["pages", "one page"])
def test_a_server_that_ignores_date_found_is_noticed(leads: int) -> None:
    api = Api(now=40 * DAY, leads=steady(leads, 600), ignores_ranges=True)
    store = Store()
    with pytest.raises(RunError, match="same records for different time ranges"):
        run(api, store, DAILY)
    assert covered_to(store, "date_found") < second(3 * DAY)


@pytest.mark.parametrize("refuses", [False, True], ids=["empty", "refused"])
def test_records_that_recur_in_all_windows_are_no_sign_of_that(
    *, refuses: bool
) -> None:
    api = Api(now=9 * DAY, leads=steady(35), recurring=True, refuses_the_past=refuses)
    store = Store()
    run(api, store, DAILY, selected=("observations",))
    assert len(store.rows) == 35
    starts = [body["observed_at"]["start_time"] for body in api.requests]
    assert sum(start.startswith("1970") for start in starts) == 1
    assert len(starts) >= 9 * 4


@pytest.mark.parametrize(
    ("status", "widest"), [(400, HOUR), (413, 7 * DAY), (422, HOUR)]
)
def test_a_range_that_is_refused_is_asked_for_in_narrower_windows(
    status: int, widest: float, caplog: pytest.LogCaptureFixture
) -> None:
    api, store = Api(now=99 * DAY, leads=steady(60, DAY / 6), widest=widest), Store()
    api.refuses_wide_with = status
    run(api, store, CONFIG)
    assert store.rows == {one.id: 0 for one in api.leads}
    assert covered_to(store, "latest_signal") == second(99 * DAY)
    assert len(api.refused) <= 10 + 8
    (line,) = [line for line in caplog.messages if "narrower" in line]
    accepted = float(line.partition("set window_days to ")[2].partition(",")[0])
    assert widest / 2 < accepted * DAY <= widest * 1.01


def test_a_chain_without_a_range_is_not_cut(caplog: pytest.LogCaptureFixture) -> None:
    api = Api(now=60 * DAY, leads=steady(9), refuses_unfiltered=True)
    with pytest.raises(RunError, match="422") as failed:
        run(api, Store(), {"page_size": 10})
    assert "window_days" not in caplog.text + str(failed.value)
    assert len(api.refused) == 1


@pytest.mark.parametrize("days", [1, 7, 31])
def test_window_days_bounds_what_is_asked_for(days: int) -> None:
    api = Api(now=400 * DAY, leads=steady(60, DAY), widest=days * DAY)
    store = Store()
    run(api, store, {**CONFIG, "window_days": days})
    assert not api.refused
    assert len(store.rows) == 60
    widths = [
        width_of(body[name])
        for body in api.requests
        for name in ("date_found", "latest_signal")
        if name in body
    ]
    assert max(widths) == days * DAY
