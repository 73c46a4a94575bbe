"""A server that limits its requests: every run ends well, with few refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.faults import BEGIN, read_leads
from tests.support.helpers import API_KEY
from tests.support.runs import CLOCK

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

THREADS = 8


@pytest.mark.long
@pytest.mark.parametrize(
    ("settings", "most"),
    # The requests in flight are halved at each rest: 8, 4, 2, and they rise slowly.
    [({}, 3 * THREADS), ({"max_requests_per_minute": 14 * 60}, 0)],
    ids=["as many as it can", "as many as are allowed"],
)
def test_a_server_that_limits_its_requests_refuses_few(
    sandbox: Sandbox, settings: dict[str, Any], most: int
) -> None:
    sizes, limit = {"leads": 300}, {"rate_limit": 15}
    sandbox.configure(api_key=API_KEY, since=BEGIN, sizes=sizes, **limit)
    config = {"start_date": BEGIN, "end_date": CLOCK, "page_size": 5, **settings}
    run = read_leads(sandbox, {**config, "concurrency": THREADS})
    assert run.error is None
    assert {*run.ids} == {lead["id"] for lead in sandbox.records("leads")}
    assert len(sandbox.requests()) > 60
    refused = [each for each in sandbox.requests() if each["status"] == 429]
    assert len(refused) <= most
    assert bool(refused) == (not settings)
