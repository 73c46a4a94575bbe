"""The definitions for `meltano add`, generated from `meltano.yml`.

`uv run python -m tests.support.plugin_definitions` writes `plugin.yaml` and the
definitions in the package.
"""

from pathlib import Path

import yaml

from tap_leadintent.definitions import FOLDER
from tests.support.pages import ROOT

PLUGIN = ROOT / "plugin.yaml"
TAP = "tap-leadintent"

_NOTE = "# Made from meltano.yml by tests/support/plugin_definitions.py.\n"


def generated_files() -> dict[Path, str]:
    """Return the text of each generated file."""
    texts = {}
    project = yaml.safe_load((ROOT / "meltano.yml").read_text("utf-8"))
    for plugins in project["plugins"].values():
        for plugin in plugins:
            if plugin["name"] == TAP:
                plugin["pip_url"] = TAP
            # `meltano add --from-ref` ignores both.
            definition = {
                name: value
                for name, value in plugin.items()
                if name not in {"select", "dialect"}
            }
            text = yaml.safe_dump(definition, sort_keys=False, default_flow_style=None)
            texts[FOLDER / f"{plugin['name']}.yaml"] = _NOTE + text
    return {**texts, PLUGIN: texts[FOLDER / f"{TAP}.yaml"]}


if __name__ == "__main__":
    for path, text in generated_files().items():
        path.write_text(text, encoding="utf-8")
