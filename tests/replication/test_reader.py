"""Streams that are read by threads: what a signal leaves, and what is left of them."""

from __future__ import annotations

import json
import signal
import threading
from itertools import islice
from typing import Any

import pytest
import requests
from singer_sdk.singerlib import RecordMessage

from tap_leadintent.tap import TapLeadIntent
from tests.support.model import DAY, Api, iso, steady
from tests.support.model_runs import DEFAULTS, Adapter, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")

CONFIG: dict[str, Any] = {
    "start_date": iso(0),
    "page_size": 10,
    "concurrency": 8,
    "window_days": 0.2,
}


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Api:
    """Two hundred leads, for any tap that is made."""
    api, session = Api(now=9 * DAY, leads=steady(200)), requests.Session()
    session.mount("https://", Adapter(api))
    monkeypatch.setattr("tap_leadintent.tap.new_session", lambda _: session)
    return api


def leads_of(api: Api, **config: Any) -> Any:
    """Give the stream of the API's leads."""
    assert api.leads
    return TapLeadIntent(config={**DEFAULTS, **(config or CONFIG)}).streams["leads"]


@pytest.mark.parametrize("messages", [5, 60, None])
def test_no_thread_outlives_a_sync_or_a_target_that_is_gone(
    messages: int | None,
) -> None:
    api = Api(now=9 * DAY, leads=steady(200))
    assert run(api, Store(), CONFIG, killed_after=messages) == (messages is None)


@pytest.mark.parametrize("start", [{}, {"start_date": iso(0), "window_days": 40}])
def test_a_signal_ends_the_run_after_a_page(api: Api, start: dict[str, Any]) -> None:
    """Also if more pages wait, so that there is nothing to wait for."""
    records = leads_of(api, page_size=10, **start).get_records(None)
    assert next(records)["id"]
    for thread in threading.enumerate():
        if thread.name.startswith("reader"):
            thread.join(timeout=60)
    signal.raise_signal(signal.SIGTERM)
    assert len([*islice(records, 9)]) == 9
    with pytest.raises(SystemExit, match="143"):
        next(records)


def test_a_window_whose_last_page_is_written_counts_in_spite_of_a_signal(
    api: Api,
) -> None:
    stream = leads_of(api, **{**CONFIG, "window_days": 40})
    records = stream.get_records(None)
    assert len([*islice(records, 200)]) == 200
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="143"):
        next(records)
    assert stream.newest_covered


def test_a_page_is_written_before_the_next_is_waited_for(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = leads_of(api)
    written: list[str] = []
    records = stream.get_records(None)
    for record in records:
        messages = [*map(json.loads, capsys.readouterr().out.splitlines())]
        if out := [m["record"]["id"] for m in messages if m["type"] == "RECORD"]:
            assert out == written
            break
        stream._tap.write_message(RecordMessage("leads", record))  # noqa: SLF001
        written.append(record["id"])
    assert 1 < len(written) <= CONFIG["page_size"]
    records.close()
