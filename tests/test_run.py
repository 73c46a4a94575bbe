"""What the log says at the end of a run."""

import logging
import re
from typing import Any

import pytest

from tap_leadintent.errors import StreamError
from tap_leadintent.run import read_each
from tap_leadintent.singer.errors import OutputError, RunError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, STREAMS, VALID, lines_with
from tests.support.model import DAY, Api, steady
from tests.support.model_runs import CONFIG, run
from tests.support.store import Store


def test_a_run_ends_with_a_line_for_each_stream(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = Api(
        now=8 * DAY,
        leads=steady(192),
    )
    store = Store()
    config = {**CONFIG, "window_days": 0.5}
    caplog.set_level(logging.INFO)
    run(api, store, config)
    line, total = lines_with(" requests", caplog.messages)
    assert re.fullmatch(
        r"leads: 192 records, \d+ requests, (\d\.\d s of waiting, )?\d+\.\d s; "
        r"complete up to 2026-03-09T00:00:00Z",
        line,
    )
    assert re.fullmatch(
        r"1 stream, 192 records, \d+ requests, (\d\.\d s of waiting, )?\d+\.\d s",
        total,
    )


def test_a_stream_that_fails_in_its_second_range_is_not_complete(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    before = Api(
        now=2 * DAY,
        leads=steady(20),
    )
    config = {**CONFIG, "concurrency": 1}
    run(before, Store(), config)
    first = sum("date_found" in body for body in before.requests)
    caplog.clear()
    api = Api(
        now=2 * DAY,
        leads=steady(20),
        forbidden_at=first,
    )
    with pytest.raises(RunError, match="HTTP 401"):
        run(api, Store(), config)
    (line,) = lines_with("leads: 20 records", caplog.messages)
    assert line.startswith("leads: 20 records")
    assert "complete" not in line


def failing_with(*errors: Exception) -> str:
    """Fail to read a stream with each error; return the message of the run's error."""
    remaining = iter(errors)

    def fail(_: object) -> None:
        raise next(remaining)

    streams: Any = TapLeadIntent(config={**VALID}).streams
    with pytest.raises(RunError) as caught:
        read_each([*streams.values()][: len(errors)], fail)
    return caught.value.message


def errors_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the messages at the level ERROR."""
    return [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]


def test_a_failure_is_logged_once_and_shortened_in_the_last_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, *_ = names = sorted(STREAMS)
    text = f"{API_KEY} {'x ' * 1_000}"
    failures = []
    for number in range(len(names)):
        detail = f"attempt {number}"
        failures.append(StreamError(text, detail=detail))
    message = failing_with(*failures)
    failed = f"{len(names)} of {len(names)} streams failed: {', '.join(names)}"
    assert message.startswith(f"{failed}: *** x x")
    assert len(message) < 400
    longest, *others = errors_of(caplog)
    assert len(longest) > 2_000
    assert others
    for line in others:
        assert line.partition(": ")[2] == f"failed like {first}"
    assert "value of a record" not in failing_with(KeyError("value of a record"))
    assert failing_with(OutputError("the disk is full")) == "the disk is full"
    assert "the disk is full" not in caplog.text


def test_an_alert_of_200_characters_says_what_each_failure_needs() -> None:
    needs = ("lower page_size", "set api_key to a valid key", "check base_url")
    errors = []
    for need in needs:
        text = f"{need}: {'x ' * 300}"
        errors.append(StreamError(text))
    message = failing_with(*errors)
    for need in needs:
        assert need in message[:200]


def test_records_without_a_key_and_holes_are_both_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api = Api(
        now=9 * DAY,
        leads=steady(200),
        broken=(4 * DAY, 4 * DAY),
    )
    api.leads[0].id = ""
    config = {**CONFIG, "max_retries": 0}
    with pytest.raises(RunError):
        run(api, Store(), config)
    assert "Records without id" not in caplog.text, "the error says it"
    (line,) = errors_of(caplog)
    assert re.search(
        r"1 record without id left out \(from .*\), .* date_found from 2026-03-0",
        line,
    )
