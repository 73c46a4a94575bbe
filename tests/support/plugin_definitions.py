"""Writes what `meltano add` takes: `uv run python -m tests.support.plugin_definitions`.

`plugin.yaml` and the definitions in the package are made from `meltano.yml`.
"""

from pathlib import Path

import yaml

from tap_leadintent.definitions import FOLDER
from tests.support.pages import ROOT

PLUGIN = ROOT / "plugin.yaml"
TAP = "tap-leadintent"

_NOTE = "# Made from meltano.yml by tests/support/plugin_definitions.py.\n"


def made_files() -> dict[Path, str]:
    """Give the text of each file that is made, as it should be."""
    texts = {}
    project = yaml.safe_load((ROOT / "meltano.yml").read_text("utf-8"))
    for plugins in project["plugins"].values():
        for plugin in plugins:
            if plugin["name"] == TAP:
                plugin["pip_url"] = TAP
            # A project's own, which `meltano add --from-ref` drops.
            definition = {
                name: value
                for name, value in plugin.items()
                if name not in {"select", "dialect"}
            }
            text = yaml.safe_dump(definition, sort_keys=False, default_flow_style=None)
            texts[FOLDER / f"{plugin['name']}.yaml"] = _NOTE + text
    return {**texts, PLUGIN: texts[FOLDER / f"{TAP}.yaml"]}


if __name__ == "__main__":
    for made, text in made_files().items():
        made.write_text(text, encoding="utf-8")
