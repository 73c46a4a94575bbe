"""Streams that are read by threads: what a signal leaves, and what is left of them."""

import json
import signal
import threading
from itertools import islice
from threading import Thread
from typing import Any

import pytest
from singer_sdk.singerlib import RecordMessage

from tap_leadintent.replication.plan import Step
from tap_leadintent.singer.errors import RunError
from tap_leadintent.tap import TapLeadIntent
from tap_leadintent.times import format_instant, utc_timestamp
from tests.support.model import DAY, EPOCH, HOUR, Api, second, steady
from tests.support.model_runs import CONFIG, DEFAULTS, connect, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")

EIGHT = {**CONFIG, "concurrency": 8}


@pytest.fixture
def stream() -> Any:
    """A stream of two hundred leads."""
    tap = TapLeadIntent(config={**DEFAULTS, **EIGHT})
    connect(tap, Api(now=9 * DAY, leads=steady(200)))
    return tap.streams["leads"]


@pytest.mark.parametrize("messages", [60, None])
def test_no_thread_outlives_a_sync_or_a_target_that_is_gone(
    messages: int | None,
) -> None:
    api = Api(now=9 * DAY, leads=steady(200))
    assert run(api, Store(), EIGHT, killed_after=messages) == (messages is None)


def test_a_signal_ends_the_run_after_a_page(stream: Any) -> None:
    """Also if more pages wait, so that there is nothing to wait for."""
    records = stream.get_records(None)
    assert next(records)["id"]
    for thread in threading.enumerate():
        if thread.name.startswith("reader"):
            thread.join(timeout=60)
    stream.run_context.interruption.install()
    signal.raise_signal(signal.SIGTERM)
    assert len([*islice(records, 9)]) == 9
    with pytest.raises(SystemExit, match="143"):
        next(records)


def test_a_window_whose_last_page_is_written_counts_in_spite_of_a_signal(
    stream: Any,
) -> None:
    records = stream.get_records(None)
    assert len([*islice(records, 200)]) == 200
    stream.run_context.interruption.install()
    signal.raise_signal(signal.SIGTERM)
    with pytest.raises(SystemExit, match="143"):
        next(records)
    assert stream.newest_covered > second(199 * HOUR)


def test_a_page_is_written_before_the_next_one_arrives(
    stream: Any, capsys: pytest.CaptureFixture[str]
) -> None:
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


def test_a_page_says_where_its_window_ends(stream: Any) -> None:
    pages = [
        *stream.plan_reader.read(
            [Step("date_found", [(EPOCH, EPOCH + DAY)], ["date_found"])]
        )
    ]
    ends = [utc_timestamp(format_instant(page.window[1])) for page in pages]
    assert [page.window_end for page in pages] == ends


@pytest.mark.parametrize(
    ("most", "error"), [(0, RuntimeError), (1, MemoryError), (3, RuntimeError)]
)
def test_too_few_threads_fail_the_stream(
    monkeypatch: pytest.MonkeyPatch, most: int, error: type[Exception]
) -> None:
    start, allowed = Thread.start, ["coordinator", "reader 1", "reader 2"][:most]

    def limited(thread: Thread) -> None:
        if thread.name not in allowed:
            raise error("can't start new thread")
        start(thread)

    monkeypatch.setattr(Thread, "start", limited)
    with pytest.raises(RunError, match="the operating system allows no further thread"):
        run(Api(now=9 * DAY), Store(), EIGHT)
