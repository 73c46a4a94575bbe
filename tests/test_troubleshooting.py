"""`docs/troubleshooting.md` quotes what the tap says."""

from __future__ import annotations

import ast
import re

from tests.support.pages import ROOT

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
QUOTES = re.findall(r"\*\*`([^`]+)`\*\*", PAGE)
TEXTS = [
    node.value
    for path in (ROOT / "tap_leadintent").rglob("*.py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    if isinstance(node, ast.Constant) and isinstance(node.value, str)
]


def test_the_tap_says_what_the_page_quotes() -> None:
    parts = {part for quote in QUOTES for part in quote.split("…")}
    assert len(parts) > 20
    assert not [part for part in parts if not any(part in text for text in TEXTS)]
