"""State and catalog as files: what is wrong with them is one line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tap_leadintent.tap import TapLeadIntent
from tests.support.entering import TEXT, TOO_DEEP, nested, run
from tests.support.helpers import (
    API_KEY,
    STREAMS,
    each_reading_entry,
    only,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import requests_mock

    from tap_leadintent.sandbox import Sandbox
    from tests.support.helpers import Run


@pytest.mark.parametrize("option", ["--state", "--catalog"])
def test_a_state_or_catalog_whose_path_holds_the_key(
    tmp_path: Path, option: str
) -> None:
    config, other = tmp_path / "config.json", tmp_path / f"{API_KEY}\x1b.json"
    config.write_text(TEXT, encoding="utf-8")
    other.write_text("{", encoding="utf-8")
    line = run("--config", str(config), option, str(other))
    assert line.startswith(f"{option}: {tmp_path}/***\\x1b.json: ")


@pytest.mark.parametrize(
    ("option", "text"),
    [
        *(
            (option, text)
            for option in ("--catalog", "--state")
            for text in ("", "{", "null", "7", "[]", '"x"', "[" * 100_000, "{'a': 1}")
        ),
        ("--catalog", "{}"),
        ("--catalog", '{"streams": {}}'),
        ("--catalog", '{"streams": ["leads"]}'),
        ("--catalog", '{"streams": [{"stream": "leads"}]}'),
        ("--catalog", '{"streams": [{"tap_stream_id": "leads", "schema": []}]}'),
        (
            "--catalog",
            '{"streams": [{"tap_stream_id": "leads", "schema": {"properties": [1]}}]}',
        ),
        ("--catalog", '{"streams": [{"tap_stream_id": "leads", "metadata": {}}]}'),
        ("--catalog", '{"streams": [{"tap_stream_id": "leads", "metadata": [{}]}]}'),
        ("--catalog", '{"streams": [{"tap_stream_id": "x", "key_properties": "id"}]}'),
        ("--catalog", '{"streams": [{"tap_stream_id": "x", "schema": {"items": []}}]}'),
        ("--catalog", f'{{"streams": [], "more": {nested(400)}}}'),
        ("--state", f'{{"bookmarks": {{}}, "more": {nested(400)}}}'),
        ("--state", '{"bookmarks": null}'),
        ("--state", '{"bookmarks": []}'),
        ("--state", '{"bookmarks": {"leads": null}}'),
        ("--state", '{"bookmarks": {"leads": "2026-01-01"}}'),
        ("--state", '{"singer_state": {"bookmarks": {"leads": {}}}}'),
        ("--state", '{"type": "STATE", "value": {"bookmarks": {"leads": {}}}}'),
    ],
)
def test_a_file_that_is_not_a_catalog_or_state(
    tmp_path: Path, requests_mock: requests_mock.Mocker, option: str, text: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(TEXT, encoding="utf-8")
    other = tmp_path / "other.json"
    other.write_text(text, encoding="utf-8")
    line = run("--config", str(path), option, str(other))
    assert line.startswith(f"{option}: {other}: ")
    assert "; give " in line or ": give " in line
    assert not requests_mock.called


@each_reading_entry
@pytest.mark.parametrize("levels", [65, 400])
@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ("leads", '{"coverage": %s}'),
        ("leads", '{"coverage": [{"range": "date_found", "source": %s}]}'),
        ("leads", '{"replication_key_value": %s}'),
        ("another", '{"since": %s}'),
    ],
)
def test_a_state_that_is_nested_too_deeply(  # noqa: PLR0913, PLR0917 - parameters
    tmp_path: Path,
    requests_mock: requests_mock.Mocker,
    stream: str,
    said: str,
    levels: int,
    arguments: list[str],
) -> None:
    path, state = tmp_path / "config.json", tmp_path / "state.json"
    path.write_text(TEXT, encoding="utf-8")
    text = f'{{"bookmarks": {{"{stream}": {said % nested(levels)}}}}}'
    state.write_text(text, encoding="utf-8")
    line = run("--config", str(path), "--state", str(state), *arguments)
    assert line == f"--state: {state}: the state of {stream} {TOO_DEEP}"
    assert not requests_mock.called


@pytest.mark.parametrize("option", ["--catalog", "--state"])
@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_catalog_or_state_that_cannot_be_opened(
    tmp_path: Path, option: str, name: str
) -> None:
    path = tmp_path / "config.json"
    path.write_text(TEXT, encoding="utf-8")
    line = run("--config", str(path), option, str(tmp_path / name))
    why = {"absent.json": "No such file or directory", ".": "Is a directory"}[name]
    assert line.startswith(f"{option}: {tmp_path / name}: {why}; give ")


@pytest.mark.parametrize("option", ["--catalog", "--state"])
@pytest.mark.parametrize("text", ["", " \n"])
def test_an_empty_catalog_or_state_says_so(
    tmp_path: Path, option: str, text: str
) -> None:
    for name, content in (("config", TEXT), ("other", text)):
        (tmp_path / name).write_text(content, encoding="utf-8")
    line = run("--config", str(tmp_path / "config"), option, str(tmp_path / "other"))
    assert line.startswith(f"{option}: {tmp_path / 'other'}: is empty; give ")


def with_entry(name: str, *words: dict[str, Any]) -> dict[str, Any]:
    """Give a catalog with leads, and last an entry about which its metadata says so."""
    catalog = only("leads")
    metadata = [{"breadcrumb": [], "metadata": said} for said in words]
    catalog["streams"].append({"tap_stream_id": name, "metadata": metadata})
    return catalog


SELECTED: dict[str, list[dict[str, Any]]] = {
    "selected": [{"selected": True}],
    "selected by default": [{"selected-by-default": True}],
    "automatic": [{"inclusion": "automatic", "selected": False}],
    "nothing said": [],
}
DESELECTED: dict[str, list[dict[str, Any]]] = {
    "deselected": [{"selected": False, "selected-by-default": True}],
    "deselected by default": [{"selected": None, "selected-by-default": False}],
    "unsupported": [{"inclusion": "unsupported", "selected": True}],
    "no word of it": [{"inclusion": "available"}],
}


@pytest.mark.parametrize("words", SELECTED.values(), ids=SELECTED)
@pytest.mark.parametrize(
    ("name", "hint"), [("lead", "; did you mean leads?"), ("invoices", "")]
)
def test_a_catalog_that_selects_a_stream_that_there_is_not(
    tmp_path: Path,
    requests_mock: requests_mock.Mocker,
    name: str,
    hint: str,
    words: list[dict[str, Any]],
) -> None:
    """The SDK would ignore it, and leave out the stream that was meant."""
    config, path = tmp_path / "config.json", tmp_path / "catalog.json"
    config.write_text(TEXT, encoding="utf-8")
    path.write_text(json.dumps(with_entry(name, *words)), encoding="utf-8")
    line = run("--config", str(config), "--catalog", str(path))
    told = f"{name}: there is no such stream{hint} - at `$.streams[{len(STREAMS)}]`"
    assert line == f"--catalog: {path}: {told}"
    assert not requests_mock.called


@pytest.mark.parametrize("words", DESELECTED.values(), ids=DESELECTED)
def test_a_catalog_that_deselects_a_stream_that_there_is_not(
    tap: Callable[..., Run], config: dict[str, Any], words: list[dict[str, Any]]
) -> None:
    """It may be older than the release that dropped the stream."""
    run = tap(config, catalog=with_entry("invoices", *words)).succeeded()
    assert len(run.records("leads")) == 3
    (line,) = (line for line in run.stderr.splitlines() if "invoices" in line)
    assert "WARNING" in line
    assert line.endswith("| Ignored in the catalog: there is no stream invoices")


@pytest.mark.parametrize(
    "coverage",
    [
        "all",
        7,
        {},
        [1],
        [{}],
        [{"range": "date_found"}],
        [{"range": "date_found", "from": 1, "to": 2}],
        [{"range": "date_found", "from": "x", "to": "y"}],
        [{"range": "date_found", "from": "2026-02-01", "to": "2026-01-01"}],
    ],
    ids=str,
)
def test_malformed_coverage(
    sandbox: Sandbox,
    config: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    coverage: Any,
) -> None:
    target: Any = Messages()
    state = {"bookmarks": {"leads": {"coverage": coverage}}}
    TapLeadIntent(
        config=config,
        catalog=only("leads"),
        state=json.loads(json.dumps(state)),
        message_writer=target,
    ).sync_all()
    assert set(target.ids) == {lead["id"] for lead in sandbox.records("leads")}
    assert "The stream starts anew" in caplog.text or coverage == {}


class Messages:
    """Keeps the ids of what is written."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def write_message(self, message: Any) -> None:
        content = message.to_dict()
        if content["type"] == "RECORD":
            self.ids.append(content["record"]["id"])
