"""What is read of a stream, and how far it has come, as the log says it."""

import logging

import pytest

from tap_leadintent.progress import StreamStats
from tests.support.helpers import Clock
from tests.support.model import DAY, Api, steady
from tests.support.model_runs import DAILY, run
from tests.support.store import Store


def test_a_line_comes_every_15_seconds_and_no_sooner(
    clock: Clock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    stats = StreamStats(
        began=clock.now,
        monotonic=clock.limits.monotonic,
    )
    for _ in range(45):
        clock.now += 1
        stats.records += 100
        stats.log_progress(logging.getLogger("leads"), "leads")
    assert caplog.messages == [
        f"{records} records so far" for records in ("1,500", "3,000", "4,500")
    ]


def test_a_run_logs_how_far_it_has_come(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    api = Api(
        now=2 * DAY,
        leads=steady(30),
        seconds_per_request=15,
    )
    config = {**DAILY, "concurrency": 1}
    run(api, Store(), config)
    lines = [vars(line) for line in caplog.records if "so far" in line.message]
    at = [(line["pass"], line["read_to"]) for line in lines]
    assert at == sorted(at)
    for line in lines:
        text = f"leads: {line['range']}, {line['pass']}: read up to {line['read_to']}; "
        assert line["message"].startswith(text)
    passes = {(line["pass"], line["range"]) for line in lines}
    assert passes == {("1 of 2", "date_found"), ("2 of 2", "latest_signal")}
    assert lines[-1]["stream"] == "leads"
    assert lines[-1]["records"] == 30
