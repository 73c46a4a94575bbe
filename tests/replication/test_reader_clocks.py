"""Runs whose clock, query and answer lie apart; `model` is the API."""

from __future__ import annotations

import pytest

from tap_leadintent.errors import RunError
from tests.support.model import DAY, HOUR, Api, second, steady
from tests.support.model_runs import run
from tests.support.store import Store
from tests.support.told import STRICT, entries

pytestmark = pytest.mark.usefixtures("concurrency")

BOTH = ("date_found", "latest_signal")


def covered(store: Store) -> list[tuple[str, str, str]]:
    """Give what the last STATE covers, each interval with its range."""
    return [(e["range"], e["from"], e["to"]) for e in entries(store)]


def up_to(end: float) -> list[tuple[str, str, str]]:
    """Give what it covers where nothing is missing."""
    return [(name, second(0), second(end)) for name in BOTH]


@pytest.mark.parametrize("ahead", [0, 90, 3 * HOUR, -3 * HOUR])
def test_what_appears_while_an_answer_is_on_its_way_is_read_by_the_next_run(
    ahead: int,
) -> None:
    api = Api(now=DAY, leads=steady(2000, 60))
    store = Store()
    for _ in range(3):
        run(api, store, {**STRICT, "page_size": 100}, clock_ahead=ahead)
        end = entries(store)[0]["to"]
        found = {one.id for one in api.leads if second(one.found_at) < end}
        assert found <= set(store.rows)
        api.now += HOUR / 2
        api.seconds_to_answer = 130
    # It is up to the earlier of the two clocks.
    assert end >= second(DAY + HOUR / 2 + min(ahead, 0))


@pytest.mark.parametrize("ahead", [0, 2, 3 * HOUR])
def test_a_server_that_refuses_what_it_calls_the_future_is_asked_up_to_its_present(
    ahead: int,
) -> None:
    api = Api(now=2 * DAY, leads=steady(100), refuses_the_future=True)
    store = Store()
    for days in (2, 3):
        api.now = days * DAY
        run(api, store, STRICT, clock_ahead=ahead)
        assert covered(store) == up_to(api.now)
    assert len(store.rows) == 73


def test_a_server_that_refuses_a_range_for_another_reason_is_believed() -> None:
    """Also where its clock is behind, so that the range lies in its future."""
    api = Api(now=2 * DAY, leads=steady(35), refuses_the_past=True)
    config = {**STRICT, "start_date": "1970-06-01"}
    for ahead in (0, 3 * HOUR, 900 * DAY):
        with pytest.raises(RunError, match="that was long ago"):
            run(api, Store(), config, clock_ahead=ahead)


@pytest.mark.parametrize("odd", [-700 * DAY, -5 * HOUR, 5 * HOUR])
@pytest.mark.parametrize("answer", [0, 1, 3])
def test_one_machine_with_an_odd_clock_costs_no_rows_and_no_requests(
    odd: int, answer: int
) -> None:
    leads = steady(300, 500)
    right, odder = Api(now=2 * DAY, leads=leads), Api(now=2 * DAY, leads=leads)
    odder.odd_clocks = {answer: odd}
    run(right, Store(), STRICT)
    store = Store()
    run(odder, store, STRICT)
    assert len(store.rows) == 300
    # Eight readers do not always ask for the same windows.
    assert abs(len(odder.requests) - len(right.requests)) <= 10
    # What its answers did not prove is read again.
    odder.odd_clocks = {}
    run(odder, store, STRICT)
    assert covered(store) == up_to(2 * DAY)
    # They take nothing back of what was covered before.
    odder.now, odder.odd_clocks = 3 * DAY, dict.fromkeys(range(9), -700 * DAY)
    run(odder, store, STRICT)
    assert covered(store) == up_to(2 * DAY)
