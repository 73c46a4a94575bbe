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


def definition(name: str) -> str:
    """Return a plugin's definition as YAML.

    The tap's `pip_url` names the installed version, because Meltano installs a plugin
    again only if its `pip_url` has changed.
    """
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
    unpinned = "\npip_url: tap-leadintent\n"
    return text.replace(unpinned, f"{unpinned[:-1]}=={version('tap-leadintent')}\n")


def main() -> None:
    """Print the definition that the command line names."""
    names = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    parser = argparse.ArgumentParser(
        prog="tap-leadintent-definition",
        description="Print a plugin's definition for `meltano add --from-ref`.",
    )
    parser.add_argument("name", choices=names, help="the plugin")
    sys.stdout.write(definition(parser.parse_args().name))
