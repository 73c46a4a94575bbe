"""The catalog: what cannot be meant is an error before the first request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

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

# Each changes an entry of the catalog, and gives the end of the one line that follows.
MISTAKES: list[tuple[str, dict[str, Any], str]] = [
    (
        "custom_signals",
        {"replication_method": "incremental"},
        f"there is no replication method incremental; {METHODS}",
    ),
    (
        "observations",
        {"replication_key": "observed"},
        "the key observed is not a column; did you mean observed_at?",
    ),
    (
        "leads",
        {"key_properties": ["id", "found"]},
        "the key found is not a column; choose a column of its schema",
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
def test_each_mistake_is_one_line_and_no_request(
    with_catalog: Callable[..., Result],
    requests_mock: requests_mock.Mocker,
    arguments: list[str],
) -> None:
    catalog = only(*STREAMS)
    for stream, change, _ in MISTAKES:
        entries(catalog)[stream].update(change)
    told = refusal(with_catalog(catalog, *arguments))
    lines = [f"catalog: {stream}: {line}" for stream, _, line in MISTAKES]
    assert sorted(told) == sorted(lines)
    assert not requests_mock.called


@pytest.mark.parametrize("arguments", [[], ["--test"], ["--test=schema"]])
@pytest.mark.parametrize(
    ("column", "place"),
    [
        ({"type": "strin"}, "x.type: 'strin' "),
        ({"type": ["string", "null"], "pattern": "("}, "x.pattern: '(' "),
        ({"anyOf": [{"type": 1}]}, "x.anyOf.0.type: 1 "),
        ({"properties": {"a": {"items": 1}}}, "x.properties.a.items: 1 "),
        (1, "x: 1 "),
    ],
)
def test_a_column_whose_schema_is_invalid(
    with_catalog: Callable[..., Result],
    column: object,
    place: str,
    arguments: list[str],
) -> None:
    catalog = only("leads", "observations")
    entries(catalog)["leads"]["schema"]["properties"]["x"] = column
    (line,) = refusal(with_catalog(catalog, *arguments))
    assert f"leads: schema.properties.{place}is not " in line


@each_reading_entry
@pytest.mark.parametrize("catalog", [only(), {"streams": []}], ids=["none", "empty"])
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


def test_streams_are_read_in_the_order_of_the_catalog(
    tap: Callable[..., Run], config: dict[str, Any]
) -> None:
    """What it does not know, as it is older than the stream, is not read."""
    catalog = only("leads", "observations", "custom_signals")
    known = entries(catalog)
    catalog["streams"] = [known[name] for name in ("observations", "leads")]
    run = tap(config, catalog=catalog).succeeded()
    order = [m["stream"] for m in run.messages if m["type"] == "SCHEMA"]
    assert order == ["observations", "leads"]
