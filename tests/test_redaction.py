"""The key stays out of what is shown; what a server says is masked besides."""

import json
import logging
import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from html import escape
from urllib import parse

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from singer_sdk.logging import ConsoleFormatter, StructuredFormatter

from tap_leadintent.singer.log import (
    hide,
    pattern_of,
    quote,
    redact,
    redact_whole_log,
    summarize,
)
from tests.support.helpers import log_of_a_process

KEY = 'sk-"4&7\\c/+e'
KEYS = st.text(
    st.characters(
        min_codepoint=33,
        max_codepoint=126,
    ),
    min_size=8,
    max_size=60,
)
SPELL: dict[str, Callable[[str], str]] = {
    "plain": str,
    "other case": str.swapcase,
    "json": lambda key: json.dumps(key)[1:-1],
    "url": lambda key: parse.quote(key, safe=""),
    "url in a url": lambda key: parse.quote(parse.quote(key, safe=""), safe=""),
    "path": parse.quote,
    "repr": lambda key: repr(f"'\"{key}")[4:-1],
    "twice": lambda key: repr(json.dumps(key))[2:-2],
    "slashes": lambda key: json.dumps(key)[1:-1].replace("/", "\\/"),
    "lower-case url": lambda key: parse.quote(key, safe="").lower(),
    "html": escape,
    "codes": lambda key: re.sub(r"\W", lambda c: rf"\x{ord(c[0]):02X}", key),
    "Go": lambda key: re.sub(r"\W", lambda c: rf"\u{ord(c[0]):04x}", key),
}


@example(
    key="0000000%",
    spell=SPELL["url"],
)
@example(
    key="00000%25",
    spell=SPELL["plain"],
)
@example(
    key="00000%25",
    spell=SPELL["url in a url"],
)
@given(
    key=KEYS,
    spell=st.sampled_from([*SPELL.values()]),
)
def test_each_spelling_of_the_key_is_hidden(
    key: str,
    spell: Callable[[str], str],
) -> None:
    text = f"A {spell(key)} B {spell(key)}"
    assert pattern_of(key).sub("***", text) == "A *** B ***"


@pytest.mark.parametrize("secret", ["", "e", "1234567", None, 7])
def test_without_a_secret_nothing_changes(secret: object) -> None:
    hide(secret)
    assert redact("a 1234567 b e") == "a 1234567 b e"


ENCODE: dict[str, Callable[[bytes], str]] = {
    "hex": bytes.hex,
    "base64 of a header": lambda key: b64encode(b"Authorization: " + key).decode(),
    "half": lambda key: key[:-4].decode(),
}


@pytest.mark.parametrize("encode", ENCODE.values(), ids=ENCODE)
def test_long_tokens_in_a_response_are_hidden(encode: Callable[[bytes], str]) -> None:
    key = "9f1c2e7a-5b1f-4c7e-a1d2-0c7e5b1f9f1c"
    name = '"company.number_of_employees"'
    text = f'{{"error":{{{name}:"not_found","seen":"{encode(key.encode())}"}},"n":[7]}}'
    visible = f'{{"error":{{{name}:"not_found","seen":"…"}},"n":[7]}}'
    hide(key)
    assert quote(text) == visible


@given(
    around=st.tuples(
        st.text(max_size=400),
        st.text(max_size=400),
    )
)
def test_a_message_is_one_bounded_printable_line(around: tuple[str, str]) -> None:
    hide(KEY)
    for show in (summarize, quote):
        message = show(KEY.join(around))
        assert KEY not in message.replace("***", " ")
        assert message.isprintable()
        assert len(message) <= 301


@pytest.mark.parametrize("before", [0, 210, 299, 2**16])
def test_a_long_key_is_not_cut_in_half(before: int) -> None:
    key = "!".join(f"{number:04d}" for number in range(1_000))
    hide(key)
    for show in (summarize, quote):
        message = show(f"{'x' * before}{key}{'x' * before}")
        for number in range(1_000):
            assert f"{number:04d}" not in message


UNSEEN = {
    "\x1b[31mred\x07": "\\x1b[31mred\\x07",
    "\x9b1m": "\\x9b1m",
    "a\u202eb\u2066c\u200fd": "a\\u202eb\\u2066c\\u200fd",
    "a\u2028b\u2029c\x85d\x0be\r\n\tf": "a b c d e f",
    "a\ud800b": "a\\ud800b",
    "Łukasz 佐藤 🚀 é": "Łukasz 佐藤 🚀 é",
}


@pytest.mark.parametrize(
    ("text", "printed"),
    UNSEEN.items(),
    ids=ascii,
)
def test_control_characters_are_escaped(text: str, printed: str) -> None:
    assert summarize(text) == printed


class Lines(logging.Handler):
    """Keeps what it would print."""

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += f"{self.format(record)}\n"


@pytest.fixture
def handler() -> Iterator[Lines]:
    handler = Lines()
    logging.getLogger("tests.secret").addHandler(handler)
    with log_of_a_process():
        yield handler
    logging.getLogger("tests.secret").removeHandler(handler)


@pytest.mark.parametrize(
    "formatter",
    [None, ConsoleFormatter(), StructuredFormatter()],
    ids=type,
)
def test_logs(handler: Lines, formatter: logging.Formatter | None) -> None:
    handler.setFormatter(formatter)
    hide(KEY)
    redact_whole_log()
    logger = logging.getLogger("tests.secret")
    logger.warning("message %s \x1b[2J", KEY)
    error = ValueError(KEY)
    error.__cause__ = KeyError(f"Bearer {KEY}\u202e")
    logger.warning(
        "failed",
        exc_info=error,
        extra={
            "key": KEY,
            "sent": {"key": KEY},
        },
    )
    for spell in SPELL.values():
        assert spell(KEY) not in handler.text
    assert "message ***" in handler.text
    assert "KeyError" in handler.text
    assert handler.text.replace("\n", "").isprintable()
