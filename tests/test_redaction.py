"""The key stays out of what is shown, however it is spelt."""

from __future__ import annotations

import re
from base64 import b64encode, encodebytes, urlsafe_b64encode
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tap_leadintent.redaction import (
    Secret,
    printable,
)
from tests.support.spellings import (
    HARD_TEXTS,
    KEY,
    KEYS,
    SPELL,
    SPELLINGS,
)

if TYPE_CHECKING:
    from collections.abc import Callable


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
def test_invisible_characters_do_not_hide_it(inside: str) -> None:
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


@pytest.mark.parametrize("key", HARD_KEYS)
@pytest.mark.parametrize("part", HARD_TEXTS.values(), ids=HARD_TEXTS)
def test_the_time_grows_with_the_length_alone(key: str, part: str) -> None:
    """What takes exponential or quadratic time does not come to an end here."""
    text = "%" + part * (2**16 // len(part))
    told = Secret(key).redact(f"{text}!{key}")
    assert key not in told
    assert told.endswith("***")
