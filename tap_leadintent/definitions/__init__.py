"""Definitions of plugins for `meltano add --from-ref`, and a command that prints them.

`tap-leadintent-definition target-postgres` prints that of target-postgres. They hold
all that a project needs as defaults, as `--from-ref` keeps neither `config` nor
`select`.
"""

import argparse
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def main() -> None:
    """Print the definition that the command line names."""
    names = sorted(path.stem for path in FOLDER.glob("*.yaml"))
    parser = argparse.ArgumentParser(
        prog="tap-leadintent-definition",
        description="Print a plugin's definition for `meltano add --from-ref`.",
    )
    parser.add_argument("name", choices=names, help="the plugin")
    name = parser.parse_args().name
    sys.stdout.write((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
