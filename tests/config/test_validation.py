"""The settings: what is required, what is filled in, and what is never quoted."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.errors import ConfigError
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    API_KEY,
    VALID,
    each_entry,
    each_reading_entry,
    refusal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

BASE_URL = VALID["base_url"]


def quote_all(text: str) -> str:
    return "".join(f"%{ord(character):02x}" for character in text)


def in_base64(text: str) -> str:
    return b64encode(f"Bearer {text}".encode()).decode()


@each_reading_entry
@pytest.mark.parametrize("missing", ["base_url", "api_key"])
@pytest.mark.parametrize("absence", ["absent", "null"])
def test_what_is_required(
    cli: Callable[..., Result], missing: str, absence: str, arguments: list[str]
) -> None:
    config = {name: value for name, value in VALID.items() if name != missing}
    if absence == "null":
        config[missing] = None  # type: ignore[assignment] # null counts as absent
    assert refusal(cli(config, *arguments)) == [f"{missing}: is required"]


def test_each_mistake_has_its_line(cli: Callable[..., Result]) -> None:
    assert sorted(refusal(cli({"page_size": 0, "max_retries": -1, "pages": 1}))) == [
        "api_key: is required",
        "base_url: is required",
        "max_retries: -1 is less than the minimum of 0",
        "page_size: 0 is less than the minimum of 1",
        "pages: there is no such setting",
    ]


def test_a_long_value_is_cut(cli: Callable[..., Result]) -> None:
    (line,) = refusal(cli({**VALID, "page_size": "9" * 5000}))
    assert line.startswith("page_size: '999")
    assert len(line) <= 301


@pytest.mark.parametrize("spell", [str, str.upper, quote_all, in_base64])
@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "KEY"},
        {"base_url": "http://KEY"},
        {"page_size": "KEY"},
        {"start_date": f"{'x' * 190}KEY"},
        {"KEY": 1},
        {"filters": {"KEY": {}}},
        {"filters": {"leads": {"KEY": {}, "sheet_ids": "KEY"}}},
        {"filters": {"leads": {"sheet_ids": [1, "KEY", {"x": "KEY"}]}}},
        {"batch_config": {"encoding": {"format": "KEY"}}},
    ],
    ids=str,
)
def test_a_key_in_the_wrong_place_is_not_quoted(
    cli: Callable[..., Result],
    wrong: dict[str, Any],
    spell: Callable[[str], str],
) -> None:
    spelt = spell(API_KEY)
    middle = spelt[len(spelt) // 2 :][:6].lower()
    change = json.loads(json.dumps(wrong).replace("KEY", spelt))
    for line in refusal(cli({**VALID, **change})):
        assert len(line) <= 301
        assert middle not in line.lower()


def test_a_value_that_a_terminal_obeys_is_escaped(cli: Callable[..., Result]) -> None:
    (line,) = refusal(cli({**VALID, "pages\x1b[2J\u202e\n": 1}))
    assert line == "pages\\x1b[2J\\u202e : there is no such setting"


@each_entry
@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"page_size": 101}, "page_size: 101 is greater than the maximum of 100"),
        ({"start_dat": 1}, "start_dat: there is no such setting"),
    ],
    ids=["page_size", "misspelt"],
)
def test_a_mistake_ends_the_process(  # noqa: PLR0913, PLR0917 - fixtures and parameters
    tap: Callable[..., Run],
    sandbox: Sandbox,
    config: dict[str, Any],
    change: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    run = tap({**config, **change}, *arguments)
    assert run.failed().startswith(line)
    assert run.stdout == ""
    assert sandbox.requests() == []


@pytest.mark.parametrize("name", ["request_timeout_seconds", "window_days"])
@pytest.mark.parametrize("number", ["inf", "nan"])
def test_a_number_that_is_not_finite(name: str, number: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: must be a finite number$"):
        TapLeadIntent(config={**VALID, name: float(number)})
