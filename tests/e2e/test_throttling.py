"""A server that limits its requests: every run ends well, with few refusals."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.support.faults import PLANS, read_leads
from tests.support.helpers import API_KEY

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

LEADS = 300
THREADS = 8
CONFIG = {"page_size": 5, "concurrency": THREADS}
REST = 3
LIMIT = {"requests_per_second": 15, "retry_after": REST}
SILENCE = REST - 0.5
"""Longer than any wait that the server did not ask for, and the rest, but for what was
under way when it was asked for."""


@pytest.fixture
def throttled(server: Sandbox) -> Sandbox:
    server.configure(api_key=API_KEY, sizes={"leads": LEADS}, rate_limit=LIMIT)
    return server


def refusals(sandbox: Sandbox) -> list[int]:
    """Count the refusals before each silence, and after the last."""
    log = sandbox.requests()
    counts = [0]
    for before, request in pairwise([log[0], *log]):
        if request["time"] - before["time"] > SILENCE:
            counts.append(0)
        counts[-1] += request["status"] == 429
    return counts


@pytest.mark.long
@pytest.mark.parametrize("plan", ["several windows", "windows as the tap likes"])
def test_a_refused_run_rests_as_long_as_asked_and_then_halves_its_requests(
    throttled: Sandbox, plan: str
) -> None:
    run = read_leads(throttled, {**CONFIG, **PLANS[plan]})
    run.whole({lead["id"] for lead in throttled.records("leads")})
    *before_silences, last = refusals(throttled)
    assert last == 0
    assert any(before_silences)
    for halvings, count in enumerate(filter(None, before_silences)):
        # One more may be sent before the first refusal has been read.
        assert count <= max(1, THREADS >> halvings) + 1


@pytest.mark.long
def test_requests_below_the_limit_are_not_refused(throttled: Sandbox) -> None:
    slow = {"max_requests_per_minute": 14 * 60}
    run = read_leads(throttled, {**CONFIG, **PLANS["several windows"], **slow})
    run.whole({lead["id"] for lead in throttled.records("leads")})
    assert len(throttled.requests()) > 60
    assert refusals(throttled) == [0]
