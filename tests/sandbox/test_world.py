"""The clock, and what happens when it moves."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.sandbox.times import DAY, SECOND, format_time, parse_time
from tests.support.asking import NOW, everything, read

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

MONTH = 30 * DAY // SECOND


def by_id(records: list[Any]) -> dict[str, Any]:
    return {record["id"]: record for record in records}


def test_a_clock_that_is_not_set_goes_on_from_now(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = parse_time(NOW)
    for module in ("options", "world"):
        place = f"tap_leadintent.sandbox.{module}.current_time"
        monkeypatch.setattr(place, lambda: now)
    sandbox.configure(clock=None)
    known = by_id(sandbox.records("leads"))
    for ahead in (0, DAY):
        now += 20 * DAY
        assert sandbox.now() == format_time(now + ahead)
        assert len(by_id(sandbox.records("leads")).keys() - known.keys()) >= 20
        sandbox.advance(DAY / SECOND)


def test_new_leads_every_day_at_the_rate_of_the_history(sandbox: Sandbox) -> None:
    for leads, most in ((0, 30), (3650, 300)):
        sandbox.configure(sizes={"leads": leads})
        counts = []
        for _ in range(30):
            counts.append(len(sandbox.records("leads")))
            now = sandbox.advance(DAY / SECOND)
        assert all(before < after for before, after in pairwise(counts))
        window = {"start_time": NOW, "end_time": now}
        added = by_id(read(sandbox, "leads", date_found=window))
        assert len(added) == len(sandbox.records("leads")) - leads
        assert len(added) == pytest.approx(most, abs=1)


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
        assert before[name]["full_name"] == after[name]["full_name"]


def test_accounts_and_people_move_and_observations_are_only_added(
    sandbox: Sandbox,
) -> None:
    before = everything(sandbox)
    now = sandbox.advance(MONTH)
    after = everything(sandbox)
    for stream, field in (
        ("signal_accounts", "signals_count"),
        ("monitored_accounts", "latest_activity_at"),
        ("monitored_leads", "latest_activity_at"),
    ):
        old, new = by_id(before[stream]), by_id(after[stream])
        assert any(old[name][field] < new[name][field] for name in old)
    old, new = by_id(before["observations"]), by_id(after["observations"])
    assert old.items() < new.items()
    for agent in after["signal_agents"]:
        assert ("next_check_at" in agent) == (agent["status"] == "active")
        assert agent.get("next_check_at", "9") > now


@pytest.mark.parametrize(
    ("history", "begin", "end", "share"),
    [
        ("uniform", 0, 0.5, 0.5),
        ("growing", 0.5, 1, 0.875),
        ("head", 0.75, 1, 1),
        ("bursts", 0.1, 0.111, 0.09),
        ("import", 0.3, 0.3005, 0.8),
    ],
)
def test_histories(
    sandbox: Sandbox, history: str, begin: float, end: float, share: float
) -> None:
    sandbox.configure(history=history, sizes={"leads": 2000})
    first, span = parse_time(NOW) - 365 * DAY, 365 * DAY
    times = sandbox.times("leads").values()
    found = [(parse_time(time["found_at"]) - first) / span for time in times]
    assert len(found) == 2000
    inside = sum(begin <= part <= end for part in found)
    assert inside / 2000 == pytest.approx(share, abs=0.02)


def test_some_people_have_an_e_mail(sandbox: Sandbox) -> None:
    mails = [lead["email"] for lead in sandbox.records("monitored_leads")]
    assert 0 < mails.count(None) < len(mails) / 2
