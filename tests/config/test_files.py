"""The files of the command line: what is wrong with them is one line."""

import json
from pathlib import Path
from uuid import uuid4

import pytest
import requests_mock

from tests.support.helpers import (
    API_KEY,
    VALID,
    assert_keeps_secret,
    each_entry,
    enter,
    options,
    refusal,
)

TEXT = json.dumps(VALID)
NO_CONFIG = "; give a JSON file of settings, or ENV for environment variables"


def run(*arguments: str) -> str:
    """Enter the tap; give the one line with which it fails."""
    result = enter(*arguments)
    assert_keeps_secret(API_KEY, result.output)
    (line,) = refusal(result)
    return line


CONFIGS = {
    "nothing": " \n",
    "text": f"api_key = {API_KEY}",
    "string": json.dumps(API_KEY),
    "not UTF-8": '{"api_key": "\udcff"}',
}


@pytest.mark.parametrize("text", CONFIGS.values(), ids=CONFIGS)
def test_a_file_that_is_not_a_config(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(
        text,
        encoding="utf-8",
        errors="surrogateescape",
    )
    line = run("--config", str(path))
    assert line.startswith(f"--config {path}: ")
    assert line.endswith(NO_CONFIG)
    missing = run("--config", "nope.json")
    assert missing == f"--config nope.json: No such file or directory{NO_CONFIG}"


@each_entry
@pytest.mark.parametrize("text", [TEXT, f'{{"api_key": "{API_KEY}\0"}}', "."])
def test_a_value_given_as_config_path_is_not_shown(
    text: str,
    arguments: list[str],
) -> None:
    # A key that no other test has: what one tap hides, all taps of a process hide.
    key = uuid4().hex
    line = run(
        "--config",
        text.replace(API_KEY, key),
        *arguments,
    )
    assert line.endswith(NO_CONFIG)
    assert key not in line


def test_later_files_override_earlier_ones(tmp_path: Path) -> None:
    for name, content in (
        ("one", {**VALID, "page_size": 0}),
        ("two", {"page_size": 7}),
    ):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    earlier = f"--config={tmp_path / 'two'}"
    later = f"--config={tmp_path / 'one'}"
    assert run(earlier, later) == "page_size: 0 is too small; the least is 1"


DEEP = '{"streams": %s%s, "bookmarks": {"leads": {"x": %s%s}}}'


@pytest.mark.parametrize("levels", [200, 5_000])
@pytest.mark.parametrize("option", ["--catalog", "--state", "--config"])
def test_a_file_that_is_nested_too_deep(
    tmp_path: Path,
    option: str,
    levels: int,
) -> None:
    deep = tmp_path / "deep.json"
    nested = "[" * levels, "]" * levels
    deep.write_text(DEEP % (nested + nested), encoding="utf-8")
    line = run(
        *options(tmp_path, config=VALID),
        option,
        str(deep),
    )
    assert line.startswith(f"{option} {deep}: it is nested more than 100 levels deep; ")


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--catalog", ""),
        ("--catalog", TEXT),
        ("--catalog", "{}"),
        ("--catalog", '{"streams": [{"stream": "leads"}]}'),
        ("--catalog", '{"streams": [{"tap_stream_id": "leads", "metadata": [1]}]}'),
        ("--state", "null"),
        ("--state", '{"streams": []}'),
        ("--state", '{"bookmarks": {"leads": "2026-01-01"}}'),
        ("--state", '{"type": "STATE", "value": {"bookmarks": {"leads": {}}}}'),
        ("--state", None),
    ],
)
def test_a_file_that_is_not_a_catalog_or_state(
    tmp_path: Path,
    requests_mock: requests_mock.Mocker,
    option: str,
    text: str | None,
) -> None:
    key = uuid4().hex
    other = tmp_path / f"{key}.json"
    if text is not None:
        other.write_text(text.replace(API_KEY, key), encoding="utf-8")
    config = {**VALID, "api_key": key}
    line = run(
        *options(tmp_path, config=config),
        option,
        str(other),
    )
    assert line.startswith(f"{option} {tmp_path}/***.json: ")
    assert "; give " in line
    assert not requests_mock.called
