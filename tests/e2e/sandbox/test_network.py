"""Faults of the connection, and answers that take time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import requests

from tests.support.asking import HEADERS, post

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox


def test_reset(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "reset", "times": 1})
    with pytest.raises(requests.ConnectionError, match="reset by peer"):
        post(sandbox, "leads")
    assert post(sandbox, "leads").status_code == 200
    assert [entry["status"] for entry in sandbox.requests()] == [None, 200]


def test_hang(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "hang", "seconds": 30})
    url = f"{sandbox.url}/v1/signals/leads"
    with pytest.raises(requests.ReadTimeout):
        requests.post(url, json={}, headers=HEADERS, timeout=0.2)
    sandbox.faults({"kind": "hang", "seconds": 0.1})
    assert post(sandbox, "leads").status_code == 200


def test_latency_overlaps(sandbox: Sandbox) -> None:
    sandbox.configure(latency_seconds=2)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(sandbox, "leads"), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    arrived = [entry["time"] for entry in sandbox.requests()]
    assert max(arrived) - min(arrived) < 2, "they waited at the same time"
