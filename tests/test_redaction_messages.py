"""What is shown of long and odd texts, in messages and in the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from singer_sdk.logging import ConsoleFormatter, StructuredFormatter

from tap_leadintent.redaction import (
    RedactingFormatter,
    Secret,
    keep_out_of_logs,
)
from tests.support.spellings import (
    HARD_TEXTS,
    KEY,
    KEYS,
    SPELLINGS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


# Messages


@pytest.mark.parametrize("filler", ["x", " ", "\x1b", "", "the key"], ids=repr)
@pytest.mark.parametrize("before", [0, 210, 299, 2**16, 2**17 - 2_000, 2**17 - 1])
def test_a_long_key_is_not_cut_in_half(before: int, filler: str) -> None:
    key = "".join(f"{number:04d}" for number in range(1_000))
    around = (key if filler == "the key" else filler) * before
    told = Secret(key).summarize((around[:before] + key + around)[: 2**18])
    pieces = {key[start : start + 8] for start in range(len(key) - 8)}
    assert not any(piece in told for piece in pieces)
    assert len(told) <= 301


def test_a_megabyte() -> None:
    text = "".join(HARD_TEXTS.values()) * 25_000
    assert len(text) > 2**20
    assert Secret(KEY).redact(f"{text}!{KEY}").endswith("!***")


def test_a_message_of_a_huge_text_takes_no_longer() -> None:
    told = Secret(KEY).summarize("x" * 2**28)
    assert told.startswith("xxx")


def test_both_ends_of_a_long_text_are_shown() -> None:
    told = Secret("").summarize("begin " + "x" * 1000 + " end", 100)
    assert told.startswith("begin x")
    assert told.endswith("x end")
    assert len(told) == 101


UNSEEN = {
    "\x1b[31mred\x07": "\\x1b[31mred\\x07",
    "\x9b1m": "\\x9b1m",
    "a\u202eb\u2066c\u200fd": "a\\u202eb\\u2066c\\u200fd",
    "a\u2028b\u2029c\x85d\x0be": "a b c d e",
    "a\ud800b": "a\\ud800b",
    "a\U000e0041b": "a\\U000e0041b",
    "Łukasz 佐藤 🚀 é": "Łukasz 佐藤 🚀 é",
    "a\r\n\tb": "a b",
}


@pytest.mark.parametrize(("text", "shown"), UNSEEN.items(), ids=ascii)
def test_what_a_terminal_would_obey_is_escaped(text: str, shown: str) -> None:
    told = Secret(KEY).summarize(text)
    assert told == shown
    assert told.isprintable()


@given(st.text(st.characters()))
def test_every_message_is_printable(text: str) -> None:
    assert Secret(KEY).summarize(text).isprintable()


@given(
    key=KEYS,
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
    for key in ("the first", "the second"):
        keep_out_of_logs(Secret(key))
    assert isinstance(handler.formatter, RedactingFormatter)
    assert handler.formatter.inner is inner
    logger.warning("the first, the second")
    assert handler.text == "the first, ***"


def test_logs_hold_nothing_that_a_terminal_obeys(logger: logging.Logger) -> None:
    handler = Lines(logging.Formatter("\x1b[33m%(message)s\x1b[0m"))
    logger.addHandler(handler)
    keep_out_of_logs(Secret(KEY))
    logger.warning("%s\n%s", "\x1b[2J", Exception("\u202e"))
    # The formatter's own colours stay.
    assert handler.text == "\x1b[33m\\x1b[2J\n\\u202e\x1b[0m"
    handler.text = ""
    msg = "\x1b[2J"
    logger.warning("failed", exc_info=ValueError(msg))
    assert "ValueError: \\x1b[2J" in handler.text
    assert handler.text.count("\x1b") == 2
