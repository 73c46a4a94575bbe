"""The key stays out of what is shown, however it is spelt."""

from __future__ import annotations

import html
import json
import logging
import re
from base64 import b64encode, encodebytes, urlsafe_b64encode
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from singer_sdk.logging import ConsoleFormatter, StructuredFormatter

from tap_leadintent.redaction import (
    RedactingFormatter,
    Secret,
    keep_out_of_logs,
    printable,
)

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


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_spellings(spelling: str) -> None:
    assert Secret(KEY).redact(f"a {spelling} b {spelling}") == "a *** b ***"


@pytest.mark.parametrize("secret", ["", "e", "1234567", None, 7])
def test_without_a_secret_nothing_changes(secret: object) -> None:
    assert Secret(secret).redact("a 1234567 b e") == "a 1234567 b e"


def escape_some(escape: Callable[[str], str], text: str, chosen: list[bool]) -> str:
    return "".join(
        escape(character) if is_chosen else character
        for character, is_chosen in zip(text, chosen, strict=False)
    )


@pytest.mark.parametrize("digits", ["%{:02X}", "%{:02x}"])
@given(key=KEYS, which=st.lists(st.booleans(), min_size=40))
def test_any_of_its_characters_may_be_percent_encoded(
    digits: str, key: str, which: list[bool]
) -> None:
    assume(not {*key} & {*"\\&"})
    # A percent sign that stands for itself is always encoded.
    chosen = [one or c == "%" for one, c in zip(which, key, strict=False)]
    spelt = escape_some(lambda character: digits.format(ord(character)), key, chosen)
    assert Secret(key).redact(f"a {spelt} b") == "a *** b"


@given(key=KEYS, which=st.lists(st.booleans(), min_size=40))
def test_any_of_its_letters_may_be_in_another_case(key: str, which: list[bool]) -> None:
    spelt = escape_some(str.swapcase, key, which)
    assert Secret(key).redact(f"a {spelt} b") == "a *** b"


@given(
    key=KEYS,
    before=st.binary(max_size=7),
    after=st.binary(max_size=7),
    encode=st.sampled_from([b64encode, urlsafe_b64encode, encodebytes]),
)
def test_it_may_be_anywhere_in_base64(
    key: str, before: bytes, after: bytes, encode: Callable[[bytes], bytes]
) -> None:
    told = Secret(key).redact(f"a {encode(before + key.encode() + after).decode()} b")
    assert "***" in told
    # All that is left belongs to what stands around it.
    assert len(told) <= len("a  b***\n") + 4 * (len(before) + len(after)) / 3 + 4
    assert told.startswith("a ")
    assert told.endswith(" b")


@given(key=KEYS, outer=st.sampled_from([*SPELL]), inner=st.sampled_from([*SPELL]))
def test_any_key_in_any_spelling(key: str, outer: str, inner: str) -> None:
    told = Secret(key).redact(f"a {SPELL[outer](SPELL[inner](key))} b")
    assert "***" in told
    # A backslash at its edge may stay, and more of a key that itself looks escaped.
    bare = re.sub(r"\\|%(25)*5c", "", told, flags=re.IGNORECASE)
    assert bare == "a *** b" or {*key} & {*"\\%&"}


@pytest.mark.parametrize(
    "inside", ["\x1b", "\u200b", "\u202e", "\n", "\r\n ", "\x00", "\ud800", "%00"]
)
def test_what_nobody_sees_does_not_hide_it(inside: str) -> None:
    secret = Secret("sandbox-key")
    text = f"a {inside.join('sandbox-key')} b"
    assert secret.redact(text) == "a *** b"
    assert secret.redact(printable(text)) == "a *** b"
    assert secret.summarize(text) == "a *** b"


def test_base64_may_be_escaped_too() -> None:
    key = "ab?~~~~~~>>>???~"
    encoded = b64encode(f"Bearer {key}".encode()).decode()
    assert {"+", "/"} <= {*encoded}
    for spell in SPELL.values():
        assert "***" in Secret(key).redact(spell(encoded))


def test_ordinary_words_stay() -> None:
    text = "HTTP 400: %7B not a key, sandbox key, c2FuZGJveA==, \\u202e &amp; more"
    assert Secret("sandbox-key").redact(text) == text


HARD_KEYS = ["sandbox-key", "a" * 500, "\\" * 20 + "x", "%25" * 20, "&amp;" * 10, KEY]
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


@pytest.mark.parametrize("key", HARD_KEYS)
@pytest.mark.parametrize("part", HARD_TEXTS.values(), ids=HARD_TEXTS)
def test_the_time_grows_with_the_length_alone(key: str, part: str) -> None:
    """What takes exponential or quadratic time does not come to an end here."""
    text = "%" + part * (2**16 // len(part))
    told = Secret(key).redact(f"{text}!{key}")
    assert key not in told
    assert told.endswith("***")


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
