"""What is read of a stream, and how far it has come, as the log says it."""

import logging

import pytest

from tap_leadintent.progress import StepProgress, StreamStats
from tests.support.helpers import Clock
from tests.support.model import DAY, EPOCH, Api, steady
from tests.support.model_runs import DAILY, run
from tests.support.store import Store


def test_a_line_comes_every_15_seconds_and_no_sooner(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    stats = StreamStats(began=clock.now, monotonic=clock.limits.monotonic)
    for _ in range(45):
        clock.now += 1
        stats.records += 100
        stats.log_progress(logging.getLogger("leads"), "leads")
    assert caplog.messages == [
        f"{records} records so far" for records in ("1,500", "3,000", "4,500")
    ]


def test_a_progress_line_says_how_much_of_the_time_is_read(
    clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    stats = StreamStats(began=clock.now, records=30, monotonic=clock.limits.monotonic)
    step = StepProgress("latest_signal", "2 of 2", EPOCH, stats.fields())
    stats.passes.append(step)
    step.read_to = EPOCH + DAY
    clock.now += 15
    stats.log_progress(logging.getLogger("leads"), "leads")
    (line,) = caplog.records
    assert line.getMessage() == (
        "latest_signal, 2 of 2: read up to 2026-03-02T00:00:00Z; 30 records so far"
    )
    fields = {"range": "latest_signal", "pass": "2 of 2", "stream": "leads"}
    assert vars(line).items() >= fields.items()


def test_a_run_logs_how_far_it_has_come(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    api = Api(now=2 * DAY, leads=steady(30), seconds_per_request=15)
    run(api, Store(), {**DAILY, "concurrency": 1})
    lines = [vars(line) for line in caplog.records if "so far" in line.message]
    at = [(line["pass"], line["read_to"]) for line in lines]
    assert at == sorted(at)
    passes = {(line["pass"], line["range"]) for line in lines}
    assert passes == {("1 of 2", "date_found"), ("2 of 2", "latest_signal")}
    assert (lines[-1]["stream"], lines[-1]["records"]) == ("leads", 30)
