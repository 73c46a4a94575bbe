"""A server that limits its requests: every run ends well, with few refusals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.support.faults import BEGIN, PLANS, read_leads
from tests.support.helpers import API_KEY

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

LEADS = 300
THREADS = 8
CONFIG = {"page_size": 5, "concurrency": THREADS}
RISE = 0.05
"""By how much a response raises the requests that may be in flight."""
REST = 3
LIMIT = {"rate_limit": 15, "retry_after": REST}
SILENCE = REST - 0.5
"""Longer than any wait that the server did not ask for, and the rest, but for what was
under way when it was asked for."""


@pytest.fixture
def throttled(server: Sandbox) -> Sandbox:
    sizes = {"leads": LEADS}
    server.configure(api_key=API_KEY, since=BEGIN, sizes=sizes, **LIMIT)
    return server


def refusals(sandbox: Sandbox) -> list[tuple[int, int]]:
    """Count the refusals before each silence, and after the last, with their limit.

    The limit is how many requests may be in flight: half as many after each silence
    that follows refusals, and more with each response after the first refusal.
    """
    log = sandbox.requests()
    limit, counts = float(THREADS), [(0, THREADS)]
    for before, request in pairwise([log[0], *log]):
        count = counts[-1][0]
        if request["time"] - before["time"] > SILENCE and count:
            # What was under way may have raised it after it was halved.
            limit, count = max(1.0, limit / 2) + RISE * THREADS, 0
            counts.append((0, 0))
        if request["status"] == 429:
            count += 1
        else:
            limit = min(THREADS, limit + RISE)
        counts[-1] = count, int(limit)
    return counts


@pytest.mark.long
@pytest.mark.parametrize("plan", ["several windows", "windows as the tap likes"])
def test_a_refused_run_rests_as_long_as_asked_and_then_halves_its_requests(
    throttled: Sandbox, plan: str
) -> None:
    run = read_leads(throttled, {**CONFIG, **PLANS[plan]})
    run.whole({lead["id"] for lead in throttled.records("leads")})
    *before_silences, (last, _) = refusals(throttled)
    assert last == 0
    assert before_silences
    assert all(count <= limit for count, limit in before_silences)


@pytest.mark.long
def test_requests_below_the_limit_are_not_refused(throttled: Sandbox) -> None:
    slow = {"max_requests_per_minute": 14 * 60}
    run = read_leads(throttled, {**CONFIG, **PLANS["several windows"], **slow})
    run.whole({lead["id"] for lead in throttled.records("leads")})
    assert len(throttled.requests()) > 60
    assert refusals(throttled) == [(0, THREADS)]
