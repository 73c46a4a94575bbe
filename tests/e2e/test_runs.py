"""What is read again and what is not, from run to run, as real processes."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import cycle
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import API_KEY, RANGES
from tests.support.runs import (
    CLOCK,
    DAY,
    SINCE,
    TapProcess,
    after_since,
    asked,
    catalog,
    checkpoints,
    covered,
    fill,
    ids_between,
    instant,
    last_state,
)
from tests.support.servers import listening, read_request, response

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from socket import socket

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run


LOOKBACK = timedelta(days=1)
OVERLAP = timedelta(seconds=1)

EMPTY = b'{"data": [], "cursor": {"next": "", "has_more": false}}'

LATER = after_since(153)
LATEST = after_since(245.5)


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
    """Give the leads that no lookback of `date_found` touches.

    Args:
        times: The leads' times.
        edges: Newest covered instants.
    """
    touched: set[str] = set()
    for edge in edges:
        touched |= ids_between(
            times, "found_at", edge - LOOKBACK - OVERLAP, edge + OVERLAP
        )
    return times.keys() - touched


def test_the_newest_of_several_signals_comes_last(
    sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    sandbox.configure(api_key=API_KEY, sizes={"leads": 1000})
    sandbox.faults({"kind": "each_signal", "stream": "leads"})
    series = Series(tmp_path, sandbox, config, "leads")
    rows: dict[str, str] = {}
    for start in (LATER, LATEST, SINCE):
        run = series.run(start_date=start)
        for record in run.records("leads"):
            rows[record["id"]] = record["signal"]["observed_at"]
        for record in sandbox.records("leads"):
            shown = record["signal"]["observed_at"]
            assert instant(shown) < instant(start) or rows[record["id"]] == shown
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


@pytest.mark.parametrize(("size", "days"), [(500, 0), (0, 20)])
def test_a_run_that_finds_nothing_new_makes_one_request_for_each_range(
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
            assert len(asked(sandbox, stream, name)) == 1
            ((_, end),) = covered(last_state(run), stream, name)
            assert end == instant(sandbox.now())
    assert size or not any(run.records(stream) for stream in streams)


@pytest.mark.parametrize(
    ("batches", "size", "most"),
    [(1, 101, 2), (1, 150, 2), (4, 250, 20)],
    ids=["101 at once", "150 at once", "1,000 in four batches"],
)
def test_what_is_new_takes_at_most_twice_the_requests_of_one_chain(
    sandbox: Sandbox, leads: Series, batches: int, size: int, most: int
) -> None:
    leads.run(start_date=SINCE)
    now = instant(sandbox.advance(DAY))
    new = {f"{batch}-{n}" for batch in range(batches) for n in range(size)}
    for batch in range(batches):
        found_at = now - timedelta(hours=1 + 5 * batch)
        found = [{"id": name} for name in new if name.startswith(f"{batch}-")]
        sandbox.insert("leads", *found, found_at=found_at.isoformat())

    run = leads.run(start_date=SINCE)

    assert ids(run).keys() >= new
    assert len(asked(sandbox, "leads", "date_found")) <= most


def test_one_machine_of_three_whose_clock_is_off_costs_no_request(
    tmp_path: Path,
) -> None:
    now = datetime.now(UTC)
    config = {"api_key": API_KEY, "start_date": (now - timedelta(days=9)).isoformat()}
    sent = []
    for off in (0, 5):
        dates = cycle([now, now, now - timedelta(hours=off)])
        requests: list[str] = []

        def answer(connection: socket, dates: Any = dates, log: Any = requests) -> None:
            while read_request(connection):
                log.append(date := format_datetime(next(dates), usegmt=True))
                connection.sendall(response(EMPTY, f"Date: {date}"))

        with listening(answer) as (host, port):
            config["base_url"] = f"http://{host}:{port}"
            process = TapProcess(tmp_path, config, catalog=catalog("leads"))
            run = process.finish().succeeded()
        assert " 0 retries, " in run.stderr
        sent.append(len(requests))
    assert sent[0] == sent[1]


# Settings change


@pytest.mark.parametrize("lines", [None, 700], ids=["at once", "interrupted"])
def test_an_earlier_start_date_reads_what_was_found_before_once(
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
    assert rows.keys() >= older
    assert lines is not None or {*rows.values()} == {1}
    assert all(
        end <= instant(LATER) or start >= now - LOOKBACK - OVERLAP for start, end in log
    )
    leads.run(start_date=SINCE)
    for name in RANGES["leads"]:
        assert covered(leads.state, "leads", name) == [(instant(SINCE), now)]
        ((start, _),) = asked(sandbox, "leads", name)
        assert start >= now - LOOKBACK - OVERLAP


def test_moving_the_start_date_on_and_back_reads_the_hole_once(
    sandbox: Sandbox, leads: Series
) -> None:
    leads.run(start_date=SINCE)
    now = instant(sandbox.advance(20 * DAY))
    times = sandbox.times("leads")
    first_end, moved = instant(CLOCK), now - timedelta(days=5)

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
    # All signals from the hole on are read again, so that the newest come last.
    since = first_end - LOOKBACK
    signals = ids_between(times, "observed_at", since - OVERLAP, now + OVERLAP)
    calm = settled(times, first_end, now) - signals
    assert all(rows[lead] == (lead in hole) for lead in calm)
    assert rows.keys() >= hole
    assert {*rows.values()} == {1}
    assert asked(sandbox, "leads", "latest_signal")[0][0] == since - OVERLAP
    for name in RANGES["leads"]:
        assert covered(leads.state, "leads", name) == [(instant(SINCE), now)]


@pytest.mark.parametrize("shards", [(0, 1), (1, 0)], ids=["in order", "newer first"])
def test_shards_and_then_an_unbounded_run_read_what_was_found_once(
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
        assert not asked(sandbox, "leads", "latest_signal")
        rows.update(ids(run))
    calm = ids_between(times, "found_at", instant(SINCE), instant(LATEST))
    calm &= settled(times, instant(LATER), instant(LATEST))
    assert len(calm) > 1500
    assert all(rows[lead] == 1 for lead in calm)
    last = ids(leads.run(start_date=SINCE))

    unsettled = LOOKBACK + OVERLAP
    assert all(
        start >= instant(LATEST) - unsettled
        or instant(LATER) - unsettled <= start < end <= instant(LATER)
        for start, end in asked(sandbox, "leads", "date_found")
    )
    assert {*last.values()} == {1}
    assert rows.keys() | last.keys() == times.keys()
    span = (instant(SINCE), instant(CLOCK))
    for name in RANGES["leads"]:
        assert covered(leads.state, "leads", name) == [span]


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
