"""The settings from environment variables: what is refused, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.entering import TOO_DEEP, nested
from tests.support.helpers import (
    API_KEY,
    PREFIX,
    VARIABLES,
    assert_keeps_secret,
    each_entry,
    each_reading_entry,
    enter,
    prefixed,
    refusal,
)
from tests.support.in_process import run_with_variables

if TYPE_CHECKING:
    from pathlib import Path

    import requests_mock
    from click.testing import Result

    from tap_leadintent.sandbox import Sandbox

pytestmark = pytest.mark.usefixtures("bare_environment")

NO_DATE = "is not a date or date-time, such as 2026-01-31"

# Each gives a variable another value, and the one line that follows.
MISTAKES: list[tuple[str, str, str]] = [
    ("PAGE_SIZE", "abc", "page_size: 'abc' is not of type 'integer', 'null'"),
    ("PAGE_SIZE", "1.5", "page_size: 1.5 is not of type 'integer', 'null'"),
    ("PAGE_SIZE", "1_0", "page_size: '1_0' is not of type 'integer', 'null'"),
    ("PAGE_SIZE", '"7"', "page_size: '7' is not of type 'integer', 'null'"),
    ("PAGE_SIZE", "true", "page_size: True is not of type 'integer', 'null'"),
    ("PAGE_SIZE", "101", "page_size: 101 is greater than the maximum of 100"),
    ("WINDOW_DAYS", "0,5", "window_days: '0,5' is not of type 'number', 'null'"),
    (
        "WINDOW_DAYS",
        "0",
        "window_days: 0 is less than or equal to the minimum of 0",
    ),
    ("WINDOW_DAYS", "NaN", "window_days: must be a finite number"),
    (
        "REQUEST_TIMEOUT_SECONDS",
        "1e999",
        "request_timeout_seconds: must be a finite number",
    ),
    (
        "INFER_COLUMNS",
        "maybe",
        "infer_columns: 'maybe' is not of type 'boolean', 'null'",
    ),
    (
        "EMIT_ACTIVATE_VERSION_MESSAGES",
        "2",
        "emit_activate_version_messages: 2 is not of type 'boolean', 'null'",
    ),
    (
        "FILTERS",
        '{"leads": ',
        "filters: is not valid JSON: Expecting value: line 1 column 11 (char 10)",
    ),
    ("FILTERS", f'{{"leads": {{"x": {nested(400)}}}}}', f"filters: {TOO_DEEP}"),
    (
        "FILTERS",
        "leads",
        "filters: is not valid JSON: Expecting value: line 1 column 1 (char 0)",
    ),
    ("FILTERS", "[]", "filters: [] is not of type 'object', 'null'"),
    (
        "FILTERS",
        '{"lead": {}}',
        "filters.lead: there is no such stream; did you mean leads?",
    ),
    (
        "FLATTENING_MAX_DEPTH",
        "two",
        "flattening_max_depth: 'two' is not of type 'integer', 'null'",
    ),
    (
        "STREAM_MAPS",
        "[1,",
        "stream_maps: is not valid JSON: Expecting value: line 1 column 4 (char 3)",
    ),
    (
        "BATCH_CONFIG",
        '{"encoding": {"format": "csv"}}',
        "batch_config.encoding.format: 'csv' is not one of ['jsonl', 'parquet']",
    ),
    (
        "BASE_URL",
        "api.example.com",
        "base_url: must be a URL such as https://api.example.com",
    ),
    # What the system hands over for bytes that are not UTF-8.
    ("USER_AGENT", "\udcff", "user_agent: must be printable ASCII"),
    ("START_DATE", "yesterday", f"start_date: 'yesterday' {NO_DATE}"),
    ("END_DATE", "null", f"end_date: 'null' {NO_DATE}"),
    (
        "API_KEY",
        f"{API_KEY}\n",
        "api_key: must not hold white space, control or non-ASCII characters",
    ),
]


def enter_with(variables: dict[str, str], *arguments: str) -> Result:
    """Enter the tap in this process, with nothing but these variables."""
    result = enter("--config=ENV", *arguments, env=prefixed(variables))
    assert_keeps_secret(API_KEY, result.output)
    return result


@each_entry
@pytest.mark.parametrize(("name", "text", "line"), MISTAKES)
def test_a_mistake_in_a_variable_is_one_line_and_no_request(
    requests_mock: requests_mock.Mocker,
    name: str,
    text: str,
    line: str,
    arguments: list[str],
) -> None:
    assert refusal(enter_with({**VARIABLES, name: text}, *arguments)) == [line]
    assert not requests_mock.called


@each_entry
def test_a_mistake_ends_the_process(
    tmp_path: Path, sandbox: Sandbox, arguments: list[str]
) -> None:
    variables = {"BASE_URL": sandbox.url, "API_KEY": API_KEY, "PAGE_SIZE": "abc"}
    done = run_with_variables(tmp_path, variables, *arguments)
    assert done.failed() == "page_size: 'abc' is not of type 'integer', 'null'"
    assert done.stdout == ""
    assert sandbox.requests() == []


@each_reading_entry
@pytest.mark.parametrize("name", VARIABLES)
def test_an_empty_variable_sets_nothing(name: str, arguments: list[str]) -> None:
    told = refusal(enter_with({**VARIABLES, name: ""}, *arguments))
    assert told == [f"{name.lower()}: is required"]


@pytest.mark.parametrize("name", ["PAGE_SIZE", "WINDOW_DAYS", "FILTERS"])
@pytest.mark.parametrize("text", ["9" * 5000, "[" * 50_000], ids=["digits", "deep"])
def test_a_text_that_no_decoder_bears(name: str, text: str) -> None:
    (line,) = refusal(enter_with({**VARIABLES, name: text}))
    assert line.startswith(f"{name.lower()}: ")
    assert len(line) <= 301


def test_each_malformed_object_has_its_line() -> None:
    lines = refusal(enter_with({**VARIABLES, "FILTERS": "{", "STREAM_MAPS": "["}))
    assert [line.split(":")[0] for line in lines] == ["filters", "stream_maps"]


@each_entry
def test_a_file_of_variables_that_is_not_text(
    tmp_path: Path, arguments: list[str]
) -> None:
    path = tmp_path / ".env"
    path.write_bytes(f"{PREFIX}API_KEY={API_KEY}\xff".encode("latin-1"))
    (line,) = refusal(enter_with({}, *arguments))
    assert line.startswith(f"--config: {path}: 'utf-8' codec can't ")


LEVELS = "choose one of DEBUG, INFO, WARNING, ERROR, CRITICAL"


@each_entry
@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ({"TAP_LEADINTENT_LOGLEVEL": "foo"}, "TAP_LEADINTENT_LOGLEVEL: ... 'foo'"),
        ({"LOGLEVEL": "10"}, "LOGLEVEL: ... '10'"),
        (
            {"TAP_LEADINTENT_LOGLEVEL": "verbose", "LOGLEVEL": "none"},
            "TAP_LEADINTENT_LOGLEVEL: ... 'verbose'",
        ),
    ],
)
def test_a_log_level_that_there_is_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    levels: dict[str, str],
    told: str,
    arguments: list[str],
) -> None:
    for variable, level in levels.items():
        monkeypatch.setenv(variable, level)
    done = run_with_variables(tmp_path, VARIABLES, *arguments)
    line = told.replace("...", "there is no log level")
    assert done.failed() == f"{line}; {LEVELS}"
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


@pytest.mark.parametrize("level", ["debug", "Info", "WARN", ""])
def test_a_log_level_in_any_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, level: str
) -> None:
    monkeypatch.setenv("TAP_LEADINTENT_LOGLEVEL", level)
    # What another program is told does not matter here.
    monkeypatch.setenv("LOGLEVEL", "" if not level else "all")
    run_with_variables(tmp_path, VARIABLES, "--test=schema").succeeded()
