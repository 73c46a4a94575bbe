"""A key, and the ways in which a server or a terminal may spell it."""

from __future__ import annotations

import html
import json
import re
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = 'sk-"4&7\\c/+e'


def lower(text: str) -> str:
    return re.sub("%..", lambda found: found[0].lower(), text)


SPELL: dict[str, Callable[[str], str]] = {
    "plain": str,
    "json": lambda text: json.dumps(text)[1:-1],
    "json of PHP": lambda text: json.dumps(text)[1:-1].replace("/", "\\/"),
    "json of Go": lambda text: json.dumps(text)[1:-1].replace("&", "\\u0026"),
    "python": lambda text: repr(text)[1:-1],
    "html": html.escape,
    "html of PHP": lambda text: text.replace("&", "&#38;").replace('"', "&#034;"),
    "url": partial(quote, safe=""),
    "path": quote,
    "lower-case url": lambda text: lower(quote(text, safe="")),
    "lower-case path": lambda text: lower(quote(text)),
}
KEYS = st.text(
    st.characters(min_codepoint=33, max_codepoint=126), min_size=8, max_size=40
)
HOLD_HTML = {"plain", "json", "json of PHP", "python"}
SPELLINGS = {
    f"{first} in {then}": outer(inner(KEY))
    for first, inner in SPELL.items()
    for then, outer in SPELL.items()
    if then in HOLD_HTML or not first.startswith("html")
}
HARD_TEXTS = {
    "runs": "a",
    "backslashes": "\\",
    "percent": "%",
    "percent-encoded percent": "%25",
    "a long escape": "25",
    "ampersands": "&",
    "nested ampersands": "&amp;",
    "zeros": "&#0",
    "spaces": " ",
    "nearly the key": "sandbox-ke",
    "base64": "c2FuZGJveC1rZX",
    "unicode": "\\u",
    "nobody sees": "\u202e",
}
