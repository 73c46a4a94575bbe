"""The pages for users: README and what is below `docs/`."""

import json
import os
import re
import shlex
import subprocess
import sysconfig
from pathlib import Path

from tests.support.helpers import TIMEOUT, Json

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
SCRIPTS = sysconfig.get_path("scripts")
"""Where the programs of this environment are."""


def text_of(path: str) -> str:
    """Return the text of a page, or of another file of the repository."""
    return (ROOT / path).read_text(encoding="utf-8")


def environment(**variables: str) -> dict[str, str]:
    """Return the environment variables of a shell, with these beside its own."""
    path = os.environ["PATH"]
    return {
        **os.environ,
        "PATH": f"{SCRIPTS}{os.pathsep}{path}",
        "MELTANO_SEND_ANONYMOUS_USAGE_STATS": "false",
        "NO_COLOR": "1",
        **variables,
    }


def typed(
    lines: str,
    folder: Path,
    **variables: str,
) -> str:
    """Type lines of a page, each of which must succeed; give all that they print.

    Args:
        lines: The lines.
        folder: Where they are typed.
        variables: Environment variables beside those of the tests.
    """
    done = subprocess.run(  # noqa: S603 - what a page says
        ["/bin/sh", "-e", "-c", lines],
        cwd=folder,
        env=environment(**variables),
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=2 * TIMEOUT,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    return done.stdout


def section(page: Path, heading: str) -> str:
    """Return what stands between a heading of a page and the next of its kind."""
    text = page.read_text(encoding="utf-8")
    _, found, after = text.partition(f"\n{heading}\n")
    assert found, f"no heading {heading!r} in {page}"
    marks, _, _ = heading.partition(" ")
    own, *_ = re.split(
        rf"^#{{1,{len(marks)}}} ",
        after,
        maxsplit=1,
        flags=re.MULTILINE,
    )
    return own


def blocks(text: str, kind: str) -> list[str]:
    """Return the blocks of a text that are in one language."""
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def settings_of_tap(text: str) -> Json:
    """Return what a text sets of the tap, where its lines set JSON."""
    found = re.findall(r"^meltano config set tap-leadintent .*}'$", text, re.MULTILINE)
    settings: Json = {}
    for line in found:
        *_, name, value = shlex.split(line)
        settings[name] = json.loads(value)
    return settings


Table = list[dict[str, str]]
"""The cells of each row by the columns' names."""


def tables(text: str) -> list[Table]:
    """Return the tables of a text."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [_table(block.splitlines()) for block in found]


def _table(lines: list[str]) -> Table:
    names, _, *rows = map(_cells, lines)
    table: Table = []
    for row in rows:
        cells = dict(zip(names, row, strict=True))
        table.append(cells)
    return table


def _cells(line: str) -> list[str]:
    cells = line.strip().strip("|").split(" | ")
    return [cell.strip() for cell in cells]
