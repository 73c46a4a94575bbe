"""Code, `meltano.yml`, `docs/settings.md`, README and `--about` say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tap_leadintent.config.settings import SCHEMA
from tests.support.helpers import STREAMS, declared_stream, markdown_table
from tests.support.plugin_definitions import about, leaves

ROOT = Path(__file__).parents[1]
# The SDK adds its own settings to the schema as soon as a tap is made.
OF_THE_SDK = ("batch_config", "faker_config", "flattening_", "stream_map")
SETTINGS: dict[str, dict[str, Any]] = {
    name: setting
    for name, setting in SCHEMA["properties"].items()
    if not name.startswith(OF_THE_SDK)
}
REQUIRED: list[str] = SCHEMA["required"]
# Meltano knows no other number than the integer that can be set in the environment.
KINDS = {
    "array": {"array"},
    "boolean": {"boolean"},
    "integer": {"integer"},
    "number": {"integer", "decimal"},
    "object": {"object"},
    "string": {"string", "options", "date_iso8601"},
}


ABOUT = json.loads(about("json"))


@pytest.fixture(scope="module")
def readme() -> str:
    return (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page() -> str:
    return "\n" + (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def extractor() -> dict[str, Any]:
    project = yaml.safe_load((ROOT / "meltano.yml").read_text(encoding="utf-8"))
    (found,) = (
        plugin
        for plugin in project["plugins"]["extractors"]
        if plugin["name"] == "tap-leadintent"
    )
    return dict(found)


def kind(setting: dict[str, Any]) -> str:
    """Give the type of a setting."""
    (found,) = {*setting["type"]} - {"null"}
    return str(found)


# The code itself


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=SETTINGS)
def test_every_setting_is_explained(setting: dict[str, Any]) -> None:
    assert setting["title"]
    assert setting["description"]


def test_only_the_key_is_secret() -> None:
    secret = [name for name, setting in SETTINGS.items() if setting.get("secret")]
    assert secret == ["api_key"]
    assert REQUIRED == ["base_url", "api_key"]


# meltano.yml


def test_meltano_settings(extractor: dict[str, Any]) -> None:
    names = [setting["name"] for setting in extractor["settings"]]
    assert len(names) == len(set(names))
    assert set(names) == leaves(ABOUT["settings"]["properties"]).keys()


@pytest.mark.parametrize("name", SETTINGS)
def test_meltano_setting(extractor: dict[str, Any], name: str) -> None:
    (setting,) = (
        setting for setting in extractor["settings"] if setting["name"] == name
    )
    assert setting["kind"] in KINDS[kind(SETTINGS[name])]
    assert setting["label"] == SETTINGS[name]["title"]
    assert setting["description"] == SETTINGS[name]["description"]
    assert setting.get("value") == SETTINGS[name].get("default")
    assert setting.get("sensitive", False) == SETTINGS[name].get("secret", False)


def test_meltano_kinds_of_what_comes_with_the_sdk(extractor: dict[str, Any]) -> None:
    for setting in extractor["settings"]:
        assert set().union(*KINDS.values()) >= {setting["kind"]}


def test_meltano_capabilities(extractor: dict[str, Any]) -> None:
    assert sorted(extractor["capabilities"]) == sorted(ABOUT["capabilities"])


def test_meltano_required(extractor: dict[str, Any]) -> None:
    assert extractor["settings_group_validation"] == [REQUIRED]


# docs/settings.md and README


def test_page_settings(page: str) -> None:
    rows = [
        row["setting"].strip("`")
        for row in markdown_table(page, "# Settings")
        if row["setting"].startswith("`")
    ]
    assert len(rows) == len(set(rows))
    assert set(rows) >= SETTINGS.keys()
    assert set(rows) <= {
        *leaves(ABOUT["settings"]["properties"]),
        *ABOUT["settings"]["properties"],
    }


@pytest.mark.parametrize("name", SETTINGS)
def test_page_default(page: str, name: str) -> None:
    rows = {row["setting"]: row for row in markdown_table(page, "# Settings")}
    default = rows[f"`{name}`"]["default"]
    if name in REQUIRED:
        assert default == "required"
    elif "default" in SETTINGS[name]:
        assert default.strip("`") == json.dumps(SETTINGS[name]["default"])
    else:
        assert default != "required"


def test_readme_streams(readme: str) -> None:
    table = {
        row["stream"].strip("`"): " ".join(row.values())
        for row in markdown_table(readme, "## Streams")
    }
    assert table.keys() == set(STREAMS)
    for name, row in table.items():
        stream = declared_stream(name)
        assert f"`{stream.path}`" in row
        for column in stream.primary_keys:
            assert f"`{column}`" in row
        assert stream.replication_method in row
        assert stream.replication_key is None or f"`{stream.replication_key}`" in row


# --about


def test_about_as_markdown() -> None:
    table = {
        row["setting"]: row for row in markdown_table(about("markdown"), "## Settings")
    }
    for name, setting in SETTINGS.items():
        row = table[name]
        assert row["required"] == str(name in REQUIRED)
        assert row["default"] == str(setting.get("default"))
        assert row["description"] == setting["description"]


def test_about_as_json() -> None:
    shown = ABOUT["settings"]["properties"]
    assert {name: shown[name] for name in SETTINGS} == SETTINGS
    assert ABOUT["settings"]["required"] == REQUIRED
