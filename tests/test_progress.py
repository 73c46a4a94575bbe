"""What is read of a stream, and how far it has come, as the log says it."""

import logging

import pytest

from tap_leadintent.progress import StreamStats
from tests.support.helpers import Clock
from tests.support.model import DAY, Api, steady
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
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    run(Api(now=60 * DAY, leads=steady(30), seconds_per_request=15), Store(), DAILY)
    lines = [vars(line) for line in caplog.records if "so far" in line.message]
    at = [(line["pass"], line["read_percent"], line["read_to"]) for line in lines]
    assert at == sorted(at)
    assert {percent for _, percent, _ in at} - {0, 100}
    passes = {(line["pass"], line["range"]) for line in lines}
    assert passes == {("1 of 2", "date_found"), ("2 of 2", "latest_signal")}
    text = "leads: latest_signal, 2 of 2: {read_percent} % read, up to {read_to}; 30 "
    last = lines[-1]
    assert last["message"] == f"{text}records so far".format(**last)
    assert (last["stream"], last["records"], last["retries"]) == ("leads", 30, 0)
