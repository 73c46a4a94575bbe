"""The catalog: what cannot be meant is an error before the first request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.entering import TOO_DEEP
from tests.support.helpers import (
    STREAMS,
    VALID,
    each_reading_entry,
    enter,
    entries,
    only,
    refusal,
    select,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import requests_mock
    from click.testing import Result

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run

METHODS = "choose one of FULL_TABLE, INCREMENTAL"
COLUMN = "choose a column of its schema"

# Each changes an entry of the catalog, and gives the end of the one line that follows.
MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    (
        "leads",
        {"replication_method": "LOG_BASED"},
        f"there is no replication method LOG_BASED; {METHODS}",
    ),
    (
        "custom_signals",
        {"replication_method": "incremental"},
        f"there is no replication method incremental; {METHODS}",
    ),
    (
        "observations",
        {"replication_key": "observed"},
        "the replication key observed is not a column; did you mean observed_at?",
    ),
    (
        "monitored_accounts",
        {"replication_method": "INCREMENTAL", "replication_key": "updated"},
        f"the replication key updated is not a column; {COLUMN}",
    ),
    (
        "leads",
        {"key_properties": ["id", "found"]},
        f"the key column found is not a column; {COLUMN}",
    ),
]


@pytest.fixture
def with_catalog(tmp_path: Path) -> Callable[..., Result]:
    """Enter the tap in this process, with a catalog."""

    def run(catalog: dict[str, Any], *arguments: str) -> Result:
        for name, content in (("config", VALID), ("catalog", catalog)):
            path = tmp_path / f"{name}.json"
            path.write_text(json.dumps(content), encoding="utf-8")
            arguments += (f"--{name}", str(path))
        return enter(*arguments)

    return run


@each_reading_entry
@pytest.mark.parametrize(("stream", "change", "line"), MISTAKES)
def test_a_mistake_is_one_line_and_no_request(  # noqa: PLR0913, PLR0917 - fixtures
    with_catalog: Callable[..., Result],
    requests_mock: requests_mock.Mocker,
    stream: str,
    change: dict[str, Any],
    line: str,
    arguments: list[str],
) -> None:
    catalog = only(*STREAMS)
    entries(catalog)[stream].update(change)
    told = refusal(with_catalog(catalog, *arguments))
    assert told == [f"catalog: {stream}: {line}"]
    assert not requests_mock.called


NO_TYPE = "is not valid under any of the given schemas"
NO_SCHEMA = "is not of type 'object', 'boolean'"
NO_OBJECT = "Expected `object | null`, got `bool`"

COLUMNS: list[tuple[Any, str]] = [
    ({"type": "strin"}, f"'strin' {NO_TYPE}"),
    ({"type": ["string", "null"], "pattern": "("}, "'(' is not a 'regex'"),
    ({"type": 1}, f"1 {NO_TYPE}"),
    ({"type": [[]]}, f"[[]] {NO_TYPE}"),
    ({"anyOf": 1}, "1 is not of type 'array'"),
    ({"anyOf": [1]}, f"1 {NO_SCHEMA}"),
    ({"anyOf": [{"type": 1}]}, f"1 {NO_TYPE}"),
    ({"items": 1}, f"1 {NO_SCHEMA}"),
    ({"properties": {"a": {"items": 1}}}, f"1 {NO_SCHEMA}"),
    (1, f"1 {NO_SCHEMA}"),
    # JSON schemas may be `true`; the SDK takes each for an object.
    (True, "Expected `object`, got `bool`"),
    ({"items": True}, f"{NO_OBJECT} - at `$.items`"),
    (
        {"properties": {"a": False}},
        "Expected `object`, got `bool` - at `$.properties[...]`",
    ),
    ({"anyOf": [True]}, "Expected `object`, got `bool` - at `$.anyOf[0]`"),
]


@pytest.mark.parametrize("arguments", [[], ["--test"], ["--test=schema"]])
@pytest.mark.parametrize(
    ("column", "problem"), COLUMNS, ids=[str(column) for column, _ in COLUMNS]
)
def test_a_column_whose_schema_is_invalid(  # noqa: PLR0913, PLR0917 - parameters
    with_catalog: Callable[..., Result],
    requests_mock: requests_mock.Mocker,
    tmp_path: Path,
    column: object,
    problem: str,
    arguments: list[str],
) -> None:
    catalog = only("leads", "observations")
    entries(catalog)["leads"]["schema"]["properties"]["x"] = column
    (line,) = refusal(with_catalog(catalog, *arguments))
    told = f"its schema is not a valid JSON schema ({problem})"
    begin = f"--catalog: {tmp_path / 'catalog.json'}: leads: column x: "
    assert line == f"{begin}{told} - at `$.streams[1]`"
    assert not requests_mock.called


def _nested(keyword: str, levels: int) -> Any:
    """Give a column whose schema has so many schemas inside."""
    schema: Any = {"type": ["string", "null"]}
    for _ in range(levels):
        inside = {"properties": {"a": schema}, "items": schema, "anyOf": [schema]}
        schema = {keyword: inside[keyword]}
    return schema


@pytest.mark.parametrize("arguments", [[], ["--test"], ["--test=schema"]])
@pytest.mark.parametrize("keyword", ["properties", "items", "anyOf"])
def test_a_column_whose_schema_is_nested_too_deeply(
    with_catalog: Callable[..., Result],
    requests_mock: requests_mock.Mocker,
    tmp_path: Path,
    keyword: str,
    arguments: list[str],
) -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["schema"]["properties"]["x"] = _nested(keyword, 150)
    (line,) = refusal(with_catalog(catalog, *arguments))
    told = f"leads: column x: its schema {TOO_DEEP} - at `$.streams[1]`"
    assert line == f"--catalog: {tmp_path / 'catalog.json'}: {told}"
    assert not requests_mock.called


@pytest.mark.parametrize("keyword", ["properties", "items", "anyOf"])
def test_a_column_whose_schema_is_nested_deeply(
    tap: Callable[..., Run], config: dict[str, Any], keyword: str
) -> None:
    catalog = only("leads")
    entries(catalog)["leads"]["schema"]["properties"]["x"] = _nested(keyword, 30)
    run = tap(config, catalog=catalog).succeeded()
    assert len(run.records("leads")) == 3


def test_each_mistake_has_its_line(with_catalog: Callable[..., Result]) -> None:
    catalog = only(*STREAMS)
    for name in ("leads", "observations"):
        entries(catalog)[name].update(replication_key="x", key_properties=["y"])
    lines = refusal(with_catalog(catalog))
    assert [line.partition(" is no")[0] for line in lines] == [
        "catalog: leads: the replication key x",
        "catalog: leads: the key column y",
        "catalog: observations: the replication key x",
        "catalog: observations: the key column y",
    ]


@each_reading_entry
@pytest.mark.parametrize(
    "catalog", [only(), {"streams": []}], ids=["none selected", "no entries"]
)
def test_nothing_selected_cannot_be_meant(
    with_catalog: Callable[..., Result],
    requests_mock: requests_mock.Mocker,
    catalog: dict[str, Any],
    arguments: list[str],
) -> None:
    (line,) = refusal(with_catalog(catalog, *arguments))
    assert line.startswith("no stream is selected; in Meltano add rules such as ")
    assert not requests_mock.called


def test_what_is_deselected_does_not_matter(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    catalog = only(*STREAMS)
    for stream, change, _ in MISTAKES:
        entries(catalog)[stream].update(change)
        select(catalog, stream, selected=False)
    run = tap(config, catalog=catalog).succeeded()
    written = {m["stream"] for m in run.messages if m["type"] == "RECORD"}
    assert written == {*STREAMS} - {stream for stream, _, _ in MISTAKES}
    assert written > {"signal_agents", "signal_accounts"}


def test_columns_that_the_catalog_adds_can_be_keys(
    tap: Callable[..., Run], sandbox: Sandbox, config: dict[str, Any]
) -> None:
    catalog = only("custom_signals")
    entry = entries(catalog)["custom_signals"]
    entry["schema"]["properties"]["name"] = {"type": ["string", "null"]}
    entry.update(key_properties=["name"], replication_key="name")
    run = tap(config, catalog=catalog).succeeded()
    names = {record["name"] for record in run.records("custom_signals")}
    assert names == {record["name"] for record in sandbox.records("custom_signals")}


def test_a_stream_that_the_catalog_does_not_know_is_not_read(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    """Its catalog may be older than the release that brought the stream."""
    catalog = only("leads")
    catalog["streams"] = [entries(catalog)["leads"]]
    run = tap(config, catalog=catalog).succeeded()
    assert {m["stream"] for m in run.messages if m["type"] == "RECORD"} == {"leads"}


def test_streams_are_read_in_the_order_of_the_catalog(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    catalog = only("leads", "observations", "custom_signals")
    catalog["streams"].reverse()
    run = tap(config, catalog=catalog).succeeded()
    order = [m["stream"] for m in run.messages if m["type"] == "SCHEMA"]
    assert order == ["observations", "leads", "custom_signals"]
