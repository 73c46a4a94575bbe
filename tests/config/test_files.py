"""The files of the command line: what is wrong with them is one line."""

from __future__ import annotations

import json
import os
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.helpers import (
    API_KEY,
    VALID,
    assert_keeps_secret,
    each_entry,
    each_reading_entry,
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

TEXT = json.dumps(VALID)


def run(*arguments: str) -> str:
    """Enter the tap; give the one line with which it fails."""
    result = enter(*arguments)
    assert_keeps_secret(API_KEY, result.output)
    (line,) = refusal(result)
    return line


CONFIGS = {
    "empty": "",
    "text": f"api_key = {API_KEY}",
    "cut": TEXT[:-3],
    "string": json.dumps(API_KEY),
    "list of pairs": json.dumps([["api_key", API_KEY]]),
    "deep": "[" * 100_000,
    "no number": f'{TEXT[:-1]}, "window_days": NaN}}',
    "huge number": f'{TEXT[:-1]}, "page_size": 1e999}}',
    "not UTF-8": '{"api_key": "\udcff"}',
}


@each_entry
@pytest.mark.parametrize("text", CONFIGS.values(), ids=CONFIGS)
def test_a_file_that_is_not_a_config(
    tmp_path: Path, text: str, arguments: list[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    line = run("--config", str(path), *arguments)
    assert line.startswith("--config: ")
    assert "; give a JSON file of settings" in line


@pytest.mark.parametrize(
    "text", [TEXT, f'{{"api_key": "{API_KEY}\0"}}', f"{API_KEY}.json", ".", ""]
)
def test_what_is_in_the_place_of_a_config_is_not_shown(text: str) -> None:
    line = run("--config", text)
    assert line.endswith(
        "; give a JSON file of settings, or ENV for environment variables"
    )


def test_later_files_override_earlier_ones(tmp_path: Path) -> None:
    for name, content in (
        ("one", {**VALID, "page_size": 0}),
        ("two", {"page_size": 7}),
    ):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    paths = [f"--config={tmp_path / name}" for name in ("two", "one")]
    assert run(*paths) == "page_size: 0 is less than the minimum of 1"


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


# State and catalog


@each_reading_entry
@pytest.mark.parametrize(
    ("option", "text"),
    [
        *(
            (option, text)
            for option in ("--catalog", "--state")
            for text in ("", "{", "null", "[]", "[" * 100_000, "{'a': 1}")
        ),
        ("--catalog", "{}"),
        ("--catalog", '{"streams": {}}'),
        ("--catalog", '{"streams": [{"stream": "leads"}]}'),
        ("--catalog", '{"streams": [{"tap_stream_id": "leads", "schema": []}]}'),
        ("--catalog", '{"streams": [{"tap_stream_id": "leads", "metadata": [{}]}]}'),
        ("--state", '{"bookmarks": []}'),
        ("--state", '{"bookmarks": {"leads": "2026-01-01"}}'),
        ("--state", '{"singer_state": {"bookmarks": {"leads": {}}}}'),
        ("--state", '{"type": "STATE", "value": {"bookmarks": {"leads": {}}}}'),
        *((option, None) for option in ("--catalog", "--state")),
    ],
)
def test_a_file_that_is_not_a_catalog_or_state(
    tmp_path: Path,
    requests_mock: requests_mock.Mocker,
    option: str,
    text: str | None,
    arguments: list[str],
) -> None:
    path, other = tmp_path / "config.json", tmp_path / f"{API_KEY}.json"
    path.write_text(TEXT, encoding="utf-8")
    if text is not None:
        other.write_text(text, encoding="utf-8")
    line = run("--config", str(path), option, str(other), *arguments)
    assert line.startswith(f"{option}: ")
    assert "; give " in line
    assert not requests_mock.called
