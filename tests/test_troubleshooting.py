"""`docs/troubleshooting.md` has every message of the tap."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from tests.support.messages import MESSAGES
from tests.support.pages import ROOT
from tests.support.troubleshooting_page import PAGE, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.messages import Message

PACKAGE = ROOT / "tap_leadintent"
NO_MESSAGES = {
    # Programs of their own.
    *("sandbox", "demo", "state_tool", "definitions"),
    # Descriptions of settings and columns; and what hides lines of the SDK.
    *("config/settings.py", "openapi.py", "streams.py", "singer/log.py"),
    # What is wrong with a setting or a file says itself what to do.
    "config",
    # Descriptions of columns; and what hides lines of the SDK.
    *("openapi.py", "records/inference.py", "log.py"),
}
# What stands in the brackets of a message, and what is no message.
PARTS = {
    *("no reason was given", "it holds no certificate", "JSON is nested too deeply"),
    *("1 field is", "fields are"),
    "Not shown in the API description; type inferred from data.",
}
PLACEHOLDER = re.compile(r"%[sd]|\{\w*(?::\w+)?\}|…")
ALL = [message for section in MESSAGES.values() for message in section]
TEXTS = "\n".join(message.text for message in ALL)


def texts(path: Path) -> Iterator[str]:
    """Give the texts of a module that are not its documentation."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [*ast.walk(tree)]
    skipped = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node)} - {id(node)}
    for node in nodes:
        if id(node) in skipped:
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (
                str(part.value) if isinstance(part, ast.Constant) else "…"
                for part in node.values
            )
            yield "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def pieces(text: str) -> list[str]:
    """Give what is the same in all cases of a text, if it is words."""
    found = (piece.strip() for piece in PLACEHOLDER.split(text))
    return [piece for piece in found if re.search(r"[A-Za-z]{2,}[:;]? \w", piece)]


MODULES = [
    path
    for path in sorted(PACKAGE.rglob("*.py"))
    if not {path.relative_to(PACKAGE).parts[0], str(path.relative_to(PACKAGE))}
    & NO_MESSAGES
]


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_every_message_is_on_the_page(path: Path) -> None:
    missing = {
        piece
        for text in texts(path)
        for piece in pieces(text)
        if piece not in TEXTS and piece not in PARTS
    }
    assert not missing


def test_the_page_is_made_of_the_messages() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


TESTS = {
    name
    for path in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8"))
}
SEEN = [message for message in ALL if message.seen_by]


@pytest.mark.parametrize("message", SEEN, ids=[message.text for message in SEEN])
def test_what_another_test_sees_has_that_test(message: Message) -> None:
    assert message.seen_by in TESTS


def test_parts_that_are_gone_are_no_exception() -> None:
    said = {piece for path in MODULES for t in texts(path) for piece in pieces(t)}
    assert not PARTS - said
