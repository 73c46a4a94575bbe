"""Code, `meltano.yml`, `docs/settings.md`, README and `--about` say the same."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from click.testing import CliRunner

from tap_leadintent.config.settings import SCHEMA
from tap_leadintent.tap import TapLeadIntent
from tests.support.helpers import STREAMS, declared_stream, markdown_table
from tests.support.pages import README, ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

# The SDK adds its own settings to the schema as soon as a tap is made.
OF_THE_SDK = ("batch_config", "faker_config", "flattening_", "stream_map")
SETTINGS: dict[str, dict[str, Any]] = {
    name: setting
    for name, setting in SCHEMA["properties"].items()
    if not name.startswith(OF_THE_SDK)
}
REQUIRED: list[str] = SCHEMA["required"]
# Meltano 4.4 fails on a `decimal` that is set in the environment; as `integer`, a
# number may have a fraction in `config`.
KINDS = {"number": "integer"}
DATES = {"start_date", "end_date"}


def about(form: str) -> str:
    """Give what `--about` prints."""
    result = CliRunner().invoke(TapLeadIntent.cli, ["--about", f"--format={form}"])
    assert result.exit_code == 0
    return result.stdout


ABOUT = json.loads(about("json"))


def leaves(properties: Mapping[str, Any], prefix: str = "") -> set[str]:
    """Give the dotted names of settings, nested ones instead of their parents."""
    found: set[str] = set()
    for name, setting in properties.items():
        inner = setting.get("properties", {})
        if inner and not isinstance(setting.get("additionalProperties"), dict):
            found |= leaves(inner, f"{prefix}{name}.")
        else:
            found.add(f"{prefix}{name}")
    return found


def test_only_the_key_is_secret() -> None:
    secret = [name for name, setting in SETTINGS.items() if setting.get("secret")]
    assert secret == ["api_key"]
    assert REQUIRED == ["base_url", "api_key"]


def test_meltano_knows_each_setting_by_name_and_kind() -> None:
    project = yaml.safe_load((ROOT / "meltano.yml").read_text(encoding="utf-8"))
    (extractor,) = project["plugins"]["extractors"]
    told = {setting.pop("name"): setting for setting in extractor["settings"]}
    assert len(told) == len(extractor["settings"])
    assert told.keys() == leaves(ABOUT["settings"]["properties"])
    for name, setting in SETTINGS.items():
        (kind,) = {*setting["type"]} - {"null"}
        expected = {"kind": "date_iso8601" if name in DATES else KINDS.get(kind, kind)}
        assert told[name] == expected | (
            {"sensitive": True} if name == "api_key" else {}
        )
    assert sorted(extractor["capabilities"]) == sorted(ABOUT["capabilities"])
    assert extractor["settings_group_validation"] == [REQUIRED]
    # A definition cannot say it, so it has to be what there is without it.
    assert extractor["select"] == ["*.*"]


def test_the_page_of_settings_has_each_with_its_default() -> None:
    page = "\n" + (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = {
        row["setting"].strip("`"): row["default"]
        for row in markdown_table(page, "# Settings")
    }
    assert rows.keys() == SETTINGS.keys()
    for name, default in rows.items():
        if "default" in SETTINGS[name]:
            assert default.strip("`") == json.dumps(SETTINGS[name]["default"])
        assert (default == "required") == (name in REQUIRED)


def test_readme_streams() -> None:
    table = {
        row["stream"].strip("`"): " ".join(row.values())
        for row in markdown_table(README.read_text(encoding="utf-8"), "## Streams")
    }
    assert table.keys() == set(STREAMS)
    for name, row in table.items():
        stream = declared_stream(name)
        told = [stream.path, *stream.primary_keys, stream.replication_key]
        assert all(f"`{each}`" in row for each in told if each)
        assert stream.replication_method in row


@pytest.mark.parametrize("name", SETTINGS)
def test_about(name: str) -> None:
    setting = SETTINGS[name]
    assert setting["description"]
    assert ABOUT["settings"]["properties"][name] == setting
    (row,) = (
        row
        for row in markdown_table(about("markdown"), "## Settings")
        if row["setting"] == name
    )
    assert row["required"] == str(name in REQUIRED)
    assert row["default"] == str(setting.get("default"))
    assert row["description"] == setting["description"]
