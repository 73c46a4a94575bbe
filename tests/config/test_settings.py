"""The settings: what they may be, and how they arrive."""

import time

import pytest

from tap_leadintent.config.settings import Settings
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tap_leadintent.times import format_instant
from tests.support.helpers import VALID, Json, RunTap, where

BASE_URL = VALID["base_url"]


@pytest.mark.parametrize(
    "change",
    [
        {"base_url": "http://127.0.0.1:8000"},
        {"base_url": "HTTPS://API.example.com:443/"},
        {"base_url": "http://[::1]:8000"},
        {"base_url": f"{BASE_URL}:65535/root/"},
        {"base_url": f"{BASE_URL}/v1beta"},
        {"base_url": "https://äpi.example.com"},
        {"base_url": "https://api_1.example.com."},
        {"start_date": "2026-01-31", "end_date": "2026-01-31T00:00:00Z"},
        {"user_agent": "acme/1.0 (+https://acme.example)"},
        {"filters": {"leads": {"signals": [], "lead_country_codes": ["DE"]}}},
        {"filters": {"monitored_accounts": {"statuses": ["detected"]}}},
        {"flattening_enabled": True, "flattening_max_depth": 2},
        {"exclude_fields": {"leads": ["company.name", "signal", "new.er"]}},
        {"exclude_fields": {"leads": ["qualification.references.url"]}},
        {"exclude_fields": {"signal_accounts": ["signal.observed_at", "domain"]}},
    ],
    ids=str,
)
def test_valid(change: Json) -> None:
    config = {**VALID, **change}
    settings = TapLeadIntent(config=config).config
    for name, value in change.items():
        assert settings[name] == value


def test_a_start_may_lie_a_day_ahead() -> None:
    """In some time zones it is tomorrow already."""
    soon = format_instant(int(time.time()) + 80_000)
    config = {**VALID, "start_date": soon}
    assert TapLeadIntent(config=config).config


@pytest.mark.parametrize(
    ("second", "end"),
    [
        ("01.001", 2),
        ("01", 1),
    ],
)
def test_an_end_is_rounded_up_to_a_second(second: str, end: int) -> None:
    dates = {
        "start_date": "1970-01-01",
        "end_date": f"1970-01-01T00:00:{second}Z",
    }
    config = TapLeadIntent(config={**VALID, **dates}).config
    assert Settings.of(config).end == end


@pytest.mark.parametrize(
    ("field", "warns"),
    [
        ("sort", True),
        ("sheet_ids", False),
    ],
)
def test_an_undocumented_filter_is_a_warning(
    tap: RunTap,
    config: Json,
    field: str,
    *,
    warns: bool,
) -> None:
    run = tap(
        {
            **config,
            "filters": {"leads": {field: ["x"]}},
        }
    )
    warning = f"leads: The filter {field} is sent, though the API description does not "
    assert (warning in run.stderr) == warns


def test_a_text_may_be_a_number() -> None:
    """Meltano has no kind for fractions."""
    texts = {"window_days": "0.5", "page_size": "50"}
    config = TapLeadIntent(config={**VALID, **texts}).config
    assert config["window_days"] == 0.5
    assert config["page_size"] == 50


def test_fractions_in_a_file(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
) -> None:
    """The SDK would read them as `Decimal`, which sockets and `json` refuse."""
    filters = {"signal_agents": {"threshold": 0.25}}
    changes = {
        "request_timeout_seconds": 59.5,
        "page_size": 2.0,
        "filters": filters,
    }
    run = tap({**config, **changes}, "--test")
    assert "Traceback" not in run.stderr
    requests = sandbox.requests()
    of_agents = where(requests, stream="signal_agents")
    assert of_agents
    for request in of_agents:
        assert request["body"] == {
            "threshold": 0.25,
            "cursor": {"limit": 2},
        }
