"""From the bytes of a response to values that every warehouse can hold."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tap_leadintent.api.page import IncompletePageError, Page, as_utf8
from tap_leadintent.errors import StreamError
from tests.support.arbitrary import nested
from tests.support.helpers import Json, last_page


def decode(text: str | bytes) -> tuple[Any, bool]:
    """Decode a page with one record whose one field is given as JSON."""
    content = text if isinstance(text, bytes) else text.encode()
    page = Page.of(
        b'{"data": [{"x": ' + content + b'}], "cursor": {"has_more": false}}'
    )
    (record,), is_repaired = page.decode()
    return record["x"], is_repaired


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
    assert (found, str(found)[:9000]) == (value, str(value)[:9000])
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
    assert (found, str(found)) == (value, str(value))
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
def test_a_body_becomes_utf_8(content: bytes, encoding: str, text: str) -> None:
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
    "too many records": {"data": [{}] * 1_001, "cursor": {"has_more": False}},
    "no data": {"cursor": {"has_more": False}},
    "data null": {"data": None, "cursor": {"has_more": True, "next": "b"}},
    "record text": {"data": ["2"], "cursor": {"has_more": False}},
    "no cursor": {"data": []},
    "no has_more": {"data": [], "cursor": {"next": "b"}},
    "has_more text": {"data": [], "cursor": {"has_more": "false"}},
    "has_more number": {"data": ["\ud800"], "cursor": {"has_more": 0}},
}


@pytest.mark.parametrize("content", NO_PAGES.values(), ids=NO_PAGES)
def test_a_body_that_is_not_a_page_is_an_error(content: Any) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    with pytest.raises((ValueError, StreamError), match=r"."):
        Page.of(text.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [b'"\xff"', b'"\xff\n"', b"9" * 4301],
    ids=["not utf-8", "control", "integer"],
)
def test_a_record_that_is_no_json_is_an_error(text: bytes) -> None:
    with pytest.raises((ValueError, StreamError), match=r"malformed|cannot be read"):
        decode(text)


texts = st.text(st.characters(exclude_categories=()))
numbers = st.integers() | st.floats()
json_values = nested(st.none() | st.booleans() | numbers | texts, st.text(), most=4)


def test_the_json_of_a_record_stays_as_the_api_spelled_it() -> None:
    """A record whose page came in another way must not look changed."""
    text = rb'{"x": "\u00e9\u0000", "y" : 1.50}'
    page = Page.of(b'{"data": [' + text + b'], "cursor": {"has_more": false}}')
    assert [bytes(raw) for raw in page.raw] == [text]


@given(json_values)
def test_any_decoded_text_can_be_encoded(value: Any) -> None:
    """Python's own encoder writes what is hard: NaN, infinities, lone surrogates."""
    found, _ = decode(json.dumps(value))
    json.dumps(found, ensure_ascii=False, allow_nan=False, default=float).encode()


def page_with(beside: Json) -> Page:
    return Page.of(json.dumps(last_page({"id": "a"}, **beside)).encode())


@pytest.mark.parametrize(
    ("beside", "field"),
    [
        ({"error": {"message": "shard 3"}}, "error"),
        ({"errors": [{"code": "x"}]}, "errors"),
        ({"error": "try again"}, "error"),
        ({"errors": 2}, "errors"),
        ({"success": False}, "success"),
        ({"ok": "false"}, "ok"),
        ({"status": "failure"}, "status"),
        ({"Status": "partial_success"}, "Status"),
        ({"status": "TIMED OUT"}, "status"),
        ({"status": 503}, "status"),
        ({"meta": {"timed_out": True}}, "meta.timed_out"),
        ({"meta": {"page": 1, "incomplete_results": True}}, "meta.incomplete_results"),
        ({"result": {"error": "shard 3"}}, "result.error"),
        ({"cursor": {"has_more": False, "partial": True}}, "cursor.partial"),
    ],
    ids=str,
)
def test_a_page_that_says_it_is_not_complete(beside: Json, field: str) -> None:
    with pytest.raises(IncompletePageError, match=f"^the field {field} says so$"):
        page_with(beside)


NOTHING: list[Any] = [None, False, 0, "", [], {}, [None], "none", "OK"]


@pytest.mark.parametrize(
    "beside",
    [
        *({"error": nothing} for nothing in NOTHING),
        {"error": {"code": 0, "message": "no error"}},
        *({"errors": nothing} for nothing in NOTHING),
        *({"status": good} for good in ("ok", "success", "complete", "no errors", 200)),
        *({"success": good} for good in (True, 1, None)),
        {"meta": {"timed_out": False, "timeout": 30, "failed": 0}, "warnings": ["x"]},
        {"agent": {"id": "a", "status": "failed"}},
        {"total_is_estimate": True, "estimated_total": 120},
        {"cursor": {"has_more": False, "took": 3}},
    ],
    ids=str,
)
def test_words_that_mean_success_or_nothing_change_nothing(beside: Json) -> None:
    page = page_with(beside)
    assert len(page.raw) == 1
    assert page.total is None
    assert {*page.other_fields} == beside.keys() - {"cursor"}


@pytest.mark.parametrize(
    ("beside", "total"),
    [
        ({"total": 120}, 120),
        ({"meta": {"totalCount": 120, "page": 1}}, 120),
        ({"total": "many"}, None),
        ({"total": True}, None),
        ({"total": {"value": 120, "relation": "gte"}}, None),
    ],
    ids=str,
)
def test_the_total_of_a_query(beside: Json, total: int | None) -> None:
    assert page_with(beside).total == total
