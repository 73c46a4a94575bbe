"""The key stays out of what is shown, however it is spelt."""

from __future__ import annotations

import html
import json
import logging
import re
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from singer_sdk.logging import ConsoleFormatter, StructuredFormatter

from tap_leadintent.redaction import RedactingFormatter, Secret, keep_out_of_logs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
HOLD_HTML = {"plain", "json", "json of PHP", "python"}
SPELLINGS = {
    f"{first} in {then}": outer(inner(KEY))
    for first, inner in SPELL.items()
    for then, outer in SPELL.items()
    if then in HOLD_HTML or not first.startswith("html")
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_spellings(spelling: str) -> None:
    assert Secret(KEY).redact(f"a {spelling} b {spelling}") == "a *** b ***"


def test_without_a_secret_nothing_changes() -> None:
    assert Secret("").redact("a b") == "a b"


@given(
    key=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=3),
    around=st.tuples(st.text(), st.text()),
)
def test_a_summary_is_one_bounded_line_without_the_key(
    key: str, around: tuple[str, str]
) -> None:
    told = Secret(key).summarize(key.join(around))
    assert key not in told.replace("***", " ")
    assert len(told) <= 301
    assert len(told.splitlines()) <= 1


@pytest.fixture
def logger() -> Iterator[logging.Logger]:
    logger = logging.getLogger("tests.secret")
    yield logger
    for handler in list(logger.handlers):
        logger.removeHandler(handler)


class Lines(logging.Handler):
    """Keeps what it would print."""

    def __init__(self, formatter: logging.Formatter | None) -> None:
        super().__init__()
        self.setFormatter(formatter)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += self.format(record)


def raise_with_cause() -> None:
    nothing: dict[str, str] = {}
    try:
        nothing[KEY]
    except KeyError as error:
        msg = f"cannot send Bearer {KEY}"
        raise ValueError(msg) from error


@pytest.mark.parametrize(
    "formatter",
    [None, logging.Formatter(), ConsoleFormatter(), StructuredFormatter()],
    ids=["none", "plain", "console", "structured"],
)
def test_logs(logger: logging.Logger, formatter: logging.Formatter | None) -> None:
    handler = Lines(formatter)
    logger.addHandler(handler)
    keep_out_of_logs(Secret(KEY))
    logger.warning("message %s", KEY)
    logger.warning(KEY)
    try:
        raise_with_cause()
    except ValueError:
        logger.exception("failed", extra={"key": KEY})
    for spelling in SPELLINGS.values():
        assert spelling.strip("'\"") not in handler.text
    assert "message ***" in handler.text
    assert "cannot send Bearer ***" in handler.text
    assert "KeyError" in handler.text


def test_a_formatter_is_wrapped_once(logger: logging.Logger) -> None:
    inner = logging.Formatter()
    handler = Lines(inner)
    logger.addHandler(handler)
    for key in ("first", "second"):
        keep_out_of_logs(Secret(key))
    assert isinstance(handler.formatter, RedactingFormatter)
    assert handler.formatter.inner is inner
    logger.warning("first second")
    assert handler.text == "first ***"
