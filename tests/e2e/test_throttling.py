"""A server that limits its requests: every run ends well, with few refusals."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from tests.helpers import API_KEY

from .faults import PLANS, read_leads

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

LEADS = 300
THREADS = 8
CONFIG = {"page_size": 5, "concurrency": THREADS}
LIMIT = {"requests_per_second": 15, "retry_after": 1}


@pytest.fixture
def throttled(server: Sandbox) -> Sandbox:
    server.configure(api_key=API_KEY, sizes={"leads": LEADS}, rate_limit=LIMIT)
    return server


def refusals(sandbox: Sandbox) -> int:
    return [request["status"] for request in sandbox.requests()].count(429)


@pytest.mark.parametrize("plan", ["several windows", "windows as the tap likes"])
def test_each_thread_is_refused_once_a_second_at_most(
    throttled: Sandbox, plan: str
) -> None:
    begun = time.monotonic()
    run = read_leads(throttled, {**CONFIG, **PLANS[plan]})
    seconds = time.monotonic() - begun
    run.whole({lead["id"] for lead in throttled.records("leads")})
    assert 1 <= refusals(throttled) <= THREADS * seconds


def test_nobody_is_refused_who_keeps_below_the_limit(throttled: Sandbox) -> None:
    slow = {"max_requests_per_minute": 14 * 60}
    run = read_leads(throttled, {**CONFIG, **PLANS["several windows"], **slow})
    run.whole({lead["id"] for lead in throttled.records("leads")})
    assert len(throttled.requests()) > 60
    assert refusals(throttled) == 0
