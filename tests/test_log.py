"""What the log says about streams, as text and as fields."""

import json
import logging
from http import HTTPStatus
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
import requests

from tap_leadintent.sandbox import Sandbox
from tests.support.helpers import API_KEY, STREAMS, TIMEOUT, Json, RunTap, only, where
from tests.support.model import DAY, HOUR, Api, steady
from tests.support.model_runs import CONFIG, run
from tests.support.store import Store


def test_each_line_about_a_stream_begins_with_its_name(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    api = Api(
        now=2 * DAY,
        leads=steady(25),
        refuses_cursors=1,
    )
    config = {**CONFIG, "window_days": 1}
    run(
        api,
        Store(),
        config,
        selected=STREAMS,
        clock_ahead=HOUR,
    )
    streams = set()
    levels = set()
    for record in caplog.records:
        if record.name.startswith("tap-leadintent."):
            _, _, stream = record.name.rpartition(".")
            streams.add(stream)
            levels.add(record.levelname)
            message = record.getMessage()
            assert message.startswith(f"{stream}: ")
            assert not message.startswith(2 * f"{stream}: ")
    assert streams == set(STREAMS)
    assert levels == {"DEBUG", "INFO", "WARNING"}


class Unprintable:
    """An argument that fails when a handler formats it."""

    def __str__(self) -> str:
        raise ZeroDivisionError(API_KEY)


@pytest.mark.parametrize(
    "arguments",
    [
        (API_KEY,),
        (API_KEY, 2, 3),
        (Unprintable(), 2),
    ],
    ids=["1", "3", "2"],
)
def test_a_malformed_log_call_of_a_library_ends_nothing(
    tap: RunTap,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[object, ...],
) -> None:
    send = requests.Session.send

    def log_and_send(*args: Any, **options: Any) -> requests.Response:
        logging.getLogger("library").warning("one %s, two %s", *arguments)
        return send(*args, **options)

    monkeypatch.setattr("requests.Session.send", log_and_send)
    log = tap(config).succeeded().stderr
    assert log.count("one %s, two %s") == log.count("cannot be formatted")
    assert "Logging error" not in log


@pytest.mark.parametrize(
    ("level", "shows"),
    [
        ("debug", True),
        ("info", False),
    ],
)
def test_the_console_shows_metrics_at_debug_alone(
    tap: RunTap,
    config: Json,
    monkeypatch: pytest.MonkeyPatch,
    *,
    level: str,
    shows: bool,
) -> None:
    monkeypatch.setenv("TAP_LEADINTENT_LOGLEVEL", level)
    run = tap(config).succeeded()
    assert ("METRIC" in run.stderr) == shows
    assert ("env var" in run.stderr) == shows


@pytest.mark.parametrize(
    ("log_format", "own_handlers", "shows"),
    [
        ("colored", False, False),
        ("colored", True, True),
        ("json", False, True),
    ],
)
def test_meltanos_log_as_text_has_no_metrics(  # noqa: PLR0913, PLR0917 - fixtures
    tap: RunTap,
    config: Json,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    log_format: str,
    own_handlers: bool,  # noqa: FBT001
    shows: bool,  # noqa: FBT001
) -> None:
    monkeypatch.setenv("MELTANO_CLI_LOG_FORMAT", log_format)
    monkeypatch.setenv("MELTANO_CLI_LOG_CONFIG", str(tmp_path / "logging.yaml"))
    if own_handlers:
        (tmp_path / "logging.yaml").touch()
    (tmp_path / "log.json").write_text('{"version": 1, "incremental": true}')
    monkeypatch.setenv("SINGER_SDK_LOG_CONFIG", str(tmp_path / "log.json"))
    assert ("METRIC" in tap(config).succeeded().stderr) == shows


@pytest.mark.parametrize("level", ["INFO", "DEBUG"])
def test_a_log_configuration_gets_metrics_and_figures_as_fields(  # noqa: PLR0913, PLR0917 - fixtures
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    level: str,
) -> None:
    """A failure is logged at once, as the last line may come hours later."""
    console = {
        "class": "logging.StreamHandler",
        "formatter": "json",
    }
    as_meltano_sets_it = {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": "singer_sdk.logging.StructuredFormatter"}},
        "handlers": {"console": {**console, "stream": "ext://sys.stderr"}},
        "root": {"handlers": ["console"], "level": level},
    }
    path = tmp_path / "log.json"
    path.write_text(json.dumps(as_meltano_sets_it), encoding="utf-8")
    monkeypatch.setenv("SINGER_SDK_LOG_CONFIG", str(path))
    sandbox.faults(
        {
            "kind": "status",
            "status": 403,
            "stream": "leads",
        },
        {
            "kind": "status",
            "status": 503,
            "stream": "custom_signals",
            "times": 1,
        },
    )
    streams = ("custom_signals", "leads", "observations")
    config["concurrency"] = 1
    run = tap(config, catalog=only(*streams))
    lines = [json.loads(line) for line in run.stderr.splitlines()]
    named = [line["stream_name"] for line in lines if line["stream_name"]]
    assert [*dict.fromkeys(named)] == [*streams]
    figures = []
    metrics = []
    for line in lines:
        extra = line["extra"]
        if extra:
            assert extra.pop("seconds") >= extra.pop("waited_seconds")
            figures.append(extra)
        if "metric_info" in line:
            metrics.append(line["metric_info"])
    read = {
        "records": 3,
        "requests": 1,
        "retries": 0,
        "covered_to": None,
    }
    signals = {
        **read,
        "requests": 2,
        "retries": 1,
        "stream": "custom_signals",
    }
    leads = {
        **read,
        "records": 0,
        "stream": "leads",
    }
    refused = {
        **leads,
        "status": 403,
        "reason": None,
    }
    observations = {
        **read,
        "requests": ANY,
        "stream": "observations",
        "covered_to": ANY,
    }
    in_all = {
        "records": 6,
        "requests": ANY,
        "retries": 1,
        "failed_streams": ["leads"],
    }
    assert figures == [
        signals,
        leads,
        refused,
        observations,
        in_all,
    ]
    assert lines[-2]["message"].startswith("3 streams, 6 records, ")
    counts: dict[str, list[Any]] = {
        "record_count": [3, 0, 3],
        "http_request_count": [2, 1, ANY],
        "sync_duration": [ANY, ANY, ANY],
    }
    for metric, values in counts.items():
        found = where(metrics, metric=metric)
        for each, stream, value in zip(
            found,
            streams,
            values,
            strict=True,
        ):
            assert each["tags"]["stream"] == stream
            assert each["value"] == value
    received = where(metrics, metric="http_request_duration")
    statuses = [each["tags"]["http_status_code"] for each in received]
    assert statuses[:4] == ([503, 200, 403, 200] if level == "DEBUG" else [])
    for each in received:
        succeeded = each["tags"]["http_status_code"] == HTTPStatus.OK
        assert each["tags"]["status"] == ("succeeded" if succeeded else "failed")
        assert 0 < each["value"] < TIMEOUT
