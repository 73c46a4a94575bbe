"""What is read again and what is not, from run to run, as real processes."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import RANGES
from tests.support.runs import (
    CLOCK,
    DAY,
    SINCE,
    TapProcess,
    asked,
    catalog,
    checkpoints,
    covered,
    fill,
    ids_between,
    instant,
    last_state,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run


LOOKBACK = timedelta(days=1)
OVERLAP = timedelta(seconds=1)

LATER = "2024-11-01T00:00:00Z"
LATEST = "2025-02-01T12:30:00Z"


class Series:
    """Runs of the tap, each with the state that the one before it left."""

    def __init__(
        self, folder: Path, sandbox: Sandbox, config: Mapping[str, Any], *streams: str
    ) -> None:
        self._folder = folder
        self._sandbox = sandbox
        self._config = config
        self._catalog = catalog(*streams)
        self.state: Any = None

    def start(self, **settings: Any) -> TapProcess:
        """Start a run; the sandbox then logs its requests only."""
        self._sandbox.clear_requests()
        config = {**self._config, **settings}
        state = self.state
        return TapProcess(self._folder, config, catalog=self._catalog, state=state)

    def run(self, **settings: Any) -> Run:
        """Run to the end."""
        run = self.start(**settings).finish().succeeded()
        self.state = last_state(run)
        return run


@pytest.fixture
def leads(sandbox: Sandbox, config: dict[str, Any], tmp_path: Path) -> Series:
    """Read 3,000 leads, and nothing else."""
    fill(sandbox, leads=3000)
    return Series(tmp_path, sandbox, config, "leads")


def ids(run: Run) -> Counter[str]:
    """Count the leads of a run by their ids."""
    return Counter(record["id"] for record in run.records("leads"))


def settled(times: Mapping[str, Mapping[str, str]], *edges: datetime) -> set[str]:
    """Give the leads that no lookback touches.

    Args:
        times: The leads' times.
        edges: Newest covered instants of `date_found`, and last the present, which
            is also that of `latest_signal`.
    """
    touched = ids_between(
        times, "observed_at", edges[-1] - LOOKBACK - OVERLAP, edges[-1] + OVERLAP
    )
    for edge in edges:
        touched |= ids_between(
            times, "found_at", edge - LOOKBACK - OVERLAP, edge + OVERLAP
        )
    return times.keys() - touched


def test_the_newest_of_several_signals_comes_last(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    fill(sandbox, leads=1000)
    sandbox.configure(signals="each")
    series = Series(tmp_path, sandbox, config, "leads")
    rows: dict[str, str] = {}
    for start in ("2025-01-01", "2025-03-01", SINCE):
        run = series.run(start_date=start)
        for record in run.records("leads"):
            rows[record["id"]] = record["signal"]["observed_at"]
        since = instant(SINCE if start == SINCE else f"{start}T00:00:00Z")
        for record in sandbox.records("leads"):
            shown = record["signal"]["observed_at"]
            assert instant(shown) < since or rows[record["id"]] == shown
        sandbox.advance(3 * DAY)


# The clock moves


@pytest.mark.parametrize("stream", ["leads", "signal_accounts"])
def test_old_signals_found_now_and_new_signals_of_what_is_known_arrive(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path, stream: str
) -> None:
    fill(sandbox, **{stream: 500})
    series = Series(tmp_path, sandbox, config, stream)
    series.run(start_date=SINCE)
    times = sandbox.times(stream)
    known = min(times, key=lambda key: times[key]["found_at"])
    record = next(r for r in sandbox.records(stream) if r["id"] == known)
    now = instant(sandbox.advance(3 * DAY))
    an_hour_ago = (now - timedelta(hours=1)).isoformat()
    long_ago = (now - timedelta(days=40)).isoformat()
    moved = {**record, "signal": {**record["signal"], "observed_at": an_hour_ago}}
    late = {"id": "late", "signal": {**record["signal"], "observed_at": long_ago}}
    sandbox.insert(stream, moved)
    sandbox.insert(stream, late, found_at=an_hour_ago)

    run = series.run(start_date=SINCE)

    signals = {
        row["id"]: (row.get("signal") or row["additional_properties"]["signal"])
        for row in run.records(stream)
    }
    assert instant(signals["late"]["observed_at"]) == instant(long_ago)
    assert instant(signals[known]["observed_at"]) == instant(an_hour_ago)
    assert len(signals) < 100


@pytest.mark.parametrize(("size", "days"), [(500, 0), (0, 365)])
def test_a_run_that_finds_nothing_new_makes_at_most_two_requests_for_each_range(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path, size: int, days: int
) -> None:
    # Leads would appear as time passes, however few there are.
    streams = [name for name in RANGES if size or name != "leads"]
    fill(sandbox, **dict.fromkeys(streams, size))
    series = Series(tmp_path, sandbox, config, *streams)
    for _ in range(2):
        series.run(start_date=SINCE)
    sandbox.advance(days * DAY)
    run = series.run(start_date=SINCE)

    for stream in streams:
        for name in RANGES[stream]:
            assert 1 <= len(asked(sandbox, stream, name)) <= 2
            ((_, end),) = covered(last_state(run), stream, name)
            assert end == instant(sandbox.now())
    assert len(sandbox.requests()) <= 2 * sum(len(RANGES[name]) for name in streams)
    assert size or not any(run.records(stream) for stream in streams)


# Settings change


@pytest.mark.parametrize("lines", [None, 700], ids=["at once", "interrupted"])
def test_an_earlier_start_date_reads_the_older_stretch_once(
    sandbox: Sandbox, leads: Series, lines: int | None
) -> None:
    leads.run(start_date=LATER)
    times = sandbox.times("leads")
    rows: Counter[str] = Counter()
    log = []
    if lines is not None:
        process = leads.start(start_date=SINCE)
        process.read(lines)
        killed = process.kill()
        *_, sealed = checkpoints(killed, "leads")
        assert sealed.written
        rows.update(sealed.written)
        leads.state = sealed.state
        log = asked(sandbox, "leads", "date_found")
    rows.update(ids(leads.run(start_date=SINCE)))
    log += asked(sandbox, "leads", "date_found")

    now = instant(CLOCK)
    older = ids_between(times, "found_at", instant(SINCE), instant(LATER))
    assert len(older) > 1000
    calm = settled(times, now)
    assert all(rows[lead] == (lead in older) for lead in calm)
    assert rows.keys() >= older
    assert all(
        end <= instant(LATER) or start >= now - LOOKBACK - OVERLAP for start, end in log
    )
    assert covered(leads.state, "leads", "date_found") == [(instant(SINCE), now)]


def test_moving_the_start_date_on_and_back_reads_the_hole_once(
    sandbox: Sandbox, leads: Series
) -> None:
    leads.run(start_date=SINCE)
    now = instant(sandbox.advance(30 * DAY))
    times = sandbox.times("leads")
    first_end, moved = instant(CLOCK), now - timedelta(days=10)

    leads.run(start_date=moved.isoformat())
    assert all(
        start >= moved - OVERLAP for start, _ in asked(sandbox, "leads", "date_found")
    )
    before, after = covered(leads.state, "leads", "date_found")
    assert before == (instant(SINCE), first_end - LOOKBACK)
    assert after == (moved, now)

    rows = ids(leads.run(start_date=SINCE))
    hole = ids_between(times, "found_at", first_end, moved)
    assert len(hole) > 100
    calm = settled(times, first_end, now)
    assert all(rows[lead] == (lead in hole) for lead in calm)
    assert rows.keys() >= hole
    assert covered(leads.state, "leads", "date_found") == [(instant(SINCE), now)]


@pytest.mark.parametrize("shards", [(0, 1), (1, 0)], ids=["in order", "newer first"])
def test_shards_and_then_an_unbounded_run_read_each_stretch_once(
    sandbox: Sandbox, leads: Series, shards: tuple[int, ...]
) -> None:
    times = sandbox.times("leads")
    edges = [SINCE, LATER, LATEST]
    rows: Counter[str] = Counter()
    for shard in shards:
        start, end = edges[shard : shard + 2]
        run = leads.run(start_date=start, end_date=end)
        found = ids_between(times, "found_at", instant(start), instant(end))
        assert ids(run).keys() >= found
        assert all(
            instant(start) - OVERLAP <= a < b <= instant(end)
            for a, b in asked(sandbox, "leads", "date_found")
        )
        rows.update(ids(run))
    rows.update(ids(leads.run(start_date=SINCE)))

    calm = settled(times, instant(LATER), instant(LATEST), instant(CLOCK))
    assert len(calm) > 2500
    assert all(rows[lead] == 1 for lead in calm)
    assert rows.keys() == times.keys()
    span = (instant(SINCE), instant(CLOCK))
    assert covered(leads.state, "leads", "date_found") == [span]


def test_changed_filters_start_anew_with_a_warning_and_going_back_does_not(
    sandbox: Sandbox, leads: Series
) -> None:
    warning = "starts anew: its filters have changed"
    kinds = Counter(record["signal"]["type"] for record in sandbox.records("leads"))
    wanted, count = kinds.most_common(1)[0]
    filters = {"leads": {"signals": [wanted]}}
    first = leads.run(start_date=SINCE)
    second = leads.run(start_date=SINCE, filters=filters)
    again = leads.run(start_date=SINCE, filters=filters)
    without = leads.run(start_date=SINCE)

    assert [warning in run.stderr for run in (first, second, again, without)] == [
        *(False, True, False, False)
    ]
    assert ids(second).total() == len(ids(second)) == count
    assert ids(again).total() < count / 10
    assert ids(without).total() < ids(first).total() / 10


def test_another_address_is_read_whole_and_going_back_reads_what_is_new(
    sandbox: Sandbox, leads: Series
) -> None:
    """A state from one address says nothing of another, even with the same server."""
    other = sandbox.url.replace("127.0.0.1", "localhost")
    first = leads.run(start_date=SINCE)
    moved = leads.run(start_date=SINCE, base_url=other)
    back = leads.run(start_date=SINCE)

    assert ids(moved) == ids(first)
    (line,) = (line for line in moved.stderr.splitlines() if "base_url is" in line)
    assert f"base_url is {other}, but the state of leads was made with" in line
    assert line.count(sandbox.url) == 1
    assert "base_url is" not in back.stderr
    assert ids(back).total() < ids(first).total() / 10
