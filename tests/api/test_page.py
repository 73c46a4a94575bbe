"""From the bytes of a response to values that every warehouse can hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.page import NO_RECORDS, Page
from tap_leadintent.api.repair import as_utf8
from tests.support.arbitrary import nested


def decode(text: str | bytes) -> tuple[Any, bool]:
    """Decode a page with one record whose one field is given as JSON."""
    content = text if isinstance(text, bytes) else text.encode()
    page = Page.of(
        b'{"data": [{"x": ' + content + b'}], "cursor": {"has_more": false}}'
    )
    decoded = page.decode()
    assert not decoded.broken
    return decoded.records[0]["x"], decoded.is_repaired


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12345678901234567890123", 12345678901234567890123),
        ("9" * 4300, int("9" * 4300)),
        ("0.1000", 0.1),
        ("-0.0", -0.0),
        (r'"\\u0000 \\ud800"', r"\u0000 \ud800"),
        ('"\u2028\uffff\ufffd"', "\u2028\uffff\ufffd"),
        ('"a\tb\n\x01"', "a\tb\n\x01"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else "",
)
def test_valid_text_is_unchanged(text: str, value: object) -> None:
    found, is_repaired = decode(text)
    assert found == value
    assert str(found)[:9000] == str(value)[:9000]
    assert not is_repaired


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"a\u0000b"', "a\ufffdb"),
        ('"\x00"', "\ufffd"),
        (r'"\ud800"', "\ufffd"),
        (r'"\uDFFF\uD83D x"', "\ufffd\ufffd x"),
        (b'"\xed\xa0\x80"', "\ufffd"),
        (r'[{"\u0000k": ["\u0000"]}]', [{"\ufffdk": ["\ufffd"]}]),
        (r'{"\ud800": {"\ud800": 1}}', {"\ufffd": {"\ufffd": 1}}),
        ("NaN", None),
        ("[Infinity, -Infinity, 0.10]", [None, None, 0.1]),
        ("1e400", "1e400"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_invalid_characters_are_replaced(text: str | bytes, value: object) -> None:
    found, is_repaired = decode(text)
    assert found == value
    assert str(found) == str(value)
    assert is_repaired


def test_a_cursor_is_passed_back_unchanged() -> None:
    cursor = b'{"has_more": true, "next": "\\u0000"}'
    assert Page.of(b'{"data": [], "cursor": %b}' % cursor).cursor.next == "\0"


def test_null_for_data_is_an_empty_page() -> None:
    assert Page.of(b'{"data": null, "cursor": {"has_more": false}}').raw == []


@pytest.mark.parametrize(
    ("content", "encoding", "text"),
    [
        (b"\xef\xbb\xbf\xc3\xa4", None, "ä"),
        (b"\xc3\xa4", "latin-1", "ä"),
        (b"\xe4", "ISO-8859-1", "ä"),
        ("\ufeffä".encode("utf-16-le"), "utf-16", "ä"),
    ],
)
def test_a_body_becomes_utf_8(
    content: bytes,
    encoding: str,
    text: str,
) -> None:
    assert as_utf8(content, encoding).decode() == text


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "utf-16", "no-such", "hex"])
def test_an_encoding_that_is_wrong_changes_nothing(encoding: str) -> None:
    assert as_utf8(b"\xe4", encoding) == b"\xe4"


NO_PAGES = {
    "nothing": "",
    "html": "<html><body>Please wait</body></html>",
    "error": {"error": {"code": "busy"}},
    "cut off": '{"data": [{"id": 1e99999999999999999999',
    "trailing": '{"data": [], "cursor": {"has_more": false}}{}',
    "no data": {"cursor": {"has_more": False}},
    "data null": {
        "data": None,
        "cursor": {"has_more": True, "next": "b"},
    },
    "no cursor": {"data": []},
    "no has_more": {
        "data": [],
        "cursor": {"next": "b"},
    },
    "has_more null": {
        "data": [],
        "cursor": {"has_more": None, "next": "b"},
    },
    "has_more text": {
        "data": [],
        "cursor": {"has_more": "perhaps"},
    },
    "has_more number": {
        "data": [],
        "cursor": {"has_more": 2},
    },
    "has_more object": {
        "data": [],
        "cursor": {"has_more": {}},
    },
    "cut off after a broken record": '{"data": [null, {"id": "a',
}


@pytest.mark.parametrize("content", NO_PAGES.values(), ids=NO_PAGES)
def test_a_body_that_is_not_a_page_is_an_error(content: Any) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises(ValueError, match=r"."):
        Page.of(text.encode())


@pytest.mark.parametrize(
    ("said", "has_more"),
    [
        (0, False),
        (1, True),
        ("true", True),
        ("false", False),
        ("True", True),
    ],
    ids=repr,
)
def test_has_more_in_other_words(said: object, has_more: bool) -> None:  # noqa: FBT001
    cursor = {
        "has_more": said,
        "next": "b" if has_more else "",
    }
    page = Page.of(
        json.dumps(
            {
                "data": [{"id": "a"}],
                "cursor": cursor,
            }
        ).encode()
    )
    assert page.has_more == has_more
    assert page.cursor.next == cursor["next"]
    assert type(page.has_more) is bool
    assert not page.lacks_has_more
    assert not page.other_fields


@pytest.mark.parametrize(
    "cursor",
    [
        {},
        {"has_more": None},
        {"next": ""},
    ],
    ids=str,
)
def test_a_page_that_says_nothing_of_another_is_the_last(cursor: object) -> None:
    page = Page.of(
        json.dumps(
            {
                "data": [{"id": "a"}],
                "cursor": cursor,
            }
        ).encode()
    )
    assert not page.has_more
    assert page.lacks_has_more
    assert page.records == 1


BROKEN = {
    "null": b"null",
    "text": b'"[{"',
    "number": b"1",
    "list": b"[{}]",
    "not utf-8": b'{"x": "\xff"}',
    "not utf-8, with a control character": b'{"x": "\xff\n"}',
    "integer": b'{"x": %s}' % (b"9" * 5_000),
    "nested": b'{"x": %s1%s}' % (b"[" * 100_000, b"]" * 100_000),
    "no json": b'{"x": 01, "y": "]},{"}',
}
"""Records that cannot be decoded."""


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize(
    "beside",
    [b"", b', "took": {"ms": 3}'],
    ids=["", "beside"],
)
def test_a_broken_record_is_left_out(text: bytes, beside: bytes) -> None:
    good = rb'{"id": "a]\"", "y": [{}, [1, 2]]}'
    data = b", ".join([good, text, b'{"id": "b\n"}'])
    content = b'{"data": [%s], "cursor": {"has_more": true, "next": "c"}%s}'
    page = Page.of(content % (data, beside))
    decoded = page.decode()
    first, second = decoded.records
    assert first["id"] == 'a]"'
    assert second["id"] == "b\n"
    assert decoded.broken == 1
    assert len(decoded.raw) == 2
    assert page.cursor.next == "c"
    again = Page.of(page.body)
    assert again.decode().records == decoded.records
    assert again.fingerprint == page.fingerprint


def test_a_page_may_hold_any_number_of_records() -> None:
    data = [{"id": str(number)} for number in range(1_500)]
    body = json.dumps(
        {
            "data": data,
            "cursor": {"has_more": False},
        }
    )
    assert Page.of(body.encode()).decode().records == data


texts = st.text(st.characters(exclude_categories=()))
numbers = st.integers() | st.floats()
json_values = nested(
    st.none() | st.booleans() | numbers | texts,
    st.text(),
    most=4,
)


def test_the_json_of_a_record_stays_as_the_api_spelled_it() -> None:
    """A record whose page came in another way must not look changed."""
    text = rb'{"x": "\u00e9\u0000", "y" : 1.50}'
    page = Page.of(b'{"data": [' + text + b'], "cursor": {"has_more": false}}')
    (raw,) = page.raw
    assert bytes(raw) == text


@given(json_values)
def test_any_decoded_text_can_be_encoded(value: Any) -> None:
    """Python's own encoder writes what is hard: NaN, infinities, lone surrogates."""
    found, _ = decode(json.dumps(value))
    json.dumps(
        found,
        ensure_ascii=False,
        allow_nan=False,
        default=float,
    ).encode()


def test_the_ends_of_a_page_are_the_same_in_each_process() -> None:
    page = Page.of(
        b'{"data": [{"id": "a"}, {"id": "b"}, {"id": "a"}], '
        b'"cursor": {"has_more": false}}'
    )
    assert page.ends == (0x85E59075, 0x85E59075)
    shorter = Page.of(
        b'{"data": [{"id": "a"}, {"id": "b"}], "cursor": {"has_more": false}}'
    )
    assert shorter.ends == (0x85E59075, 0x695D3320)
    assert Page.of(NO_RECORDS).ends == (0, 0)
