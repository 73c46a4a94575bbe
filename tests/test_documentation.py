"""Code, `meltano.yml`, README and the pages of settings and tables say the same."""

import json
import re
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from tap_leadintent.config.settings import SCHEMA
from tap_leadintent.errors import TAP_NAME
from tap_leadintent.openapi import PATHS, is_documented
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import STREAMS, Json, declared_stream, where
from tests.support.pages import README, ROOT, blocks, section, tables, text_of

# The SDK adds its own settings to the schema as soon as a tap is made.
OF_THE_SDK = ("faker_config", "flattening_", "stream_map")
SETTINGS: dict[str, Json] = {
    name: setting
    for name, setting in SCHEMA["properties"].items()
    if not name.startswith(OF_THE_SDK)
}
TYPES = {
    "string": "text",
    "date-time": "timestamp",
    "number": "numeric",
    "boolean": "boolean",
    "object": "jsonb",
    "array": "jsonb",
}


def test_the_help_names_the_other_commands() -> None:
    printed = CliRunner().invoke(TapLeadIntent.cli, ["--help"]).stdout
    for command in distribution(TAP_NAME).entry_points:
        assert command.name in printed


def test_meltano_knows_the_capabilities_and_required_settings() -> None:
    result = CliRunner().invoke(TapLeadIntent.cli, ["--about", "--format=json"])
    about = json.loads(result.stdout)
    project = yaml.safe_load(text_of("meltano.yml"))
    (extractor,) = project["plugins"]["extractors"]
    # The SDK declares `start-date` from version 0.55 on.
    declared = {*about["capabilities"]} - {"start-date"}
    assert declared == {*extractor["capabilities"]}
    (required,) = extractor["settings_group_validation"]
    assert sorted(required) == sorted(SCHEMA["required"])
    # A definition cannot say it, so it has to be what there is without it.
    assert extractor["select"] == ["*.*"]


def test_the_page_of_settings_has_each_with_its_default() -> None:
    (table,) = tables(text_of("docs/settings.md"))
    described = set()
    for row in table:
        name = row["Setting"].strip("`")
        described.add(name)
        default = row["Default"]
        setting = SETTINGS[name]
        if "default" in setting:
            assert default.strip("`") == json.dumps(setting["default"])
        assert (default == "required") == (name in SCHEMA["required"])
    assert described == SETTINGS.keys()


def test_readme_streams() -> None:
    (table,) = tables(section(README, "## Streams"))
    described = set()
    for row in table:
        name = row["Stream"].strip("`")
        described.add(name)
        text = " ".join(row.values())
        stream = declared_stream(name)
        assert f"`{PATHS[name]}`" in text
        for key in stream.primary_keys:
            assert f"`{key}`" in text
        if stream.replication_key:
            assert f"`{stream.replication_key}`" in text
        assert stream.replication_method in text
    assert described == set(STREAMS)


def columns(properties: Mapping[str, Any], within: str = "") -> Iterator[list[str]]:
    """Yield the rows of a page's table: name and type."""
    for name, column in properties.items():
        kind = column["type"]
        if not isinstance(kind, str):
            kind = kind[0]
        type_of_table = TYPES[column.get("format", kind)]
        yield [
            f"`{within}{name}`",
            "" if within else type_of_table,
        ]
        yield from columns(
            column.get("properties", {}),
            f"{within}{name}.",
        )


@pytest.mark.parametrize("name", STREAMS)
def test_the_page_of_tables_has_every_column_with_its_type(name: str) -> None:
    stream = declared_stream(name)
    described = is_documented(name)
    heading = f"## {name}" if described else "## The other streams"
    found = tables(section(ROOT / "docs" / "tables.md", heading))
    rows: list[list[str]] = []
    for cells in found[0]:
        column, kind, *_ = cells.values()
        rows.append([column, kind])
    expected = [*columns(stream.schema["properties"])]
    if described:
        assert rows == expected
    else:
        own = [row for row in rows if row in expected]
        assert sorted(own) == sorted(expected)
        (row,) = where(found[1], Table=f"`{name}`")
        ranges = ", ".join(f"`{each}`" for each in stream.ranges)
        assert row["Time ranges"] == ranges


def has_column(name: str, field: str) -> bool:
    if not is_documented(name):
        return False
    stream = declared_stream(name)
    types = dict(columns(stream.schema["properties"]))
    return f"`{field}`" in types


def test_the_picture_of_tables_has_every_stream_and_tells_joins_from_guesses() -> None:
    text = text_of("docs/tables.md")
    (picture,) = blocks(text, "mermaid")
    keys = dict(re.findall(r"^ +(\w+) { text (\w+) PK }$", picture, re.MULTILINE))
    assert keys.keys() == {*STREAMS}
    for name, key in keys.items():
        first_key, *_ = declared_stream(name).primary_keys
        assert first_key == key
    joins = re.findall(r'(\w+) \S\S(--|\.\.)\S\S (\w+) : "(.*)"', picture)
    joined: set[str] = set()
    for one, _, other, _ in joins:
        joined |= {one, other}
    assert joined == {*STREAMS}
    assert len(joins) == picture.count(" : ")
    for one, line, other, label in joins:
        field = label.removeprefix("guess: ")
        is_known = has_column(one, field) and has_column(other, field)
        assert line == ("--" if is_known else "..")
        assert (label == field) == is_known


@pytest.mark.parametrize("page", ["scaling.md", "examples/airflow/backfill.py"])
def test_the_shards_of_a_backfill_have_all_incremental_streams(page: str) -> None:
    incremental = set()
    for name in STREAMS:
        if declared_stream(name).is_incremental:
            incremental.add(name)
    named = re.findall(r'"(\w+)\.\*"', text_of(f"docs/{page}"))
    assert {*named} == incremental


def test_any_terminal_can_show_what_the_tap_is_about() -> None:
    latin = CliRunner(charset="latin-1")
    shown = latin.invoke(TapLeadIntent.cli, ["--about", "--format=markdown"])
    assert "| base_url " in shown.stdout
    assert shown.exit_code == 0
