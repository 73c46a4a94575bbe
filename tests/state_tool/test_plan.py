"""What the next run reads, told before it is started."""

from collections.abc import Callable

import pytest

from tests.support.helpers import API_KEY, PREFIX
from tests.support.states import (
    HERE,
    NOW,
    found,
    rechecked,
    refused,
    signal,
    state_of,
    told,
)

Settings = Callable[..., str]

LEADS = [found("02-01", "03-01"), found("03-03", "06-01"), signal("04-01", "06-01")]
STATE = state_of(leads=[*LEADS, rechecked("06-02")])
PLAN = f"""\
A run that begins at {NOW} reads:
leads
  date_found from 2026-01-01T00:00:00Z to 2026-02-01T00:00:00Z: missing
  date_found from 2026-03-01T00:00:00Z to 2026-03-03T00:00:00Z: missing
  date_found from 2026-05-31T00:00:00Z to 2026-06-01T00:00:00Z: lookback
  date_found from 2026-06-01T00:00:00Z to 2026-06-03T00:00:00Z: new
  date_found from 2026-04-02T04:48:00Z to 2026-04-18T02:24:00Z: recheck
  latest_signal from 2026-01-01T00:00:00Z to 2026-04-01T00:00:00Z: missing
  latest_signal from 2026-04-01T00:00:00Z to 2026-06-01T00:00:00Z: again, so that the newest signal comes last
  latest_signal from 2026-06-01T00:00:00Z to 2026-06-03T00:00:00Z: new
"""  # noqa: E501
PART = f"""\
A run that begins at {NOW} reads:
leads
  date_found: nothing; it is asked for all from 2026-02-01T00:00:00Z to 2026-02-15T00:00:00Z
  latest_signal: nothing; a run with end_date reads date_found alone
"""  # noqa: E501


def plan(settings: str, *options: str) -> str:
    return told(
        "plan", "--config", settings, "--stream", "leads", *options, stdin=STATE
    )


def test_each_stretch_has_its_reason(settings: Settings) -> None:
    assert plan(settings(recheck_days=10)) == PLAN
    assert plan(settings(end_date="2026-02-15", start_date="2026-02-01")) == PART


def test_an_instant_is_covered_or_read(settings: Settings) -> None:
    covered = "covered from 2026-03-03T00:00:00Z to 2026-06-01T00:00:00Z; the next run"
    for instant, said in {
        "2026-03-02": "not covered; the next run reads it: missing",
        "2025-12-31": "not covered; the next run does not read it: it is asked for",
        "2026-04-15": f"{covered} does not read it",
    }.items():
        line, _ = plan(settings(), "--at", instant).splitlines()
        assert f"leads: date_found at {instant}T00:00:00Z: {said}" in line


def test_the_environment_says_the_same_as_a_file(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = settings(filters={"leads": {"sheet_ids": ["a"]}}, lookback_minutes=60)
    for name, value in {
        "START_DATE": "2026-01-01",
        "LOOKBACK_MINUTES": "60",
        # As Meltano writes what stands in its project.
        "FILTERS": '{"leads.sheet_ids": ["a"]}',
        "FILTERS_LEADS_SHEET_IDS": '["a"]',
        "STREAM_MAPS": '{"leads.full_name": null}',
    }.items():
        monkeypatch.setenv(f"{PREFIX}{name}", value)
    said = told("plan", stdin=STATE)
    assert said == told("plan", "--config", chosen, stdin=STATE)
    assert f"first load; its state is about {HERE} without filters, not about" in said


def test_settings_are_checked_as_the_tap_does(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = settings(base_url=f"https://x/{API_KEY}/v1", api_key=API_KEY)
    said = refused("plan", "--config", wrong, stdin=STATE)
    assert said.startswith("base_url: must be: Root of the API, without `/v1`")
    assert API_KEY not in said
    monkeypatch.delenv(f"{PREFIX}BASE_URL")
    said = refused("plan", stdin=STATE)
    assert said.startswith("base_url: is required; in a Meltano project, run `meltano")
