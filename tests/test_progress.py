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
        "1,500 records so far",
        "3,000 records so far",
        "4,500 records so far",
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
    at = []
    passes = set()
    for line in lines:
        name = line["pass"]
        end = line["read_to"]
        at.append((name, end))
        passes.add((name, line["range"]))
        text = f"leads: {line['range']}, {name}: read up to {end}; "
        assert line["message"].startswith(text)
    assert at == sorted(at)
    assert passes == {
        ("1 of 2", "date_found"),
        ("2 of 2", "latest_signal"),
    }
    assert lines[-1]["stream"] == "leads"
    assert lines[-1]["records"] == 30
