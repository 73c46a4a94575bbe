"""Definitions of plugins for `meltano add --from-ref`, and a command that prints them.

`tap-leadintent-definition target-postgres` prints the definition of target-postgres. A
definition contains everything that a project needs as default values of its settings,
because `meltano add --from-ref` ignores `config` and `select`.
"""

import argparse
import sys
from importlib.metadata import version
from pathlib import Path

FOLDER = Path(__file__).parent
"""The folder of the definitions, one YAML file for each plugin."""


def definition(plugin: str) -> str:
    """Return a plugin's definition as YAML.

    The tap's `pip_url` names the installed version, because Meltano installs a plugin
    again only if its `pip_url` has changed.

    Args:
        plugin: Its name. `tap-leadintent[faker]` names extras of the package, too.
    """
    name = plugin.partition("[")[0]
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    unpinned = "\npip_url: tap-leadintent\n"
    return text.replace(unpinned, f"\npip_url: {plugin}=={version('tap-leadintent')}\n")


def main() -> None:
    """Print the definition that the command line names."""
    names = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    parser = argparse.ArgumentParser(
        prog="tap-leadintent-definition",
        description="Print a plugin's definition for `meltano add --from-ref`.",
    )
    parser.add_argument(
        "plugin",
        help=f"{', '.join(names)}; tap-leadintent[faker] adds extras of the package",
    )
    plugin = parser.parse_args().plugin
    if plugin.partition("[")[0] not in names:
        parser.error(f"unknown plugin: {plugin}")
    sys.stdout.write(definition(plugin))
