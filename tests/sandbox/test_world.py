"""The clock, and what happens when it moves."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.sandbox.endpoints import ENDPOINTS
from tap_leadintent.sandbox.times import DAY, SECOND, parse_time
from tests.support.asking import EVER, NOW, everything, read

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

MONTH = timedelta(days=30).total_seconds()


def by_id(records: list[Any]) -> dict[str, Any]:
    return {record["id"]: record for record in records}


def test_clock_stands_still(sandbox: Sandbox) -> None:
    assert sandbox.now() == sandbox.now() == NOW


def test_clock_moves_forward_only(sandbox: Sandbox) -> None:
    assert sandbox.advance(90.5) == "2026-06-01T00:01:30.500Z"
    assert sandbox.set_clock("2026-06-02T02:00:00+02:00") == "2026-06-02T00:00:00Z"
    with pytest.raises(ValueError, match="only moves forward"):
        sandbox.set_clock(NOW)
    with pytest.raises(ValueError, match="only moves forward"):
        sandbox.advance(-1)


def test_seed_changes_everything(sandbox: Sandbox) -> None:
    before = everything(sandbox)
    sandbox.configure(seed=2)
    after = everything(sandbox)
    for stream in ENDPOINTS:
        assert len(before[stream]) == len(after[stream])
        assert not by_id(before[stream]).keys() & by_id(after[stream]).keys()


@pytest.mark.parametrize("leads", [0, 230])
def test_new_leads_every_day(sandbox: Sandbox, leads: int) -> None:
    sandbox.configure(sizes={"leads": leads})
    counts = []
    for _ in range(10):
        counts.append(len(sandbox.records("leads")))
        sandbox.advance(DAY / SECOND)
    assert all(before < after for before, after in pairwise(counts))


def test_rate_is_that_of_the_history(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"leads": 3650})
    sandbox.advance(MONTH)
    assert len(sandbox.records("leads")) == 3650 + 300


def test_new_leads_are_found_after_the_old_clock(sandbox: Sandbox) -> None:
    before = by_id(sandbox.records("leads"))
    now = sandbox.advance(MONTH)
    window = {"start_time": NOW, "end_time": now}
    added = by_id(read(sandbox, "leads", date_found=window))
    assert by_id(sandbox.records("leads")).keys() == before.keys() | added.keys()
    assert not before.keys() & added.keys()


def test_some_leads_surface_late(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"leads": 2000})
    times = sandbox.times("leads").values()
    lags = [
        parse_time(each["found_at"]) - parse_time(each["observed_at"]) for each in times
    ]
    late = sum(30 * DAY <= lag <= 60 * DAY + SECOND for lag in lags)
    assert 40 <= late <= 130
    assert not any(lag > 61 * DAY for lag in lags)
    assert any(lag < 0 for lag in lags), "some moved before the clock"


def test_signals_move(sandbox: Sandbox) -> None:
    before = by_id(sandbox.records("leads"))
    now = sandbox.advance(MONTH)
    after = by_id(sandbox.records("leads"))
    moved = [name for name in before if before[name] != after[name]]
    assert moved
    window = {"start_time": "2026-05-31T23:00:00Z", "end_time": now}
    latest = by_id(read(sandbox, "leads", latest_signal=window))
    for name in moved:
        old, new = before[name].pop("signal"), after[name].pop("signal")
        assert old["observed_at"] < new["observed_at"] <= now
        assert latest[name]["signal"] == new


def test_earlier_signals_are_shown_too_if_asked(sandbox: Sandbox) -> None:
    sandbox.configure(signals="each")
    before = by_id(sandbox.records("leads"))
    sandbox.advance(MONTH)
    after = by_id(sandbox.records("leads"))
    earlier = read(sandbox, "leads", latest_signal={**EVER, "end_time": NOW})
    known = [lead for lead in earlier if lead["id"] in before]
    assert len(known) == len(before)
    for lead in known:
        assert lead["signal"] == before[lead["id"]]["signal"]
    for body in ({"latest_signal": EVER}, {"date_found": EVER}, {}):
        shown = read(sandbox, "leads", **body)
        assert len(shown) == len(after)
        assert by_id(shown) == after


@pytest.mark.parametrize(
    ("stream", "field"),
    [
        ("signal_accounts", "signals_count"),
        ("monitored_accounts", "latest_activity_at"),
        ("monitored_leads", "latest_activity_at"),
    ],
)
def test_other_records_move(sandbox: Sandbox, stream: str, field: str) -> None:
    before = by_id(sandbox.records(stream))
    sandbox.advance(MONTH)
    after = by_id(sandbox.records(stream))
    known = before.keys() & after.keys()
    assert any(before[name][field] < after[name][field] for name in known)


def test_accounts_leave_the_queue(sandbox: Sandbox) -> None:
    before = by_id(sandbox.records("monitored_accounts"))
    sandbox.advance(3 * MONTH)
    assert before.keys() - by_id(sandbox.records("monitored_accounts")).keys()


def test_observations_are_only_added(sandbox: Sandbox) -> None:
    before = by_id(sandbox.records("observations"))
    sandbox.advance(MONTH)
    after = by_id(sandbox.records("observations"))
    assert len(before) < len(after)
    assert before.items() <= after.items()


def test_next_check_is_ahead(sandbox: Sandbox) -> None:
    for _ in range(3):
        now = sandbox.advance(MONTH)
        agents = sandbox.records("signal_agents")
        for agent in agents:
            assert ("next_check_at" in agent) == (agent["status"] == "active")
            assert agent.get("next_check_at", "9") > now
        assert {agent["status"] for agent in agents} == {"active", "paused"}


@pytest.mark.parametrize("history", ["uniform", "bursty", "gaps", "instant"])
def test_history(sandbox: Sandbox, history: str) -> None:
    since = "2026-01-01T00:00:00Z"
    sandbox.configure(history=history, since=since, sizes={"leads": 1000})
    found = [parse_time(t["found_at"]) for t in sandbox.times("leads").values()]
    assert len(found) == 1000
    assert parse_time(since) <= min(found) <= max(found) <= parse_time(NOW)
    days = Counter(instant // DAY for instant in found)
    if history == "uniform":
        assert len(days) == 151
    elif history == "bursty":
        # Four bursts of up to a day each touch at most eight calendar days.
        assert sum(count for _, count in days.most_common(8)) >= 800
    elif history == "gaps":
        gaps = [later - earlier for earlier, later in pairwise(sorted(days))]
        assert sum(gap > 30 for gap in gaps) == 2
    else:
        assert max(found) - min(found) < SECOND
        observed = {
            parse_time(time["observed_at"]) // SECOND
            for time in sandbox.times("leads").values()
        }
        assert len(observed) == 1
        sandbox.advance(MONTH)
        assert len(sandbox.records("leads")) > 1000


def found_by_part_of_the_year(sandbox: Sandbox, history: str) -> list[float]:
    sandbox.configure(history=history, sizes={"leads": 2000})
    begin, span = parse_time(NOW) - 365 * DAY, 365 * DAY
    times = sandbox.times("leads").values()
    return sorted((parse_time(time["found_at"]) - begin) / span for time in times)


@pytest.mark.parametrize(
    ("history", "begin", "end", "share"),
    [
        ("growing", 0.5, 1, 0.875),
        ("fading", 0, 0.5, 0.875),
        ("tail", 0, 0.25, 1),
        ("head", 0.75, 1, 1),
        ("bursts", 0.1, 0.111, 0.09),
        ("import", 0.3, 0.3005, 0.8),
        ("import", 0, 0.2999, 0),
    ],
)
def test_shapes_of_a_year(
    sandbox: Sandbox, history: str, begin: float, end: float, share: float
) -> None:
    found = found_by_part_of_the_year(sandbox, history)
    assert len(found) == 2000
    inside = sum(begin <= part <= end for part in found)
    assert inside / 2000 == pytest.approx(share, abs=0.02)


def test_office_hours_leave_nights_and_weekends_empty(sandbox: Sandbox) -> None:
    found = found_by_part_of_the_year(sandbox, "office")
    hours = Counter(int(part * 365 * 24) % 24 for part in found)
    days = Counter(int(part * 365) % 7 for part in found)
    assert set(hours) <= set(range(9, 18))
    assert set(days) <= set(range(6))
    assert days[5] < 20


def test_texts_are_varied(sandbox: Sandbox) -> None:
    leads = sandbox.records("leads")
    lengths = [len(lead["qualification"]["reasoning"]) for lead in leads]
    assert min(lengths) < 600
    assert max(lengths) > 2000
    assert sum(not lead["full_name"].isascii() for lead in leads) > 50
    assert len({lead["full_name"] for lead in leads}) > 100
    assert any(isinstance(lead["score"]["value"], float) for lead in leads)
    assert any(isinstance(lead["score"]["value"], int) for lead in leads)
    for missing in (
        [lead for lead in leads if "title" not in lead],
        [lead for lead in leads if "linkedin_url" not in lead["company"]],
        [lead for lead in leads if "reason" not in lead["signal"]],
        [lead for lead in leads if not lead["qualification"]["references"]],
    ):
        assert 0 < len(missing) < len(leads) / 2


def test_precision_of_times_is_varied(sandbox: Sandbox) -> None:
    lengths = Counter(
        len(lead["signal"]["observed_at"]) for lead in sandbox.records("leads")
    )
    assert lengths.keys() == {20, 24, 27}
