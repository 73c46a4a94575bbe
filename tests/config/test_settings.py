"""The settings: what they may be, and how they arrive."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import STREAMS, VALID, declared_tap

if TYPE_CHECKING:
    from collections.abc import Callable

    import requests_mock
    from click.testing import Result

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

BASE_URL = VALID["base_url"]
INTEGERS = [
    name
    for name, setting in declared_tap().config_jsonschema["properties"].items()
    if "integer" in setting["type"]
]


@pytest.mark.parametrize("config", [{}, {"base_url": BASE_URL}, VALID], ids=len)
def test_discovery_needs_no_key(
    cli: Callable[..., Result],
    requests_mock: requests_mock.Mocker,
    config: dict[str, Any],
) -> None:
    result = cli(config, "--discover")
    assert result.exit_code == 0
    streams = json.loads(result.stdout)["streams"]
    assert sorted(stream["tap_stream_id"] for stream in streams) == sorted(STREAMS)
    assert not requests_mock.called


DEFAULTS = {
    "page_size": 100,
    "request_timeout_seconds": 60,
    "max_retries": 8,
    "filters": {},
    "lookback_minutes": 1440,
    "emit_activate_version_messages": False,
}


@pytest.mark.parametrize(
    "config",
    [VALID, {**VALID, **dict.fromkeys(DEFAULTS)}, {**VALID, "user_agent": None}],
    ids=["absent", "null", "null without default"],
)
def test_defaults(config: dict[str, Any]) -> None:
    settings = dict(TapLeadIntent(config=config).config)
    assert {name: settings[name] for name in DEFAULTS} == DEFAULTS
    assert "user_agent" not in settings


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:8000"},
        {"base_url": "http://127.9.9.9"},
        {"base_url": "http://localhost:8000/"},
        {"base_url": "http://[::1]:8000"},
        {"base_url": f"{BASE_URL}:8443/root/"},
        {"base_url": f"{BASE_URL}/v1beta"},
        {"base_url": "https://äpi.example.com"},
        {"base_url": "https://api_1.example.com."},
        {"page_size": 1},
        {"page_size": 100},
        {"max_retries": 0},
        {"start_date": "2026-01-31", "end_date": "2026-01-31T00:00:00Z"},
        {"start_date": "2026-01-31T10:00:00+02:00"},
        {"lookback_minutes": 0, "window_days": 0.5},
        {"request_timeout_seconds": 0.5},
        {"user_agent": "acme/1.0 (+https://acme.example)"},
        {"filters": {"leads": {"signals": [], "lead_country_codes": ["DE"]}}},
        {"filters": {"monitored_accounts": {"statuses": ["detected"]}}},
        {"filters": {"custom_signals": {}}},
        {"flattening_enabled": True, "flattening_max_depth": 2},
        {"stream_maps": {"leads": {"title": None}}, "stream_map_config": {"hash": "x"}},
    ],
    ids=str,
)
def test_valid(change: dict[str, Any]) -> None:
    settings = TapLeadIntent(config={**VALID, **change}).config
    assert {name: settings[name] for name in change} == change


@pytest.mark.parametrize(
    ("stream", "field"), [("leads", "sort"), ("signal_agents", "statuses")]
)
def test_an_undocumented_filter_is_a_warning(
    caplog: pytest.LogCaptureFixture, stream: str, field: str
) -> None:
    with caplog.at_level(logging.WARNING):
        TapLeadIntent(config={**VALID, "filters": {stream: {field: ["x"]}}})
    (message,) = caplog.messages
    assert message == (
        f"filters.{stream}.{field} is passed on, though the API description does not "
        "show it"
    )


def test_a_documented_filter_gets_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        TapLeadIntent(config={**VALID, "filters": {"leads": {"sheet_ids": ["x"]}}})
    assert caplog.messages == []


def test_the_error_holds_its_lines() -> None:
    with pytest.raises(ConfigError) as caught:
        TapLeadIntent(config={**VALID, "page_size": 0})
    assert caught.value.errors == ["page_size: 0 is less than the minimum of 1"]


@pytest.mark.parametrize("name", INTEGERS)
def test_a_whole_number_is_an_integer(name: str) -> None:
    """JSON makes no difference between 3 and 3.0, but much of Python does."""
    config = {**VALID, "start_date": "2026-01-01", name: 3.0}
    value = TapLeadIntent(config=config).config[name]
    assert (value, type(value)) == (3, int)


def test_fractions_in_a_file(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    """The SDK would read them as `Decimal`, which sockets and `json` refuse."""
    filters = {"signal_agents": {"threshold": 0.25}}
    changes = {"request_timeout_seconds": 59.5, "page_size": 2.0, "filters": filters}
    run = tap({**config, **changes}, "--test")
    assert "Traceback" not in run.stderr
    (body,) = {
        json.dumps(request["body"])
        for request in sandbox.requests()
        if request["stream"] == "signal_agents"
    }
    assert json.loads(body) == {"threshold": 0.25, "cursor": {"limit": 2}}
