"""Streams that are read by threads: what a signal leaves, and what is left of them."""

import signal
from itertools import islice
from threading import Thread
from typing import Any

import pytest

from tap_leadintent.singer.errors import RunError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import leads_with
from tests.support.model import DAY, HOUR, Api, second, steady
from tests.support.model_runs import CONFIG, DEFAULTS, connect, run
from tests.support.store import Store

pytestmark = pytest.mark.usefixtures("no_thread_is_left_behind")

EIGHT = {**CONFIG, "concurrency": 8}


@pytest.fixture
def stream() -> Any:
    """A stream of two hundred leads."""
    config = {**DEFAULTS, **EIGHT}
    tap = TapLeadIntent(config=config)
    connect(
        tap,
        Api(
            now=9 * DAY,
            leads=steady(200),
        ),
    )
    return tap.streams["leads"]


@pytest.mark.parametrize("messages", [60, None])
def test_no_thread_outlives_a_sync_or_a_target_that_is_gone(
    messages: int | None,
) -> None:
    api = Api(
        now=9 * DAY,
        leads=steady(200),
    )
    assert run(
        api,
        Store(),
        EIGHT,
        killed_after=messages,
    ) == (messages is None)


def test_a_signal_ends_the_run_after_a_page(stream: Any) -> None:
    records = stream.get_records(None)
    assert next(records)["id"]
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


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_a_system_without_a_further_thread(
    monkeypatch: pytest.MonkeyPatch,
    error: type[Exception],
) -> None:
    start = Thread.start
    started = list[Thread]()

    def limited(thread: Thread) -> None:
        started.append(thread)
        if len(started) > 1:
            raise error("can't start new thread")
        start(thread)

    api = Api(
        now=9 * DAY,
        leads=steady(50),
    )
    store = Store()
    monkeypatch.setattr(Thread, "start", limited)
    with pytest.raises(RunError, match="system allows no thread"):
        run(api, store, EIGHT)


def test_a_list_that_looks_cut_ends_with_its_last_page_while_much_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tap_leadintent.replication.reader._MAX_BYTES", 1)
    api = Api(
        now=9 * DAY,
        leads=steady(50),
    )
    store = Store()
    full = leads_with(replication_method="FULL_TABLE")
    assert run(api, store, EIGHT, catalog=full)
    assert len(store.rows) == 50
    assert len(api.requests) == 50 // CONFIG["page_size"]
