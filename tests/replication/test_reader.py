"""Streams that are read by threads: what is shared, and what is left of them."""

from __future__ import annotations

import json
import signal
import threading
from itertools import islice
from threading import Thread
from typing import Any

import pytest
import requests
from singer_sdk.singerlib import RecordMessage

from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import readers_alive
from tests.support.model import DAY, Api, iso, steady
from tests.support.model_runs import DEFAULTS, Adapter, run
from tests.support.store import Store

CONFIG: dict[str, Any] = {
    "start_date": iso(0),
    "page_size": 10,
    "concurrency": 8,
    "window_days": 0.2,
}


def tap_on(api: Api, monkeypatch: pytest.MonkeyPatch, **config: Any) -> TapLeadIntent:
    session = requests.Session()
    session.mount("https://", Adapter(api))
    monkeypatch.setattr("tap_leadintent.tap.new_session", lambda _: session)
    return TapLeadIntent(config={**DEFAULTS, **(config or CONFIG)})


def test_no_thread_outlives_a_sync() -> None:
    assert run(Api(now=9 * DAY, leads=steady(200)), Store(), CONFIG)
    assert readers_alive() == []


@pytest.mark.parametrize("messages", [5, 60])
def test_no_thread_outlives_a_target_that_is_gone(messages: int) -> None:
    api = Api(now=9 * DAY, leads=steady(200))
    assert not run(api, Store(), CONFIG, killed_after=messages)
    assert readers_alive() == []


def test_no_thread_outlives_a_connection_test(monkeypatch: pytest.MonkeyPatch) -> None:
    tap = tap_on(Api(now=9 * DAY, leads=steady(200)), monkeypatch)
    assert tap.run_connection_test()
    assert readers_alive() == []


def await_readers() -> None:
    """Wait until all windows have been read."""
    for thread in threading.enumerate():
        if thread.name in readers_alive():
            thread.join(timeout=60)
    assert readers_alive() == []


@pytest.mark.parametrize("start", [{}, {"start_date": iso(0), "window_days": 40}])
def test_a_signal_ends_the_run_after_a_page(
    start: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if more pages wait, so that there is nothing to wait for."""
    tap = tap_on(
        Api(now=9 * DAY, leads=steady(200)), monkeypatch, page_size=10, **start
    )
    records: Any = tap.streams["leads"].get_records(None)
    assert next(records)["id"]
    await_readers()
    signal.raise_signal(signal.SIGTERM)
    assert len([*islice(records, 9)]) == 9
    with pytest.raises(SystemExit, match="143"):
        next(records)


def test_a_window_whose_last_page_is_written_counts_in_spite_of_a_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = {**CONFIG, "window_days": 40}
    tap = tap_on(Api(now=9 * DAY, leads=steady(200)), monkeypatch, **config)
    stream: Any = tap.streams["leads"]
    records = stream.get_records(None)
    assert len([*islice(records, 200)]) == 200
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="143"):
        next(records)
    assert stream.bookmark.coverage.newest("date_found")


def test_a_page_is_written_before_the_next_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tap = tap_on(Api(now=9 * DAY, leads=steady(200)), monkeypatch)
    stream: Any = tap.streams["leads"]
    written: list[str] = []
    records = stream.get_records(None)
    for record in records:
        messages = [*map(json.loads, capsys.readouterr().out.splitlines())]
        if out := [m["record"]["id"] for m in messages if m["type"] == "RECORD"]:
            assert out == written
            break
        tap.write_message(RecordMessage("leads", record))
        written.append(record["id"])
    assert 1 < len(written) <= CONFIG["page_size"]
    records.close()


def test_all_threads_count_in_one_tally(monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api(now=9 * DAY, leads=steady(200))
    stream: Any = tap_on(api, monkeypatch).streams["leads"]
    assert len(list(stream.get_records(None))) == 200
    assert stream.tally.records == 200
    assert stream.tally.requests == len(api.requests)


def test_too_few_threads_are_worth_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    start = Thread.start

    def start_three(thread: Thread) -> None:
        if len(readers_alive()) == 3:
            msg = "can't start new thread"
            raise RuntimeError(msg)
        start(thread)

    monkeypatch.setattr(Thread, "start", start_three)
    stream: Any = tap_on(Api(now=9 * DAY, leads=steady(200)), monkeypatch).streams[
        "leads"
    ]
    assert len(list(stream.get_records(None))) == 200
    told = "Only 3 of 8 windows are read at once, as the system allows no more threads"
    assert f"leads: {told}" in caplog.messages
