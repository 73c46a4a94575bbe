"""A sandbox with a history, and the check-up of it."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tap_leadintent.checkup.cli import columns_main, main
from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import API_KEY, Clock, Json, Run
from tests.support.in_process import run_checkup
from tests.support.runs import CLOCK, SINCE

SIZES = {
    "leads": 253,
    "signal_accounts": 131,
    "monitored_accounts": 107,
    "observations": 141,
    "monitored_leads": 113,
}
RIGHT_CLOCK = "Is the server's clock right?"


@pytest.fixture
def history(sandbox: Sandbox) -> Callable[..., None]:
    """Fill the sandbox with a year of records."""
    return partial(
        sandbox.configure,
        api_key=API_KEY,
        since=SINCE,
        clock=CLOCK,
    )


@pytest.fixture
def settings(
    history: Callable[..., None],
    config: Json,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> Json:
    # The check-up has one thread, so nothing happens while it waits.
    monkeypatch.setattr(TapLeadIntent, "limits", clock.limits)
    history(sizes=SIZES)
    return {**config, "max_retries": 1}


@pytest.fixture
def columns(tmp_path: Path) -> Callable[..., Run]:
    return partial(run_checkup, tmp_path, columns_main)


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Run]:
    return partial(run_checkup, tmp_path, main)


@pytest.fixture
def found(check: Callable[..., Run]) -> Callable[..., Any]:
    """Return the report as JSON, and the findings by question and what it is about."""

    def run(config: Json, *arguments: str) -> tuple[Json, dict[tuple[str, str], Json]]:
        report = json.loads(check(config, "--json", *arguments).stdout)
        rows: dict[tuple[str, str], Json] = {}
        for finding in report["findings"]:
            rows[finding["question"], finding["about"]] = finding
        return report, rows

    return run
