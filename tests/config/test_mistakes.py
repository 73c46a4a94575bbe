"""Each mistake in a setting is one line, before anything is sent."""

import json
from collections.abc import Callable
from typing import Any

import pytest
import requests_mock
from click.testing import Result

from tap_leadintent.sandbox import Sandbox
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import (
    API_KEY,
    VALID,
    Json,
    RunTap,
    each_entry,
    each_reading_entry,
    refusal,
)

ENCRYPT = "is not encrypted: write https:// (http for localhost)"
NO_URL = "is not an address, such as https://api.example.com"
NO_DATE = ": 'yesterday' is not a date or date-time, such as 2026-01-31"
NO_FIELD = "there is no such field; did you mean "
NOT_A_NAME = "there is no such field; name it as the API does, such as company.name"

URLS = {
    "'{}' does not begin with https://": [
        "",
        "api.example.com",
        "ftp://x.example.com",
    ],
    f"'{{}}' {ENCRYPT}": [
        "http://api.example.com",
        "http://127.0.0.1.example.com",
        "http://10.0.0.1",
    ],
    "'{}' ends with /v1: leave that out": [
        "https://api.example.com/v1",
        "https://api.example.com/root/v1/",
    ],
    "'{}' has a query: leave out what is after ? or #": [
        "https://api.example.com?x=1",
        "https://api.example.com/#x",
    ],
    f"'{{}}' {NO_URL}": [
        "https://",
        "https:///path",
        "https://[::1",
        "https://api example.com",
        "https://*.example.com",
        "https://api..example.com",
        "https://[1]",
        f"https://{'a' * 64}.example.com",
    ],
    "has a user or a key in it: leave out what is before the @": [
        f"https://user:{API_KEY}@api.example.com",
        f"http://{API_KEY}@localhost",
    ],
}
KEYS: dict[str, list[Any]] = {
    "has 0 characters, a key has more: copy it again from ": [""],
    "has 7 characters, a key has more: copy it again from ": ["1234567"],
    "has white space or another wrong character: copy it again from ": [
        f"{API_KEY} ",
        f"{API_KEY}\n",
        f"{API_KEY}é",
    ],
    "is not a text": [314159265],
}

EXCLUDED = {
    "fullName": f"{NO_FIELD}full_name?",
    "FULL_NAME": f"{NO_FIELD}full_name?",
    "Company.name": f"{NO_FIELD}company?",
    "company.*": NOT_A_NAME,
    "company__name": NOT_A_NAME,
    "company.": NOT_A_NAME,
    "": NOT_A_NAME,
    "additional_properties.full_name": NOT_A_NAME,
}

# A setting, a wrong value, and how the one line goes on after the setting's name.
MISTAKES: list[tuple[str, Any, str]] = [
    ("base_url", "https://x.de\n", rf": 'https://x.de\n' {NO_URL}"),
    ("user_agent", "a\r\nb", r": 'a\r\nb' is not ASCII, or has spaces"),
    ("user_agent", "tap é", ": 'tap é' is not "),
    ("user_agent", " a", ": ' a' is not "),
    ("user_agent", "a ", ": 'a ' is not "),
    ("pagesize", 1, ": there is no such setting; did you mean page_size?"),
    ("colour", "blue", ": there is no such setting"),
    ("page_size", 101, ": 101 is too large; the most is 100"),
    ("page_size", 1.5, ": 1.5 is not a whole number, such as 100"),
    ("page_size", "many", ": 'many' is not a whole number, such as 100"),
    ("window_days", 0, ": 0 is too small; it must be more than 0"),
    ("window_days", 1e20, ": 100000000000000000000 is too large; the most is 36525"),
    ("start_date", "yesterday", NO_DATE),
    ("stream_maps", {"user": {"id": "id"}}, ".user: there is no stream user"),
    ("stream_maps", {"lead": None}, ".lead: there is no stream lead; did you"),
    (
        "stream_maps",
        {"monitor*": None, "moniter*": None},
        ".moniter*: there is no stream",
    ),
    (
        "stream_maps",
        {"people": {"__source__": "lead"}},
        ".people: there is no stream lead",
    ),
    (
        "stream_maps",
        {"leads": {"__filtre__": None}},
        ".leads.__filtre__: there is no such option; did you mean __filter__",
    ),
    (
        "stream_maps",
        {"leads": {"fullName": None}},
        f".leads.fullName: {NO_FIELD}full_name?",
    ),
    (
        "stream_maps",
        {"lead*": {"FULL_NAME": None}},
        f".lead*.FULL_NAME: {NO_FIELD}full_name?",
    ),
    ("filters", {"leads": ["s"]}, ".leads: is not an object, as JSON"),
    ("filters", {"lead": {}}, ".lead: there is no such stream; did you mean leads?"),
    ("filters", {"invoices": {}}, ".invoices: there is no such stream"),
    ("filters", {"leads": {"cursor": {}}}, ".leads.cursor: is set by the tap and "),
    (
        "filters",
        {"monitored_accounts": {"latest_activity": {}}},
        ".monitored_accounts.latest_activity: is a time range, which the tap sets if ",
    ),
    (
        "filters",
        {"leads": {"sheet_id": ["s"]}},
        ".leads.sheet_id: there is no such request field; did you mean sheet_ids?",
    ),
    ("filters", {"leads": {"sheet_ids": [1]}}, ".leads.sheet_ids.0: 1 is not a text"),
    ("exclude_fields", {"lead": []}, ".lead: there is no such stream; did you mean "),
    ("exclude_fields", {"leads": ["id"]}, ".leads.id: cannot be removed, as the "),
]
for _text, _urls in URLS.items():
    for _url in _urls:
        _mistake = ("base_url", _url, f": {_text.format(_url)}")
        MISTAKES.append(_mistake)
for _text, _keys in KEYS.items():
    for _key in _keys:
        _mistake = ("api_key", _key, f": {_text}")
        MISTAKES.append(_mistake)
for _name, _problem in EXCLUDED.items():
    MISTAKES.append(
        ("exclude_fields", {"leads": [_name]}, f".leads.{_name}: {_problem}")
    )


@pytest.fixture
def refused(
    cli: Callable[..., Result],
    requests_mock: requests_mock.Mocker,
) -> Callable[..., list[str]]:
    """Enter the tap with changes to valid settings; give what it says of them.

    It refuses to begin, and sends no request.
    """

    def enter(change: Json, *arguments: str) -> list[str]:
        config = {**VALID, **change}
        messages = refusal(cli(config, *arguments))
        assert not requests_mock.called
        return messages

    return enter


@pytest.mark.parametrize(
    ("setting", "value", "line"),
    MISTAKES,
    ids=str,
)
def test_a_mistake_is_one_line_and_no_request(
    refused: Callable[..., list[str]],
    setting: str,
    value: object,
    line: str,
) -> None:
    (message,) = refused({setting: value})
    assert message.startswith(f"{setting}{line}")
    assert len(message) <= 301


@pytest.mark.parametrize("name", ["profile_url", "titles", "company.domains"])
def test_a_field_may_resemble_a_documented_one(name: str) -> None:
    """The API may have it without a word in its description."""
    maps = {"leads": {name: "__NULL__"}}
    changes = {
        "exclude_fields": {"leads": [name]},
        "stream_maps": maps,
    }
    config = {**VALID, **changes}
    TapLeadIntent(config=config)


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        ("9000-01-01", None, "lies in the future; now is "),
        ("9000-01-01", "9001-01-01", "lies in the future; now is "),
        ("2026-01-02", "2026-01-01", "comes after end_date, which is 2026-01-01"),
    ],
)
def test_a_start_after_the_end_or_in_the_future(
    refused: Callable[..., list[str]],
    start: str,
    end: str | None,
    text: str,
) -> None:
    (message,) = refused({"start_date": start, "end_date": end})
    assert message.startswith(f"start_date: {start} {text}")


@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_at_which_nothing_is_flattened(
    refused: Callable[..., list[str]],
    depth: int,
) -> None:
    change = {
        "flattening_enabled": True,
        "flattening_max_depth": depth,
    }
    (message,) = refused(change)
    assert message.startswith("flattening_max_depth: set 1 or more, as less flattens")
    assert "objects_as_text" in message


def test_all_mistakes_are_listed_one_per_line(cli: Callable[..., Result]) -> None:
    wrong = {
        "base_url": "x",
        "page_size": 0,
        "start_date": "2026-02-01",
        "end_date": "2026-02-01T00:59:59+01:00",
        "user_agent": "é",
        "pages\x1b[2J\u202e\n": 1,
        "filters": {"lead": {}},
        "flattening_enabled": True,
    }
    refused = []
    for line in refusal(cli(wrong)):
        setting, _, _ = line.partition(": ")
        refused.append(setting)
    assert sorted(refused) == [
        "api_key",
        "base_url",
        "filters.lead",
        "flattening_max_depth",
        "page_size",
        "pages\\x1b[2J\\u202e ",
        "start_date",
        "user_agent",
    ]


@each_entry
@pytest.mark.parametrize(
    "value",
    [
        {},
        {"encoding": {"format": "jsonl"}},
        "odd",
    ],
)
def test_files_of_batches_are_refused(
    refused: Callable[..., list[str]],
    value: object,
    arguments: list[str],
) -> None:
    (message,) = refused({"batch_config": value}, *arguments)
    assert message == (
        "batch_config: unset it, as the tap writes no BATCH files: 4 of 24 loaders "
        "that were tried accept them, load nothing, and report no error; to write "
        "Parquet to S3, use target-s3"
    )


@each_entry
def test_a_mistake_ends_the_process(
    tap: RunTap,
    sandbox: Sandbox,
    config: Json,
    arguments: list[str],
) -> None:
    """What is wrong is the last line of the log."""
    run = tap({**config, "pagesize": 7}, *arguments)
    assert run.failed().startswith("pagesize: there is no such setting; did you mean ")
    assert run.stdout == ""
    assert sandbox.requests() == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"base_url": "http://KEY"},
        {"page_size": "9" * 190 + "KEY" + "9" * 5000},
        {"KEY": 1},
        {"filters": {"leads": {"sheet_ids": ["KEY", {"x": "KEY"}]}}},
        {"batch_config": {"storage": {"root": "KEY"}}},
    ],
    ids=list,
)
def test_a_key_in_the_wrong_place_is_not_quoted(
    cli: Callable[..., Result],
    wrong: Json,
) -> None:
    text = json.dumps(wrong)
    change = json.loads(text.replace("KEY", API_KEY.upper()))
    for line in refusal(cli({**VALID, **change})):
        assert len(line) <= 301
        assert API_KEY[3:10] not in line.lower()


BROKEN_MAPS: list[tuple[Json, str]] = [
    ({"leads": {"x": "1 +"}}, ".leads.x: '1 +' is not an expression (invalid syntax)"),
    ({"leads": {"x": f"{API_KEY})"}}, ".leads.x: '***)' is not an expression ("),
    ({"leads": {"id": None}}, ".leads: Removing key property 'id' is not permitted"),
    ({"__else__": {"x": "1"}}, ".__else__: "),
    ({"leads": {"email": ["a"]}}, ".leads: "),
    ({"leads": {"email": ""}}, ".leads: "),
    (
        {"leads": {"__key_properties__": ["x"]}},
        ".leads: Invalid key properties for 'leads'",
    ),
]


@each_reading_entry
@pytest.mark.parametrize(("maps", "line"), BROKEN_MAPS, ids=str)
def test_a_map_that_cannot_work(
    refused: Callable[..., list[str]],
    maps: Json,
    line: str,
    arguments: list[str],
) -> None:
    """Discovery cannot know: maps apply to the catalog that is made of its own."""
    (message,) = refused({"stream_maps": maps}, *arguments)
    assert message.startswith(f"stream_maps{line}")
