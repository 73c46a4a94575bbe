"""The settings from environment variables, which are as good as those from files."""

import logging
import os
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
import requests_mock

from tap_leadintent.singer.files import read_environment
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    API_KEY,
    PREFIX,
    VALID,
    VARIABLES,
    enter,
    lines_with,
    options,
    prefixed,
    refusal,
)

pytestmark = pytest.mark.usefixtures("bare_environment")

VALUES: list[tuple[str, str, Any]] = [
    ("WINDOW_DAYS", "0.5", 0.5),
    ("PAGE_SIZE", " 50\n", 50),
    ("PAGE_SIZE", "null", 100),
    ("PAGE_SIZE", "", 100),
    ("FILTERS", '{"leads": {"sheet_ids": ["ä"]}}', {"leads": {"sheet_ids": ["ä"]}}),
    ("STREAM_MAPS", '{"leads": {"title": null}}', {"leads": {"title": None}}),
    ("USER_AGENT", "1.50", "1.50"),
    ("LOAD_RECEIPTS", "true", True),
    ("LOAD_RECEIPTS", "null", False),
]
MISTAKES: list[tuple[str, str, str]] = [
    ("PAGE_SIZE", "1_0", "page_size: '1_0' is not a whole number, such as 100"),
    ("PAGE_SIZE", "9" * 5000, "page_size: "),
    ("WINDOW_DAYS", "NaN", "window_days: 'NaN' is not a number, such as 30"),
    (
        "LOAD_RECEIPTS",
        "maybe",
        "load_receipts: 'maybe' is not true or false, such as false",
    ),
    (
        "FAKER_CONFIG",
        '{"hidden": "in here",}',
        "faker_config: is not an object, as JSON",
    ),
    (
        "STREAM_MAP_CONFIG",
        '{"hidden": "in here",}',
        "stream_map_config: is not an object, as JSON",
    ),
    (
        "EXCLUDE_FIELDS",
        '{"leads": "id"}',
        "exclude_fields.leads: 'id' is not a list, as JSON",
    ),
    # What the system hands over for bytes that are not UTF-8.
    ("USER_AGENT", "\udcff", r"user_agent: '\udcff' is not ASCII"),
    ("END_DATE", "null", "end_date: 'null' is not a date or date-time, such as "),
    ("API_KEY", f"{API_KEY}\n", "api_key: has white space or "),
    ("API_KEY", "", "api_key: is not set; meltano config set "),
]


def read(variables: dict[str, str]) -> dict[str, Any]:
    """Return the settings of a tap that reads the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name, text in prefixed(variables).items():
            patch.setenv(name, text)
        TapLeadIntent.append_builtin_config(schema := TapLeadIntent.config_jsonschema)
        tap = TapLeadIntent(
            config=read_environment(TapLeadIntent.name, schema),
            setup_mapper=False,
        )
        return dict(tap.config)


@pytest.mark.parametrize(("name", "text", "value"), VALUES)
def test_values(
    name: str,
    text: str,
    value: Any,
) -> None:
    arrived = read({**VARIABLES, name: text})[name.lower()]
    assert arrived == value
    assert type(arrived) is type(value)


@pytest.mark.parametrize(("name", "text", "line"), MISTAKES)
def test_a_mistake_is_one_line_and_no_request(
    requests_mock: requests_mock.Mocker,
    name: str,
    text: str,
    line: str,
) -> None:
    result = enter("--config=ENV", env=prefixed({**VARIABLES, name: text}))
    (message,) = refusal(result)
    assert message.startswith(line)
    assert len(message) <= 301
    assert API_KEY not in result.output
    assert "hidden" not in result.output
    assert not requests_mock.called


def test_the_environment_is_read_only_on_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Meltano sets the variables too, beside the file that it made of them."""
    monkeypatch.setenv(f"{PREFIX}PAGE_SIZE", "abc")
    assert TapLeadIntent(config={**VALID}).config["page_size"] == 100


def test_the_variables_of_an_inheriting_extractor_are_no_mistakes(
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
) -> None:
    """Meltano sets them beside the parent's, for each setting that has a value."""
    theirs = {
        "HOURLY_LOOKBACK_MINUTES": "120",
        "ACME_BASE_URL": "x",
        "_SELECT": "[]",
    }
    with (
        mock.patch.dict(os.environ, prefixed({**VARIABLES, **theirs})),
        caplog.at_level(logging.WARNING),
    ):
        enter(*options(tmp_path, config=VALID), "--discover")
    assert caplog.messages == []


PROJECT = """\
environments:
- name: dev
- name: prod
  config:
    plugins:
      extractors:
      - name: tap-leadintent
        config: {{api_key: '{key}'}}
plugins:
  extractors:
  - name: tap-leadintent
    config: {{api_key: $KEY_OF_DEV}}
"""


def refusal_of_a_run_by_meltano(project: Path, environment: str) -> str:
    """Return what the tap says if Meltano has no value for its key."""
    config = {**VALID}
    del config["api_key"]
    variables = {
        "MELTANO_ENVIRONMENT": environment,
        "MELTANO_EXTRACTOR_NAME": "tap-leadintent",
        "MELTANO_PROJECT_ROOT": str(project),
    }
    (message,) = refusal(enter(*options(project, config=config), env=variables))
    return message


@pytest.mark.parametrize(
    ("environment", "key", "named"),
    [
        ("prod", "$KEY_OF_PROD", "KEY_OF_PROD"),
        ("prod", "${KEY_OF_PROD}", "KEY_OF_PROD"),
        ("dev", "$KEY_OF_PROD", "KEY_OF_DEV"),
        ("prod", "", "KEY_OF_DEV"),
    ],
)
def test_a_missing_key_is_named_by_the_variable_that_meltano_would_read(
    tmp_path: Path,
    environment: str,
    key: str,
    named: str,
) -> None:
    (tmp_path / "meltano.yml").write_text(PROJECT.format(key=key), encoding="utf-8")
    message = refusal_of_a_run_by_meltano(tmp_path, environment)
    text = f"api_key: is not set; set the environment variable {named}, which "
    assert message.startswith(text)


def test_a_missing_key_of_a_project_that_sets_it_for_an_environment(
    tmp_path: Path,
) -> None:
    """A key that is set for all environments would be used in the others, too."""
    project = PROJECT.format(key="$KEY_OF_PROD").replace(
        "{api_key: $KEY_OF_DEV}",
        "{}",
    )
    (tmp_path / "meltano.yml").write_text(project, encoding="utf-8")
    message = refusal_of_a_run_by_meltano(tmp_path, "")
    assert message.startswith(
        "api_key: is not set; type meltano --environment=prod …, as meltano.yml "
    )
    assert "config set" not in message


@pytest.mark.parametrize("project", ["", "- 1", "plugins: {extractors: [", "a: [1]"])
def test_a_missing_key_without_a_variable_in_the_project(
    tmp_path: Path,
    project: str,
) -> None:
    if project:
        (tmp_path / "meltano.yml").write_text(project, encoding="utf-8")
    message = refusal_of_a_run_by_meltano(tmp_path, "prod")
    assert message.startswith("api_key: is not set; meltano config set tap-leadintent ")


def test_the_shell_overrides_a_file_of_variables_and_both_a_config_unless_empty(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = {
        **VALID,
        "page_size": 103,
        "max_retries": -2,
        "concurrency": 0,
    }
    files = options(tmp_path, config=config)
    text = f"{PREFIX}PAGE_SIZE=102\n{PREFIX}MAX_RETRIES='-1'\n"
    (tmp_path / ".env").write_text(text, encoding="utf-8")
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    shell = prefixed({"PAGE_SIZE": "101", "CONCURRENCY": ""})
    with mock.patch.dict(os.environ, shell):
        result = enter("--config=ENV", *files)
    assert sorted(refusal(result)) == [
        "concurrency: 0 is too small; the least is 1",
        "max_retries: -1 is too small; the least is 0",
        "page_size: 101 is too large; the most is 100",
    ]


def test_a_file_of_variables_that_cannot_be_read_ends_no_run_without_need(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / ".env").write_bytes(f"{PREFIX}API_KEY={API_KEY}\xff".encode("latin-1"))
    enough = [
        *options(tmp_path, config=VALID),
        "--config=ENV",
        "--discover",
    ]
    assert enter(*enough).exit_code == 0
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert enter(*enough).exit_code == 0
    first, second = lines_with(".env cannot", caplog.messages)
    assert first.startswith(".env cannot be read: 'utf-8' codec can't ")
    assert second == ".env cannot be read: No such file or directory"
