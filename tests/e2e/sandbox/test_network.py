"""Faults of the connection, and answers that take time or come in parts."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import requests

from tests.support.asking import HEADERS, post

if TYPE_CHECKING:
    from tap_leadintent.sandbox import Sandbox

BIG = 3_000_000


def test_reset(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "reset", "times": 1})
    with pytest.raises(requests.ConnectionError, match="reset by peer"):
        post(sandbox, "leads")
    assert post(sandbox, "leads").status_code == 200
    assert [entry["status"] for entry in sandbox.requests()] == [None, 200]


def test_drop(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "drop"})
    with pytest.raises(requests.RequestException, match="IncompleteRead"):
        post(sandbox, "leads")
    response = post(sandbox, "leads", stream=True)
    response.raw.enforce_content_length = False
    length = int(response.headers["Content-Length"])
    assert 0 < len(response.content) < length


def test_hang(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "hang", "seconds": 30})
    with pytest.raises(requests.ReadTimeout):
        requests.post(
            f"{sandbox.url}/v1/signals/leads", json={}, headers=HEADERS, timeout=0.2
        )
    sandbox.faults({"kind": "hang", "seconds": 0.1})
    assert post(sandbox, "leads").status_code == 200


def test_drip(sandbox: Sandbox) -> None:
    sandbox.configure(sizes={"leads": 1})
    expected = post(sandbox, "leads").content
    sandbox.faults({"kind": "drip", "bytes": len(expected) // 4, "seconds": 0.05})
    began = time.monotonic()
    assert post(sandbox, "leads").content == expected
    assert time.monotonic() - began >= 0.15


def test_huge(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "huge", "bytes": BIG})
    response = post(sandbox, "leads")
    assert len(response.content) == BIG
    assert response.json()["data"] == []
    assert "Content-Length" not in response.headers


def test_bomb(sandbox: Sandbox) -> None:
    sandbox.faults({"kind": "bomb", "bytes": BIG})
    response = post(sandbox, "leads", stream=True)
    compressed = response.raw.read(decode_content=False)
    assert len(compressed) < BIG / 500
    response = post(sandbox, "leads")
    assert len(response.content) == BIG
    assert response.json()["data"] == []


def test_latency_overlaps(sandbox: Sandbox) -> None:
    sandbox.configure(latency_seconds=2)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: post(sandbox, "leads"), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    arrived = [entry["time"] for entry in sandbox.requests()]
    assert max(arrived) - min(arrived) < 2, "they waited at the same time"
