"""The pages for users: README and what is below `docs/`."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"


def section(page: Path, heading: str) -> str:
    """Give what stands between a heading of a page and the next of its kind."""
    text = page.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n{heading}\n")
    assert found, f"no heading {heading!r} in {page}"
    marks, _, _ = heading.partition(" ")
    return re.split(rf"^#{{1,{len(marks)}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def shell_blocks(text: str) -> list[str]:
    """Give the blocks that a reader is to type."""
    return re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def tables(text: str) -> list[list[dict[str, str]]]:
    """Give the tables of a text: for each row its cells by the columns' names."""
    found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    return [_table(block.splitlines()) for block in found]


def _table(lines: list[str]) -> list[dict[str, str]]:
    names, _, *rows = (
        [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        for line in lines
    )
    return [dict(zip(names, row, strict=True)) for row in rows]
