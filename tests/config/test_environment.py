"""The settings from environment variables, which are as good as those from files."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    API_KEY,
    PREFIX,
    VALID,
    VARIABLES,
    declared_tap,
    enter,
    errors,
    prefixed,
    refusal,
)
from tests.support.in_process import run_with_variables
from tests.support.model import width_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tap_leadintent.sandbox import Sandbox

pytestmark = pytest.mark.usefixtures("bare_environment")

SETTINGS: dict[str, dict[str, Any]] = declared_tap().config_jsonschema["properties"]

EXAMPLES: dict[str, tuple[str, Any]] = {
    "boolean": ("true", True),
    "integer": ("7", 7),
    "number": ("0.5", 0.5),
    "object": ('{"a": {"b": [0.5, null]}}', {"a": {"b": [0.5, None]}}),
    "string": ("7", "7"),
}

VALUES: list[tuple[str, str, Any]] = [
    ("WINDOW_DAYS", "0.5", 0.5),
    ("WINDOW_DAYS", "7", 7),
    ("WINDOW_DAYS", "1e-1", 0.1),
    ("REQUEST_TIMEOUT_SECONDS", "59.5", 59.5),
    ("PAGE_SIZE", " 50\n", 50),
    ("MAX_RETRIES", "0", 0),
    ("FILTERS", '{"leads": {"sheet_ids": ["ä"]}}', {"leads": {"sheet_ids": ["ä"]}}),
    ("FLATTENING_MAX_DEPTH", "2", 2),
    ("STREAM_MAPS", '{"leads": {"title": null}}', {"leads": {"title": None}}),
    ("START_DATE", "2026-01-31", "2026-01-31"),
    ("USER_AGENT", "1.50", "1.50"),
    *(("INFER_COLUMNS", text, True) for text in ("true", "TRUE", "1", "yes", "on")),
    *(("INFER_COLUMNS", text, False) for text in ("false", "0", "No", "off")),
]


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Give the settings of a tap that reads the environment, and a configuration."""

    def made(
        variables: dict[str, str], config: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        for name, text in prefixed(variables).items():
            monkeypatch.setenv(name, text)
        tap = TapLeadIntent(config=config, parse_env_config=True, setup_mapper=False)
        return dict(tap.config)

    return made


# What arrives


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_arrives_as_its_schema_says(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (kind,) = {*SETTINGS[name]["type"]} - {"null"}
    text, value = EXAMPLES[kind]
    monkeypatch.setenv(f"{PREFIX}{name.upper()}", text)
    tap = declared_tap()
    assert tap._env_var_config == {name: value}  # noqa: SLF001 - what the SDK asks for
    assert type(tap._env_var_config[name]) is type(value)  # noqa: SLF001


@pytest.mark.parametrize(("name", "text", "value"), VALUES)
def test_values(
    read: Callable[..., dict[str, Any]], name: str, text: str, value: Any
) -> None:
    arrived = read({**VARIABLES, name: text})[name.lower()]
    assert arrived == value
    assert type(arrived) is type(value)


@pytest.mark.parametrize(
    "name", ["PAGE_SIZE", "WINDOW_DAYS", "INFER_COLUMNS", "FILTERS"]
)
def test_null_stands_for_the_default(
    read: Callable[..., dict[str, Any]], name: str
) -> None:
    arrived = read({**VARIABLES, name: "null"}).get(name.lower())
    assert arrived == SETTINGS[name.lower()].get("default")


@pytest.mark.parametrize(
    ("text", "page_size"), [("7", 7), ("null", 100), ("", 50)], ids=repr
)
def test_the_environment_overrides_files_unless_it_is_empty(
    read: Callable[..., dict[str, Any]], text: str, page_size: int
) -> None:
    """Null is a value: it stands for the default."""
    assert (
        read({**VARIABLES, "PAGE_SIZE": text}, {"page_size": 50})["page_size"]
        == page_size
    )


@pytest.mark.parametrize("order", ["file first", "file last"])
def test_the_environment_overrides_files_wherever_it_is_named(
    tmp_path: Path, order: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"page_size": 0, "max_retries": -1}), encoding="utf-8")
    arguments = ["--config", str(path), "--config=ENV"]
    if order == "file last":
        arguments = [arguments[2], *arguments[:2]]
    env = prefixed({**VARIABLES, "PAGE_SIZE": "101"})
    assert sorted(refusal(enter(*arguments, env=env))) == [
        "max_retries: -1 is less than the minimum of 0",
        "page_size: 101 is greater than the maximum of 100",
    ]


def test_without_being_asked_to_it_reads_no_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Meltano sets the variables too, beside the file that it made of them."""
    monkeypatch.setenv(f"{PREFIX}PAGE_SIZE", "abc")
    assert TapLeadIntent(config=VALID).config["page_size"] == 100


def test_all_settings_from_the_environment(tmp_path: Path, sandbox: Sandbox) -> None:
    variables = {
        "BASE_URL": sandbox.url,
        "API_KEY": API_KEY,
        "START_DATE": "2026-05-01",
        "END_DATE": "2026-05-03",
        "WINDOW_DAYS": "0.5",
        "REQUEST_TIMEOUT_SECONDS": "59.5",
        "PAGE_SIZE": "50",
        "FILTERS": json.dumps({"leads": {"sheet_ids": ["sht_1"]}}),
    }
    run_with_variables(tmp_path, variables).succeeded()
    asked = [
        request["body"]
        for request in sandbox.requests()
        if request["stream"] == "leads" and "date_found" in request["body"]
    ]
    assert {body["cursor"]["limit"] for body in asked} == {50}
    assert {tuple(body["sheet_ids"]) for body in asked} == {("sht_1",)}
    ranges = [time for body in asked for time in body["date_found"].values()]
    assert (min(ranges), max(ranges)) == (
        "2026-04-30T23:59:59Z",
        "2026-05-03T00:00:00Z",
    )
    assert max(width_of(body["date_found"]) for body in asked) <= 43_200


# What may be meant for it


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("PAGESIZE", "page_size"),
        ("APIKEY", "api_key"),
        ("FILTER", "filters"),
        # What Meltano would call it, which is not how one variable sets it.
        ("FAKER_CONFIG_SEED", "faker_config"),
    ],
)
def test_a_misspelt_variable_is_a_warning(
    read: Callable[..., dict[str, Any]],
    caplog: pytest.LogCaptureFixture,
    variable: str,
    nearest: str,
) -> None:
    """No more than that: the environment is not the tap's alone."""
    with caplog.at_level(logging.WARNING):
        config = read({**VARIABLES, variable: API_KEY})
    assert variable.lower() not in config
    (message,) = caplog.messages
    assert message == (
        f"{PREFIX}{variable} is ignored: there is no such setting; "
        f"did you mean {nearest}?"
    )


@pytest.mark.parametrize("variable", ["LOGLEVEL", "_SELECT", "_CATALOG", "HOME"])
def test_other_variables_are_none_of_its_business(
    read: Callable[..., dict[str, Any]],
    caplog: pytest.LogCaptureFixture,
    variable: str,
) -> None:
    with caplog.at_level(logging.WARNING):
        read({**VARIABLES, variable: "INFO"})
    assert caplog.messages == []


# .env


def test_a_file_of_variables_in_the_working_folder(
    tmp_path: Path, sandbox: Sandbox
) -> None:
    (tmp_path / ".env").write_text(
        f"{PREFIX}API_KEY={API_KEY}\n{PREFIX}PAGE_SIZE='7'\n{PREFIX}WINDOW_DAYS=0.5\n",
        encoding="utf-8",
    )
    folder = tmp_path / "below"
    folder.mkdir()
    run_with_variables(folder, {"BASE_URL": sandbox.url}).succeeded()
    limits = {request["body"]["cursor"]["limit"] for request in sandbox.requests()}
    assert limits == {7}


def test_what_the_shell_sets_overrides_the_file(tmp_path: Path) -> None:
    text = f"{PREFIX}PAGE_SIZE=102\n{PREFIX}MAX_RETRIES=-1\n"
    (tmp_path / ".env").write_text(text, encoding="utf-8")
    run = run_with_variables(tmp_path, {**VARIABLES, "PAGE_SIZE": "101"})
    assert sorted(errors(run.stderr)) == [
        "max_retries: -1 is less than the minimum of 0",
        "page_size: 101 is greater than the maximum of 100",
    ]
