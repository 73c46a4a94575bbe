"""What is read again and what is not, from run to run, as real processes."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import RANGES
from tests.support.runs import (
    CLOCK,
    DAY,
    SINCE,
    after_since,
    asked,
    covered,
    fill,
    instant,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

LOOKBACK = timedelta(days=1)
OVERLAP = timedelta(seconds=1)

LATER = after_since(153)
LATEST = after_since(245.5)


@pytest.fixture
def go_on(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> Callable[..., Run]:
    """Run the tap from the state of the run before; the log is of this run alone."""
    last: list[Run] = []

    def go_on(**settings: Any) -> Run:
        sandbox.clear_requests()
        state = last[-1].state if last else None
        last.append(tap({**config, "start_date": SINCE, **settings}, state=state))
        return last[-1].succeeded()

    return go_on


def ids(run: Run) -> Counter[str]:
    """Count the leads of a run by their ids."""
    return Counter(record["id"] for record in run.records("leads"))


@pytest.mark.parametrize("stream", ["leads", "signal_accounts"])
def test_old_signals_found_now_and_new_signals_of_what_is_known_arrive(
    sandbox: Sandbox, go_on: Callable[..., Run], stream: str
) -> None:
    fill(sandbox, **{stream: 500})
    go_on()
    times = sandbox.times(stream)
    known = min(times, key=lambda key: times[key]["found_at"])
    record = next(r for r in sandbox.records(stream) if r["id"] == known)
    now = instant(sandbox.advance(3 * DAY))
    an_hour_ago = (now - timedelta(hours=1)).isoformat()
    long_ago = (now - timedelta(days=40)).isoformat()
    moved = {**record, "signal": {**record["signal"], "observed_at": an_hour_ago}}
    late = {"id": "late", "signal": {**record["signal"], "observed_at": long_ago}}
    sandbox.insert(stream, moved, observed_at=an_hour_ago)
    sandbox.insert(stream, late, found_at=an_hour_ago, observed_at=long_ago)

    signals = {
        row["id"]: (row.get("signal") or row["additional_properties"]["signal"])
        for row in go_on().records(stream)
    }
    assert instant(signals["late"]["observed_at"]) == instant(long_ago)
    assert instant(signals[known]["observed_at"]) == instant(an_hour_ago)
    assert len(signals) < 100

    run = go_on()
    for name in RANGES[stream]:
        assert len(asked(sandbox, stream, name)) == 1
        ((_, end),) = covered(run.state, stream, name)
        assert end == now


def test_shards_and_then_an_unbounded_run_read_what_was_found_once(
    sandbox: Sandbox, go_on: Callable[..., Run]
) -> None:
    fill(sandbox, leads=1000)
    rows: Counter[str] = Counter()
    for start, end in ((LATER, LATEST), (SINCE, LATER)):
        rows += ids(go_on(start_date=start, end_date=end))
        assert all(
            instant(start) - OVERLAP <= a < b <= instant(end)
            for a, b in asked(sandbox, "leads", "date_found")
        )
        assert not asked(sandbox, "leads", "latest_signal")
    run = go_on()

    # Of what the shards have read, the lookback at the end of each is read again.
    unsettled = LOOKBACK + OVERLAP
    assert all(
        start >= instant(LATEST) - unsettled
        or instant(LATER) - unsettled <= start < end <= instant(LATER)
        for start, end in asked(sandbox, "leads", "date_found")
    )
    assert {*ids(run).values()} == {1}
    assert rows.keys() | ids(run).keys() == sandbox.times("leads").keys()
    for name in RANGES["leads"]:
        assert covered(run.state, "leads", name) == [(instant(SINCE), instant(CLOCK))]


def test_another_address_is_read_whole_and_going_back_reads_what_is_new(
    sandbox: Sandbox, go_on: Callable[..., Run]
) -> None:
    """A state from one address says nothing of another, even with the same server."""
    fill(sandbox, leads=1000)
    other = sandbox.url.replace("127.0.0.1", "localhost")
    first, moved, back = go_on(), go_on(base_url=other), go_on()

    assert ids(moved) == ids(first)
    line = f"base_url is {other}, but the state of "
    assert moved.stderr.count(line) == 1
    assert "base_url is" not in back.stderr
    assert ids(back).total() < ids(first).total() / 10
