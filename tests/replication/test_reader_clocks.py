"""Runs whose clock, query and answer lie apart; `model` is the API."""

from __future__ import annotations

import pytest

from tap_leadintent.errors import RunError
from tests.support.model import DAY, HOUR, Api, lead, second, steady
from tests.support.model_runs import CONFIG, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("concurrency")

STRICT = {**CONFIG, "lookback_minutes": 0}


def covered(store: Store, name: str = "date_found") -> list[tuple[str, str]]:
    """Give the intervals of a range in the last STATE."""
    coverage = store.state["bookmarks"]["leads"]["coverage"]
    return [(e["from"], e["to"]) for e in coverage if e["range"] == name]


@pytest.mark.parametrize("ahead", [0, 90, 3 * HOUR, -3 * HOUR])
def test_what_appears_while_an_answer_is_on_its_way_is_read_by_the_next_run(
    ahead: int,
) -> None:
    api = Api(now=DAY, leads=steady(2000, 60))
    store = Store()
    for _ in range(3):
        run(api, store, {**STRICT, "page_size": 100}, clock_ahead=ahead)
        ((_, end),) = covered(store)
        found = {one.id for one in api.leads if second(one.found_at) < end}
        assert found <= set(store.rows)
        api.now += HOUR / 2
        api.seconds_to_answer = 130
    assert end >= second(DAY + HOUR / 2 + min(ahead, 0))


def test_a_signal_that_moves_while_the_first_answer_is_on_its_way_is_read() -> None:
    now = 2 * DAY
    mover = lead(0, HOUR, HOUR, now + 60)
    api = Api(now=now, leads=[mover], seconds_to_answer=70)
    store = Store()
    run(api, store, STRICT, clock_ahead=90)
    assert store.rows == {"lead-0000": 0}
    api.now += HOUR
    run(api, store, STRICT)
    assert store.rows == {"lead-0000": 1}


@pytest.mark.parametrize("ahead", [0, 2, 90, 3 * HOUR])
def test_a_server_that_refuses_what_it_calls_the_future_is_asked_up_to_its_present(
    ahead: int,
) -> None:
    api = Api(now=2 * DAY, leads=steady(100), refuses_the_future=True)
    store = Store()
    for days in (2, 3):
        api.now = days * DAY
        run(api, store, STRICT, clock_ahead=ahead)
        (_, end), *_ = covered(store)
        assert end == second(api.now)
    assert len(store.rows) == 73


def test_a_range_that_is_refused_for_another_reason_is_soon_asked_for_no_more(
    caplog: pytest.LogCaptureFixture, concurrency: int
) -> None:
    api = Api(now=2 * DAY, leads=steady(35), refuses_the_past=True)
    config = {**STRICT, "start_date": "1970-06-01"}
    with pytest.raises(RunError, match="that was long ago"):
        run(api, Store(), config)
    assert len(api.requests) <= concurrency + 20
    assert "clock" not in caplog.text


@pytest.mark.parametrize("odd", [-700 * DAY, -5 * HOUR, 5 * HOUR])
@pytest.mark.parametrize("answer", [0, 1, 3])
def test_one_machine_with_an_odd_clock_costs_neither_rows_nor_coverage(
    odd: int, answer: int
) -> None:
    api = Api(now=2 * DAY, leads=steady(300, 500), odd_clocks={answer: odd})
    store = Store()
    run(api, store, {**STRICT, "max_retries": 2})
    assert covered(store) == [(second(0), second(2 * DAY))]
    # Where nothing is new, one answer is all there is, and no other agrees with it.
    api.now = 3 * DAY
    run(api, store, {**STRICT, "max_retries": 2})
    assert covered(store)[0][1] >= second(2 * DAY)
    api.odd_clocks = {}
    run(api, store, {**STRICT, "max_retries": 2})
    assert covered(store) == [(second(0), second(3 * DAY))]
    assert len(store.rows) == 300


def test_a_clock_that_is_wrong_here_costs_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(48)), Store()
    run(api, store, STRICT, clock_ahead=3 * HOUR)
    requests = len(api.requests)
    api, right = Api(now=2 * DAY, leads=steady(48)), Store()
    run(api, right, STRICT)
    assert store.rows == right.rows
    assert store.state == right.state
    assert requests <= len(api.requests) + 1
    assert caplog.text.count("By the server's clock") == 1


def test_a_clock_far_behind_the_servers_gets_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, store = Api(now=2 * DAY, leads=steady(48)), Store()
    run(api, store, STRICT, clock_ahead=-3 * HOUR)
    line = f"By the server's clock it is {second(2 * DAY)}, 3:00:00 ahead of ours"
    assert caplog.text.count(line) == 1
    assert covered(store) == [(second(0), second(2 * DAY - 3 * HOUR))]
