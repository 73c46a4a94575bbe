"""Rows whose time moves, forward or backward, while several windows are read."""

from __future__ import annotations

import json
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from tap_leadintent.errors import RunError
from tests.support.model import DAY, HOUR, Api, Lead, Version, iso, second
from tests.support.model_runs import DAILY, Adapter, run
from tests.support.store import Store
from tests.support.turns import TurnAdapter, in_turns

if TYPE_CHECKING:
    import requests
    from requests import PreparedRequest


pytestmark = pytest.mark.usefixtures("_quiet")


LOOKBACK = HOUR
CONFIG: dict[str, Any] = {
    "start_date": iso(0),
    "page_size": 3,
    "lookback_minutes": LOOKBACK // 60,
}


def load(api: Api, store: Store, seed: int, **config: Any) -> None:
    """Run the tap over `monitored_leads`, its threads in the order of a seed."""
    with in_turns(seed) as turns:
        assert run(
            api,
            store,
            {**CONFIG, **config},
            selected=("monitored_leads",),
            adapter=TurnAdapter(api, turns),
        )


def versions(store: Store) -> dict[str, list[int]]:
    """Give the versions of each row in the order in which they were emitted."""
    emitted: dict[str, list[int]] = {}
    for message in store.of_type("RECORD"):
        record = message["record"]
        version = record["additional_properties"]["version"]
        emitted.setdefault(record["id"], []).append(version)
    return emitted


class Crossing(Adapter):
    """Reads the two windows of two days at once, and lets rows move in between."""

    def __init__(self, api: Api, *, newer_first: bool) -> None:
        super().__init__(api)
        self._first = [second(DAY), second(2 * DAY)][newer_first]
        self._is_read, self._has_come = Event(), Event()

    @override
    def send(
        self, request: PreparedRequest, *args: Any, **kwargs: Any
    ) -> requests.Response:
        asked = json.loads(request.body or "")["latest_activity"]["end_time"]
        if asked == self._first and not self._is_read.is_set():
            response = super().send(request)
            self.api.now += HOUR
            self._is_read.set()
            assert self._has_come.wait(60)
        else:
            assert self._is_read.wait(60)
            response = super().send(request)
            self.api.now += 1
            self._has_come.set()
        return response


def read_at_once(api: Api, store: Store, *, newer_first: bool) -> None:
    """Read two windows at once, one of them first, though it comes last."""
    run(
        api,
        store,
        {**DAILY, "concurrency": 2},
        selected=("monitored_leads",),
        adapter=Crossing(api, newer_first=newer_first),
    )


def cross(*leads: Lead, newer_first: bool) -> list[tuple[str, str]]:
    """Give each record that is emitted: its id, and its time."""
    api, store = Api(now=2 * DAY, leads=[*leads], seconds_per_request=1), Store()
    read_at_once(api, store, newer_first=newer_first)
    assert len(api.requests) == 3, "one for each window, and one again"
    records = [message["record"] for message in store.of_type("RECORD")]
    return [
        (row["id"], row["additional_properties"]["signal"]["observed_at"])
        for row in records
    ]


OLD, NEW = 3 * HOUR, DAY + 5 * HOUR
STAYS = Lead("stays", 0, [Version(0, NEW)])


def test_a_row_that_moves_backward_ends_as_it_is() -> None:
    mover = Lead("mover", 0, [Version(0, NEW), Version(2 * DAY + 60, OLD)])
    told = cross(mover, STAYS, newer_first=True)
    assert told == [("mover", iso(OLD)), ("stays", iso(NEW))]


def test_a_row_that_moves_forward_ends_as_it_is() -> None:
    mover = Lead("mover", 0, [Version(0, OLD), Version(2 * DAY + 60, NEW)])
    told = cross(mover, STAYS, newer_first=False)
    assert told == [("mover", iso(OLD)), ("stays", iso(NEW)), ("mover", iso(NEW))]


@pytest.mark.parametrize("newer_first", [True, False])
def test_a_row_that_is_shown_at_each_of_its_times_ends_at_the_latest(
    *, newer_first: bool
) -> None:
    times = [Lead("twice", 0, [Version(0, time)]) for time in (OLD, NEW)]
    told = cross(*times, newer_first=newer_first)
    assert told == [("twice", iso(OLD)), ("twice", iso(NEW))]


def test_a_page_that_cannot_be_read_again_is_left_to_the_next_run() -> None:
    mover = Lead("mover", 0, [Version(0, OLD), Version(2 * DAY + 60, NEW)])
    api, store = Api(now=2 * DAY, leads=[mover], seconds_per_request=1), Store()
    api.forbidden_at = 2
    with pytest.raises(RunError, match=r"monitored_leads: .*403"):
        read_at_once(api, store, newer_first=False)
    (entry,) = store.state["bookmarks"]["monitored_leads"]["coverage"]
    assert entry["to"] == second(DAY)
    load(api, store, 0)
    assert store.rows == {"mover": 1}


@st.composite
def histories(draw: st.DrawFn, *, far: bool) -> Api:
    """Draw an API whose rows move while the first load reads them.

    Args:
        draw: Draws.
        far: Whether rows may move anywhere, as when a signal is retracted, or only to
            times that the lookback of the next run reads.
    """
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
            is_far = far and draw(st.booleans())
            to = draw(anywhere) if is_far else shown - draw(st.integers(0, LOOKBACK))
            moving.append(Version(shown, to))
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
@given(api=histories(far=False), concurrency=readers, seed=seeds)
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


@several
@given(
    api=histories(far=True), concurrency=readers, seed=seeds, by_offset=st.booleans()
)
def test_no_row_is_emitted_in_an_older_version_last(
    api: Api, concurrency: int, seed: int, *, by_offset: bool
) -> None:
    api.by_offset = by_offset
    store = Store()
    load(api, store, seed, concurrency=concurrency)
    back = {row: told for row, told in versions(store).items() if told != sorted(told)}
    assert not back
