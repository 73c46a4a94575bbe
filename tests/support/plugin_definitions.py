"""Writes what Meltano is told: `uv run python -m tests.support.plugin_definitions`.

From the settings' schema come the tap's settings in `meltano.yml`; from `meltano.yml`
come `plugin.yaml` and the definitions in the package, which `meltano add` takes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from click.testing import CliRunner

from tap_leadintent.definitions import FOLDER
from tap_leadintent.tap import TapLeadIntent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "meltano.yml"
PLUGIN = ROOT / "plugin.yaml"
TAP = "tap-leadintent"

_MADE = re.compile(
    r"(?<=    settings: # made by tests/support/plugin_definitions.py\n)"
    r".*?(?=    select:\n)",
    re.DOTALL,
)
_DATES = {"start_date", "end_date"}
# Window and timeout may have fractions, but Meltano 4.4 fails on a `decimal` that is
# set in the environment; as `integer` they may have them in `config`.
_KINDS = {"number": "integer"}
# What only `config`, `select` and the dialect of a project's own plugin can say, which
# `meltano add --from-ref` drops.
_DROPPED = ("config", "select", "dialect")
_NOTE = "# Made from meltano.yml by tests/support/plugin_definitions.py.\n"


def made_files() -> dict[Path, str]:
    """Give the text of each file that is made, as it should be."""
    project = _MADE.sub(lambda _: _settings_block(), PROJECT.read_text("utf-8"))
    texts = {PROJECT: project}
    for plugins in yaml.safe_load(project)["plugins"].values():
        for plugin in plugins:
            path = FOLDER / f"{plugin['name']}.yaml"
            texts[path] = _NOTE + _dumped(_definition(plugin))
    return {**texts, PLUGIN: texts[FOLDER / f"{TAP}.yaml"]}


def about(form: str) -> str:
    """Give what `--about` prints."""
    result = CliRunner().invoke(TapLeadIntent.cli, ["--about", f"--format={form}"])
    assert result.exit_code == 0
    return result.stdout


def leaves(properties: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Give settings by their dotted names, nested ones instead of their parents."""
    found: dict[str, Any] = {}
    for name, setting in properties.items():
        inner = setting.get("properties", {})
        if inner and not isinstance(setting.get("additionalProperties"), dict):
            found |= leaves(inner, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = setting
    return found


def _settings_block() -> str:
    schema = json.loads(about("json"))["settings"]
    declared = leaves(schema["properties"]).items()
    lines = _dumped([dict(_setting(*setting)) for setting in declared]).splitlines()
    return "".join(f"    {line}\n" for line in lines)


def _setting(name: str, setting: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "name", name
    yield "kind", _kind(name, setting)
    if "default" in setting:
        yield "value", setting["default"]
    yield "label", setting["title"]
    yield "description", setting["description"]
    if setting.get("secret"):
        yield "sensitive", True
    if "enum" in setting:
        yield "options", [{"label": each, "value": each} for each in setting["enum"]]


def _kind(name: str, setting: Mapping[str, Any]) -> str:
    if name in _DATES:
        return "date_iso8601"
    if "enum" in setting:
        return "options"
    if "oneOf" in setting:
        kinds = {str(option["type"]) for option in setting["oneOf"]}
        return "array" if "array" in kinds else "string"
    (kind,) = {*setting["type"]} - {"null"}
    return _KINDS.get(kind, str(kind))


def _definition(plugin: Mapping[str, Any]) -> dict[str, Any]:
    """Give a plugin as `meltano add --from-ref` takes it: what is set are defaults."""
    settings = [
        {**setting, **_default(plugin.get("config", {}), setting["name"])}
        for setting in plugin["settings"]
    ]
    definition = {**plugin, "settings": settings}
    if plugin["name"] == TAP:
        version = TapLeadIntent.plugin_version
        definition["pip_url"] = f"{TAP}=={version}"
    return {name: value for name, value in definition.items() if name not in _DROPPED}


def _default(config: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {"value": config[name]} if name in config else {}


def _dumped(value: Any) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=80))


if __name__ == "__main__":
    for made, text in made_files().items():
        made.write_text(text, encoding="utf-8")
