"""Rows whose time moves, forward or backward, while several windows are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.model import DAY, HOUR, Api, Lead, Version, iso
from tests.support.model_runs import DAILY, run
from tests.support.reading import in_one_thread
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("_quiet")


LOOKBACK = HOUR
CONFIG: dict[str, Any] = {
    "start_date": iso(0),
    "page_size": 3,
    "lookback_minutes": LOOKBACK // 60,
}


def load(api: Api, store: Store, seed: int, **config: Any) -> None:
    """Run the tap over `monitored_leads`, its requests in the order of a seed."""
    with in_one_thread(seed):
        assert run(api, store, {**CONFIG, **config}, selected=("monitored_leads",))


def test_the_newest_of_several_signals_is_emitted_last() -> None:
    """Also where the first range has shown it before, so that it has not changed."""
    api, store = Api(now=9 * DAY, at_each_signal=True), Store()
    api.leads = [Lead("a", HOUR, [Version(n * DAY, n * DAY) for n in range(1, 6)])]
    run(api, store, {**DAILY, "start_date": iso(0)})
    records = [message["record"] for message in store.of_type("RECORD")]
    told = [row["additional_properties"]["version"] for row in records]
    assert told == [4, 0, 1, 2, 3, 4]


@st.composite
def histories(draw: st.DrawFn) -> Api:
    """Draw an API whose rows move to times that the lookback of the next run reads."""
    now = draw(st.sampled_from([3 * DAY, 60 * DAY]))
    seconds = draw(st.sampled_from([1, 20]))
    # Most rows stay: they only spread the load over windows.
    count = draw(st.integers(10, 150))
    leads = [
        Lead(f"stays-{n:03}", 0, [Version(0, n * now // count)]) for n in range(count)
    ]
    anywhere = st.integers(0, now)
    for number in range(draw(st.integers(1, 30))):
        moving = [Version(0, draw(anywhere))]
        for moment in sorted(draw(st.sets(st.integers(0, 60), max_size=3))):
            shown = now + moment * seconds
            moving.append(Version(shown, shown - draw(st.integers(0, LOOKBACK))))
        # Ids in any order, so that pages sorted by id are not sorted by time.
        leads.append(Lead(f"{draw(st.integers(0, 9))}-moves-{number}", 0, moving))
    return Api(
        now=now,
        leads=leads,
        seconds_to_query=seconds,
        holds_start=draw(st.booleans()),
        holds_end=draw(st.booleans()),
        by_id=draw(st.booleans()),
        newest_first=draw(st.booleans()),
    )


several = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
seeds = st.integers(0, 2**32)
readers = st.sampled_from([1, 2, 8])


@several
@given(api=histories(), concurrency=readers, seed=seeds)
def test_the_first_load_and_the_next_run_give_the_truth(
    api: Api, concurrency: int, seed: int
) -> None:
    store = Store()
    load(api, store, seed, concurrency=concurrency)
    api.now += 2 * HOUR
    shown = api.shown()
    load(api, store, seed, concurrency=concurrency)
    kept = {row: store.rows.get(row, -1) for row in shown}
    assert not {row: kept[row] for row in shown if kept[row] < shown[row]}
