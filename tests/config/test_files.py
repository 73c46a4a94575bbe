"""The files of the command line: what is wrong with them is one line."""

from __future__ import annotations

import json
import os
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.entering import TEXT, TOO_DEEP, failed, nested, run
from tests.support.helpers import (
    API_KEY,
    VALID,
    each_entry,
    enter,
    only,
    refusal,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import requests_mock

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

NO_OBJECT = "must be a JSON object of settings"

CONFIGS: dict[str, tuple[str, str]] = {
    "empty": ("", "Expecting value: line 1 column 1 (char 0)"),
    "text": (f"api_key = {API_KEY}", "Expecting value: line 1 column 1 (char 0)"),
    "cut": (TEXT[:-3], "Unterminated string"),
    "no comma": (TEXT.replace(",", ""), "Expecting ',' delimiter"),
    "null": ("null", NO_OBJECT),
    "number": ("7", NO_OBJECT),
    "string": (json.dumps(API_KEY), NO_OBJECT),
    "list": (json.dumps([VALID]), NO_OBJECT),
    "list of pairs": (json.dumps([["api_key", API_KEY]]), NO_OBJECT),
    "empty list": ("[]", NO_OBJECT),
    "deep": ("[" * 100_000, TOO_DEEP),
}

NUMBERS = [
    *(f'"{name}": {number}' for name in ("window_days", "request_timeout_seconds")
      for number in ("NaN", "Infinity", "-Infinity", "1e999", "1e999999999")),
    *(f'"{name}": {number}' for name in ("page_size", "max_retries", "lookback_minutes")
      for number in ("NaN", "Infinity", "1e999999999")),
    '"max_requests_per_minute": Infinity',
    '"request_timeout_seconds": 1e20',
    '"lookback_minutes": 1e20',
    '"window_days": 1e20',
]  # fmt: skip


@each_entry
@pytest.mark.parametrize(("text", "problem"), CONFIGS.values(), ids=CONFIGS)
def test_a_file_that_is_not_a_config(
    tmp_path: Path, text: str, problem: str, arguments: list[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8")
    line = run("--config", str(path), *arguments)
    assert line.startswith(f"--config: {path}: ")
    assert problem in line


@each_entry
def test_a_config_that_is_not_there(tmp_path: Path, arguments: list[str]) -> None:
    path = tmp_path / "config.json"
    line = run("--config", str(path), *arguments)
    assert line == f"--config: {path}: No such file or directory"


NO_PATH = (
    "--config: there is no such file; give the path of a JSON file, or ENV for "
    "environment variables, not the settings themselves (the value is not shown, as "
    "it may hold the key)"
)


@each_entry
@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        json.dumps({"api_key": API_KEY, "x": "y" * 5000}),
        json.dumps({"api_key": f"{API_KEY}\0"}),
        f"api_key: {API_KEY}.x",
        f"api_key={API_KEY}.json",
        f"\n{API_KEY}",
        API_KEY,
        "",
    ],
)
def test_settings_in_the_place_of_a_path_are_not_shown(
    text: str, arguments: list[str]
) -> None:
    assert run("--config", text, *arguments) == NO_PATH


@each_entry
def test_a_path_that_holds_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    config = tmp_path / "config.json"
    config.write_text(TEXT, encoding="utf-8")
    other = f"{tmp_path}/{API_KEY}.json"
    shown = f"{tmp_path}/***.json: No such file or directory"
    told = run("--config", str(config), "--config", other, *arguments)
    assert told == f"--config: {shown}"
    monkeypatch.setenv("TAP_LEADINTENT_API_KEY", API_KEY)
    assert run("--config", other, *arguments) == f"--config: {shown}"


@each_entry
def test_a_config_that_cannot_be_read(tmp_path: Path, arguments: list[str]) -> None:
    line = run("--config", str(tmp_path), *arguments)
    assert line == f"--config: {tmp_path}: Is a directory"


def test_a_config_that_is_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b'{"api_key": "\xff"}')
    assert "utf-8" in run("--config", str(path))


@each_entry
@pytest.mark.parametrize("number", NUMBERS)
def test_a_number_out_of_reach(
    tmp_path: Path,
    requests_mock: requests_mock.Mocker,
    number: str,
    arguments: list[str],
) -> None:
    path = tmp_path / "config.json"
    path.write_text(f"{TEXT[:-1]}, {number}}}", encoding="utf-8")
    name = number.partition(":")[0].strip('"')
    for line in failed("--config", str(path), *arguments):
        assert line.startswith(f"{name}: ")
        assert len(line) <= 301
    assert not requests_mock.called


@each_entry
@pytest.mark.parametrize("levels", [65, 400])
@pytest.mark.parametrize(
    "name", ["filters", "stream_maps", "page_size", "api_key", "x"]
)
def test_a_setting_that_is_nested_too_deeply(
    tmp_path: Path,
    requests_mock: requests_mock.Mocker,
    name: str,
    levels: int,
    arguments: list[str],
) -> None:
    path = tmp_path / "config.json"
    path.write_text(f'{TEXT[:-1]}, "{name}": {nested(levels)}}}', encoding="utf-8")
    assert run("--config", str(path), *arguments) == f"{name}: {TOO_DEEP}"
    assert not requests_mock.called


def test_later_files_override_earlier_ones(tmp_path: Path) -> None:
    for name, content in (("one", {**VALID, "page_size": 0}), ("two", {"pagesize": 1})):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    paths = [str(tmp_path / name) for name in ("one", "two")]
    result = enter("--config", paths[0], "--config", paths[1])
    assert sorted(refusal(result)) == [
        "page_size: 0 is less than the minimum of 1",
        "pagesize: there is no such setting; did you mean page_size?",
    ]


def test_files_may_be_pipes(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any], tmp_path: Path
) -> None:
    files = {
        "--config": {"page_size": 1},
        "--catalog": only("leads"),
        "--state": {"bookmarks": {"another": {"since": 1}}},
    }
    arguments = []
    for option, content in files.items():
        pipe = tmp_path / f"pipe{option}"
        os.mkfifo(pipe)
        # It waits for its reader.
        Thread(target=pipe.write_text, args=[json.dumps(content)], daemon=True).start()
        arguments += [option, str(pipe)]
    run = tap(config, *arguments).succeeded()
    asked = {(r["stream"], r["body"]["cursor"]["limit"]) for r in sandbox.requests()}
    assert asked == {("leads", 1)}
    assert len(run.records("leads")) == 3
    assert run.state["bookmarks"]["another"] == {"since": 1}
