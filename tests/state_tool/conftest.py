"""Fixtures for the tests of the state tool."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import time_machine

from tap_leadintent.times import parse_instant
from tests.support.helpers import PREFIX
from tests.support.states import HERE, NOW


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, object], str]:
    """Write a JSON file, and return its path."""

    def write(name: str, content: object) -> str:
        path = tmp_path / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def settings(write: Callable[[str, object], str]) -> Callable[..., str]:
    """Write settings without a key, and return the path of their file."""

    def settings(**more: Any) -> str:
        config = {"base_url": HERE, "start_date": "2026-01-01"}
        return write(
            "config.json",
            {
                **config,
                "lookback_days": 1,
                **more,
            },
        )

    return settings


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the command find NOW, an address, and a terminal of 80 columns."""
    monkeypatch.setenv(f"{PREFIX}BASE_URL", HERE)
    monkeypatch.setenv(f"{PREFIX}START_DATE", "2026-01-01")
    monkeypatch.setenv("COLUMNS", "80")
    with time_machine.travel(parse_instant(NOW), tick=False):
        yield
