"""The definitions for `meltano add`, generated from the settings and `meltano.yml`.

`uv run python -m tools.plugin_definitions` writes the settings of the tap into
`meltano.yml`, and then `plugin.yaml` and the definitions in the package. The settings
are those of `--about`, converted in the same way as by `hub-utils`, with which Meltano
Hub makes its definitions.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import indent
from typing import Any

import yaml

from tap_leadintent.definitions import FOLDER
from tap_leadintent.tap import TapLeadIntent
from tests.support.pages import ROOT

PLUGIN = ROOT / "plugin.yaml"
PROJECT = ROOT / "meltano.yml"
TAP = "tap-leadintent"

_NOTE = "# Made from meltano.yml by tools/plugin_definitions.py.\n"
# Meltano 4.4 fails on a `decimal` that is set in the environment, and on an `integer`
# with a fraction. The tap takes the text of a number for a number.
_KINDS = {"number": "string", "date": "date_iso8601"}
_LABELS = {"Api": "API", "Gzip": "GZIP", "Jsonl": "JSONL", "Url": "URL"}


def generated_files() -> dict[Path, str]:
    """Return the text of each generated file."""
    TapLeadIntent.append_builtin_config(schema := TapLeadIntent.config_jsonschema)
    settings = _dump([*_settings(schema["properties"])])
    texts = {PROJECT: _with_settings(PROJECT.read_text("utf-8"), settings)}
    for plugins in yaml.safe_load(texts[PROJECT])["plugins"].values():
        for plugin in plugins:
            if plugin["name"] == TAP:
                plugin["pip_url"] = TAP
            # `meltano add --from-ref` ignores both.
            definition = {
                name: value
                for name, value in plugin.items()
                if name not in {"select", "dialect"}
            }
            # The Hub requires a quality, which it decides itself.
            definition["quality"] = "unknown"
            texts[FOLDER / f"{plugin['name']}.yaml"] = _NOTE + _dump(definition)
    return {**texts, PLUGIN: texts[FOLDER / f"{TAP}.yaml"]}


def _dump(value: object) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=88)


def _with_settings(project: str, settings: str) -> str:
    """Replace the settings of the first plugin, which is the tap."""
    before, heading, after = project.partition("    settings:\n")
    _, following, rest = after.partition("    select:\n")
    return before + heading + indent(settings, "    ") + following + rest


def _settings(properties: Mapping[str, Any], within: str = "") -> Iterator[Any]:
    """Yield Meltano's definition of each setting of a JSON schema."""
    for name, setting in properties.items():
        if setting.get("properties") and name != "stream_maps":
            yield from _settings(setting["properties"], f"{within}{name}.")
            continue
        default_type = ["array" if name == "locale" else "string"]
        first_type, *_ = setting.get("type", default_type)
        kind = "date" if name in {"start_date", "end_date"} else first_type
        values = setting.get("enum", ())
        definition = {
            "name": f"{within}{name}",
            "label": setting.get("title", _label(name)),
            "kind": "options" if values else _KINDS.get(kind, kind),
            "description": setting["description"],
            "options": [{"label": _label(v), "value": v} for v in values] or None,
            "value": setting.get("default"),
            "sensitive": setting.get("secret"),
        }
        yield {key: value for key, value in definition.items() if value is not None}


def _label(name: str) -> str:
    words = name.replace("_", " ").title().split()
    return " ".join(_LABELS.get(word, word) for word in words)


if __name__ == "__main__":
    for path, text in generated_files().items():
        path.write_text(text, encoding="utf-8")
