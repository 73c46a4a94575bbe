"""What the log says of streams, where only its text is shown."""

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import STREAMS, Run, only
from tests.support.model import DAY, HOUR, Api, steady
from tests.support.model_runs import CONFIG, DAILY, run
from tests.support.runs import CLOCK
from tests.support.store import Store


def test_each_line_about_a_stream_begins_with_its_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    api = Api(now=2 * DAY, leads=steady(25), refuses_cursors=1)
    run(api, Store(), {**CONFIG, "window_days": 1}, selected=STREAMS, clock_ahead=HOUR)
    told = {
        (record.name.rpartition(".")[2], record.levelname, record.getMessage())
        for record in caplog.records
        if record.name.startswith("tap-leadintent.")
    }
    assert all(message.startswith(f"{stream}: ") for stream, _, message in told)
    assert not any(message.startswith(2 * f"{stream}: ") for stream, _, message in told)
    assert {stream for stream, _, _ in told} == set(STREAMS)
    assert {level for _, level, _ in told} == {"DEBUG", "INFO", "WARNING"}


def test_debug_tells_of_each_window(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    api = Api(now=2 * DAY, leads=steady(25))
    run(api, Store(), DAILY)
    told = "leads: date_found: read up to "
    ends = [x.removeprefix(told) for x in caplog.messages if x.startswith(told)]
    assert len(ends) > 1
    assert ends == sorted({*ends})
    assert ends[-1] == "2026-03-03T00:00:00Z"


@pytest.mark.parametrize(("level", "shows"), [("debug", True), ("info", False)])
def test_the_console_shows_metrics_at_debug_alone(
    tap: Callable[..., Run],
    config: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    *,
    level: str,
    shows: bool,
) -> None:
    monkeypatch.setenv("TAP_LEADINTENT_LOGLEVEL", level)
    run = tap(config).succeeded()
    assert [text in run.stderr for text in ("METRIC", "env var")] == [shows] * 2


@pytest.fixture
def structured(
    tap: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., list[dict[str, Any]]]:
    """Run the tap with the log that Meltano sets up; return its lines."""
    console = {"class": "logging.StreamHandler", "formatter": "json"}
    config = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "singer_sdk.logging.StructuredFormatter"}},
        "handlers": {"console": {**console, "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["console"], "level": "INFO"},
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setenv("SINGER_SDK_LOG_CONFIG", str(path))

    def run(*arguments: Any, **options: Any) -> list[dict[str, Any]]:
        log = tap(*arguments, **options).stderr
        return [json.loads(line) for line in log.splitlines()]

    return run


def test_figures_are_fields(
    structured: Callable[..., list[dict[str, Any]]],
    sandbox: Sandbox,
    config: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sandbox.faults(
        {"kind": "status", "status": 403, "stream": "leads"},
        {"kind": "status", "status": 503, "stream": "custom_signals", "times": 1},
    )
    monkeypatch.setattr("tap_leadintent.api.http.backoff", lambda _: 0.125)
    catalog = only("custom_signals", "leads", "observations")
    read = {"records": 3, "requests": 1, "retries": 0, "covered_to": None}
    leads, failed = dict(read, records=0, stream="leads"), {"failed_streams": ["leads"]}
    signals = dict(read, stream="custom_signals", requests=2, retries=1)
    expected: dict[tuple[str, str], dict[str, Any]] = {
        ("info", "custom_signals"): signals,
        ("info", "leads"): leads,
        ("error", "leads"): dict(leads, status=403, reason=None),
        ("info", "observations"): dict(read, stream="observations", covered_to=CLOCK),
        ("info", ""): {"records": 6, "requests": 4, "retries": 1} | failed,
    }
    for line in structured(config, catalog=catalog):
        if extra := line["extra"]:
            waited, seconds = extra.pop("waited_seconds"), extra.pop("seconds")
            stream = line["logger_name"].partition(".")[2]
            assert expected.pop((line["level"], stream)) == extra
            assert seconds >= waited >= 0.125 * extra["retries"]
    assert not expected


def test_metrics_reach_the_handlers_of_a_log_configuration(
    structured: Callable[..., list[dict[str, Any]]], config: dict[str, Any]
) -> None:
    metrics = [
        line["metric_info"] for line in structured(config) if "metric_info" in line
    ]
    for metric in ("record_count", "sync_duration"):
        found = [each["tags"]["stream"] for each in metrics if each["metric"] == metric]
        assert sorted(found) == sorted(STREAMS)
